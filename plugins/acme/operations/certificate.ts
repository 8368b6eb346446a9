// Certificates of orders: downloaded with their chain (RFC 8555 section 7.4.2), and revoked (section 7.6).
import { X509Certificate } from 'node:crypto';
import { thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { HeldCertificate, RevocationReason } from '../../../core/plugin/services/certificate-authority.ts';
import type { JsonValue } from '../../../core/wire/json.ts';
import { type AccountCall, type Acme, type AcmeAnswer, notFound, placeOf, type SignedCall } from '../context.ts';
import { failAcme } from '../errors.ts';
import { malformed } from '../message/malformed.ts';
import { decode, readPayload } from '../message/jws.ts';

export function downloadCertificate(acme: Acme, call: AccountCall): AcmeAnswer {
  const [serial = ''] = call.params;
  const known = acme.tables.certificates.get(placeOf(call, serial));
  const held = known?.account === call.account.id ? call.ca.findBySerial(serial) : undefined;
  if (held === undefined) throw notFound();
  call.note({ serial });
  return { status: 200, headers: { 'content-type': 'application/pem-certificate-chain' }, body: chainOf(held) };
}

/** The certificate, and its issuers without the root; the root itself where it is the issuer, because clients want one at least. */
function chainOf({ certificate, issuers }: HeldCertificate): string {
  const above = issuers.length > 1 ? issuers.filter((der) => !isRoot(der)) : issuers;
  return [certificate, ...above].map((der) => formatPem('CERTIFICATE', der)).join('');
}

function isRoot(der: Uint8Array): boolean {
  const { subject, issuer } = new X509Certificate(der);
  return subject === issuer;
}

/** Reasons that servers give (RFC 5280 section 5.3.1). */
const reasons: ReadonlyMap<JsonValue, RevocationReason> = new Map<JsonValue, RevocationReason>([
  [0, 'unspecified'],
  [1, 'key-compromise'],
  [3, 'affiliation-changed'],
  [4, 'superseded'],
  [5, 'cessation-of-operation'],
  [9, 'privilege-withdrawn'],
]);

/** By the account that got it, by an account that has proved all its names, or by its own key. */
export async function revokeCertificate(acme: Acme, call: SignedCall): Promise<AcmeAnswer> {
  const { certificate, reason: number = 0 } = readPayload(call.jws);
  if (typeof certificate !== 'string') throw malformed('"certificate" is a certificate in base64url of its DER.');
  const held = call.ca.findIssued(decode(certificate, 'certificate'));
  const known = held === undefined ? undefined : acme.tables.certificates.get(placeOf(call, held.serial));
  if (held === undefined || known === undefined) throw malformed('"certificate" is not one that an order of this CA has got.');
  if (!mayRevoke(acme, call, held, known.account))
    throw failAcme(
      'acme-unauthorized',
      'The certificate is revoked by its account, by one that has proved all its names, or by its own key.',
    );
  const reason = reasons.get(number);
  if (reason === undefined) throw failAcme('acme-bad-revocation-reason');
  call.note({ serial: held.serial, reason });
  if (held.problem === 'revoked' || !(await call.ca.revoke(held.serial, reason))) throw failAcme('acme-already-revoked');
  return { status: 200 };
}

function mayRevoke({ tables, clock }: Acme, call: SignedCall, { certificate }: HeldCertificate, owner: string): boolean {
  const { account, signer } = call;
  const read = new X509Certificate(certificate);
  if (account === undefined) return thumbprintOf(read.publicKey) === signer.thumbprint;
  if (account.id === owner) return true;
  const now = formatTimestamp(clock.now());
  const bound = account.record.eabKey === undefined ? undefined : call.ca.findAccountKey(account.record.eabKey)?.names;
  const names = namesOf(read);
  return (
    names.length > 0 &&
    names.every((name) => (tables.proofs.get(placeOf(call, account.id, name)) ?? '') > now || bound?.includes(name) === true)
  );
}

/** Names of a certificate of an order, which has host names and addresses alone. */
function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((name) => {
    if (name.startsWith('DNS:')) return [name.toLowerCase().replace('dns:', 'DNS:')];
    if (!name.startsWith('IP Address:')) return [name];
    const address = name.slice('IP Address:'.length);
    return [`IP:${address.includes(':') ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address}`];
  });
}
