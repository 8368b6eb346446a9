// CertPoll, GetCert and GetCRL: anybody may sign them, so they tell a device of its own requests and certificates, and what is public.
import type { ScepCall, ScepContext } from '../context.ts';
import { readCertificate } from '../message/certificate.ts';
import { readIssuerAndSerial, readIssuerAndSubject } from '../message/content.ts';
import { ScepMalformed } from '../message/malformed.ts';
import { grantedOf } from './enrol.ts';
import type { Granted, Opened } from './opened.ts';

/** News of a request that waits for a person. The key that asks is that of the request. */
export function poll(_context: ScepContext, call: ScepCall, { request, content }: Opened): Granted {
  readIssuerAndSubject(content);
  const asked = { protocol: 'scep', transaction: request.transactionId };
  const outcome = call.ca.findEnrolment(asked, request.signer.publicKey);
  if (outcome === undefined) throw new ScepMalformed('badCertId', 'no request is known under this transaction: send PKCSReq');
  return grantedOf(call, outcome);
}

/** A certificate of the key that asks. */
export function findCertificate(_context: ScepContext, call: ScepCall, { request, content }: Opened): Granted {
  const { issuer, serial } = readIssuerAndSerial(content);
  call.note({ serial });
  const found = call.ca.findBySerial(serial);
  const own = found === undefined ? undefined : readCertificate(found.certificate);
  // One answer for a certificate of another device and for one that does not exist.
  if (found === undefined || own === undefined || !isSame(own.issuer, issuer) || !isSame(own.publicKey, request.signer.publicKey))
    throw new ScepMalformed('badCertId', 'the CA has not issued a certificate with this serial number to the key that asks');
  return { certificates: [found.certificate] };
}

/** The revocation list of the CA. */
export async function findList(_context: ScepContext, call: ScepCall, { content }: Opened): Promise<Granted> {
  const { issuer } = readIssuerAndSerial(content);
  if (!call.ca.trustedCertificates().some((certificate) => isSame(readCertificate(certificate).subject, issuer)))
    throw new ScepMalformed('badCertId', 'the revocation list of another CA is asked for: name the issuer of GetCACert');
  return { crl: await call.ca.revocationList() };
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;
