// CertPoll, GetCert and GetCRL: anybody may sign them, around a content that another has encrypted. So CertPoll and GetCRL are answered without
// decryption, and GetCert only to holders of a certificate of this CA, with one refusal for every content: what differs decrypts recorded messages.
import type { ScepCall, ScepContext } from '../context.ts';
import { readCertificate } from '../message/certificate.ts';
import { type IssuerAndSerial, readIssuerAndSerial } from '../message/content.ts';
import { ScepMalformed } from '../message/malformed.ts';
import { grantedOf } from './enrol.ts';
import type { Asked, Granted } from './opened.ts';

/** News of a request that waits for a person: transaction and key are those of the request. */
export async function poll(_context: ScepContext, call: ScepCall, { request }: Asked): Promise<Granted> {
  const asked = { protocol: 'scep', transaction: request.transactionId };
  const outcome = call.ca.findEnrolment(asked, request.signer.publicKey);
  // Nor is that of another key: who has asked for what is not told.
  if (outcome === undefined || (outcome.status === 'refused' && outcome.why === 'transaction'))
    throw new ScepMalformed('badCertId', 'no request of this key is known under this transaction: send PKCSReq');
  return grantedOf(call, outcome);
}

/** A certificate of the key that asks. */
export async function findCertificate(_context: ScepContext, call: ScepCall, { request, open }: Asked): Promise<Granted> {
  const { signer } = request;
  const held = call.ca.findIssued(signer.der);
  if (held === undefined || held.problem !== undefined)
    throw new ScepMalformed(
      'badCertId',
      'the message is not signed with a valid certificate of this CA: sign with the one that it has issued',
    );
  const asked = readOrNothing(await open(true));
  const found = call.ca.findBySerial(asked.serial);
  const own = readCertificate(found?.certificate ?? signer.der);
  if (found !== undefined && isSame(own.issuer, asked.issuer) && isSame(own.publicKey, signer.publicKey)) {
    call.accept({ credential: 'certificate', serial: asked.serial });
    return { certificates: [found.certificate] };
  }
  throw new ScepMalformed(
    'badCertId',
    'the content cannot be decrypted, or names no certificate that this CA has issued to the key that asks: name its issuer and serial number',
  );
}

/** Octets of the longest serial number (RFC 5280 section 4.1.2.2). */
const longestSerial = 20;

/** Issuer and serial number, or a pair that no certificate has, so that another content takes the same way. */
function readOrNothing(content: Uint8Array): IssuerAndSerial {
  const nothing: IssuerAndSerial = { issuer: new Uint8Array(0), serial: '00'.repeat(longestSerial) };
  try {
    const asked = readIssuerAndSerial(content);
    return asked.serial.length > 2 * longestSerial + 2 ? nothing : asked;
  } catch {
    return nothing;
  }
}

/** The revocation list of the CA, which is public. */
export async function findList(_context: ScepContext, call: ScepCall): Promise<Granted> {
  call.ca.countRepeated(call.clientIp);
  return { crl: await call.ca.revocationList() };
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;
