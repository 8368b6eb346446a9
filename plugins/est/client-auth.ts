// Who may enrol: the shared secret or a birth certificate for the first time, the certificate held for renewals (spec, EST endpoints).
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { decodeBase64, decodeUtf8, encodeUtf8, equalConstantTime } from '../../core/base/bytes.ts';
import { cleanly } from '../../core/base/openssl.ts';
import { type Certificate, readCertificate } from '../ca/der/certificate.ts';
import { findPath, isClientCertificate, isLive, maxIntermediates } from '../ca/issuing/chain.ts';
import type { CaHouse } from '../ca/context.ts';
import { caCertificates, findCa, type FoundCa } from '../ca/authority/lookup.ts';
import { formatName, readName } from '../ca/der/name.ts';
import type { IssuedCertificate } from '../ca/records/records.ts';
import { findIssued, isRevokedOnPath } from '../ca/status/revocation.ts';
import { failEst } from './errors.ts';
import type { FailureLimit } from './failure-limit.ts';

/** What of a request speaks for its sender. */
export type Credentials = { readonly headers: IncomingHttpHeaders; readonly socket: TLSSocket; readonly clientIp: string };

/** How the sender of a first enrolment was accepted. */
export type FirstCredential = 'est-secret' | 'est-birth-certificate';

/**
 * Accepts the sender of a first enrolment. Throws `enrolment-not-configured` before anything is looked at, `rate-limited`, or
 * `enrolment-refused`. An Authorization header decides alone; without one the client certificate decides (api 65).
 */
export async function authenticateFirst(house: CaHouse, limit: FailureLimit, ca: FoundCa, from: Credentials): Promise<FirstCredential> {
  const { initialEnrollSecret, initialEnrollTrustCa } = ca.record.est;
  if (initialEnrollSecret === undefined && initialEnrollTrustCa === undefined) {
    throw failEst('enrolment-not-configured', {
      detail: 'First enrolment is not configured: the CA has neither a shared secret nor a trust CA.',
    });
  }
  const { authorization } = from.headers;
  if (authorization !== undefined) {
    if (initialEnrollSecret !== undefined) {
      limit.requireLookAt(initialEnrollSecret, ca.record.id, from.clientIp);
      if (isSecret(authorization, initialEnrollSecret)) return 'est-secret';
    }
    await limit.count(ca.record.id, from.clientIp);
    throw refused(initialEnrollSecret === undefined ? 'this CA takes a birth certificate and no password' : 'the shared secret is wrong');
  }
  if (initialEnrollTrustCa === undefined) throw refused('send the shared secret as HTTP Basic password');
  const sent = sentCertificates(from.socket);
  if (sent === undefined) {
    const secretToo = initialEnrollSecret === undefined ? '' : ', nor the shared secret as HTTP Basic password';
    throw refused(`${missingCertificate(from.socket)}${secretToo}`);
  }
  if (!isBirthCertificate(house, ca.tenantId, initialEnrollTrustCa, sent)) {
    throw refused(
      'the client certificate does not chain to the trust CA of this CA, or is expired, revoked or not for client authentication',
    );
  }
  return 'est-birth-certificate';
}

/** The certificate a renewal was accepted on. */
export type HeldCertificate = { readonly certificate: Certificate; readonly record: IssuedCertificate };

/**
 * Accepts the sender of a renewal: it holds a certificate that this CA issued and has on record, now valid and not revoked. Looked
 * up at each request, also on a connection that is long open (R46). Throws `enrolment-not-configured` or `enrolment-refused`.
 */
export function authenticateRenewal(house: CaHouse, ca: FoundCa, { socket }: Credentials): HeldCertificate {
  if (!ca.record.est.allowReenrollWithIssuedCert) {
    throw failEst('enrolment-not-configured', { detail: 'Re-enrolment with an issued certificate is not allowed on this CA.' });
  }
  const sent = sentCertificates(socket);
  if (sent === undefined) throw refused(missingCertificate(socket));
  const certificate = readIfPossible(sent.leaf, readCertificate);
  const record = certificate === undefined ? undefined : findIssued(house, ca, certificate);
  if (certificate === undefined || record === undefined) throw refused('the client certificate was not issued by this CA');
  if (record.revoked !== undefined) throw refused('the client certificate is revoked');
  if (!isLive(certificate, house.clock.now())) throw refused('the client certificate is expired or not yet valid');
  if (record.via === 'issuing-ca' || !isClientCertificate(certificate))
    throw refused('the client certificate is not for client authentication');
  return { certificate, record };
}

/** What somebody who was refused had shown, for the record (R66): a stranger wrote the certificate, so its texts are cut. */
export function describeShown({ headers, socket }: Credentials): Readonly<Record<string, unknown>> {
  const sent = sentCertificates(socket);
  const credential = headers.authorization !== undefined ? 'est-secret' : sent === undefined ? 'none' : 'certificate';
  const shown = sent === undefined ? undefined : readIfPossible(sent.leaf, describeCertificate);
  return shown === undefined ? { credential } : { credential, 'client-certificate': shown };
}

function describeCertificate(der: Uint8Array): { readonly subject: string; readonly serial: string } {
  const { subject, serial } = readCertificate(der);
  return { subject: formatName(readName(subject)).slice(0, 256), serial: serial.slice(0, 64) };
}

/** The user name is not looked at; the password is everything after the first colon (RFC 7617 2). Compared in constant time. */
function isSecret(authorization: string, secret: string): boolean {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization) ?? [];
  const pair = decodeUtf8(decodeBase64(encoded) ?? new Uint8Array(0)) ?? '';
  const colon = pair.indexOf(':');
  const given = colon === -1 ? '' : pair.slice(colon + 1);
  return equalConstantTime(sha256(given), sha256(secret)) && given !== '';
}

type Sent = { readonly leaf: Uint8Array; readonly intermediates: readonly Uint8Array[] };

/**
 * What the client sent in the handshake; undefined when it sent none. Only getPeerX509Certificate: the older call crashes the
 * process on certificates with curves that have no NIST name.
 */
function sentCertificates(socket: TLSSocket): Sent | undefined {
  const leaf = cleanly(() => socket.getPeerX509Certificate());
  if (leaf === undefined) return undefined;
  const intermediates: Uint8Array[] = [];
  for (
    let above = leaf.issuerCertificate;
    above !== undefined && intermediates.length < maxIntermediates;
    above = above.issuerCertificate
  ) {
    intermediates.push(above.raw);
  }
  return { leaf: leaf.raw, intermediates };
}

/** R35 to R38. A trust CA that does not exist any more accepts nothing. */
function isBirthCertificate(house: CaHouse, tenantId: string, trustCaName: string, sent: Sent): boolean {
  const trusted = findCa(house, tenantId, trustCaName);
  if (trusted === undefined) return false;
  const path = findPath(sent.leaf, sent.intermediates, caCertificates(trusted.record), house.clock.now());
  return path !== undefined && !isRevokedOnPath(house, tenantId, path);
}

/** TLS lets pass what is no DER. */
function readIfPossible<T>(der: Uint8Array, read: (der: Uint8Array) => T): T | undefined {
  try {
    return read(der);
  } catch {
    return undefined;
  }
}

/** An ML-DSA certificate needs TLS 1.3; a client that speaks less silently sends none, and should be told. */
function missingCertificate(socket: TLSSocket): string {
  const hint = socket.getProtocol() === 'TLSv1.3' ? '' : ' (ML-DSA certificates need TLS 1.3)';
  return `no client certificate was sent${hint}`;
}

function refused(problem: string) {
  return failEst('enrolment-refused', { detail: `The credential was not accepted: ${problem}.` });
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(encodeUtf8(text)).digest();
}
