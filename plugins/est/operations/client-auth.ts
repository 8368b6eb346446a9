// Authentication of enrolments: the shared secret or a birth certificate for the first time, the certificate held for renewals.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { decodeBase64, decodeUtf8, encodeUtf8, equalConstantTime } from '../../../core/base/bytes.ts';
import type {
  CertificateAuthority,
  EnrolmentSettings,
  HeldCertificate,
  ShownCertificate,
} from '../../../core/plugin/services/certificate-authority.ts';
import { clientCertificateOf } from '../../../core/tls/client-certificate.ts';
import { failEst } from '../errors.ts';
import type { EstContext } from '../context.ts';

/** The parts of a request that authenticate its sender. */
export type Credentials = { readonly headers: IncomingHttpHeaders; readonly socket: TLSSocket; readonly clientIp: string };

/** A CA with its settings for EST. */
type EstCa = { readonly ca: CertificateAuthority; readonly settings: EnrolmentSettings };

/** Credential with which the sender of a first enrolment was accepted. */
export type FirstCredential = 'est-secret' | 'est-birth-certificate';

/**
 * Accepts the sender of a first enrolment. Throws `enrolment-not-configured` before anything is looked at, `rate-limited`, or
 * `enrolment-refused`. An Authorization header decides alone; without one the client certificate decides.
 */
export async function authenticateFirst(context: EstContext, { ca, settings, ...from }: EstCa & Credentials): Promise<FirstCredential> {
  const { limit } = context;
  const { sharedSecret, takesTrustedCertificates } = settings;
  if (sharedSecret === undefined && !takesTrustedCertificates) {
    throw failEst('enrolment-not-configured', {
      detail: 'First enrolment is not configured: the CA has neither a shared secret nor a trust CA.',
    });
  }
  const { authorization } = from.headers;
  if (authorization !== undefined) {
    const given = readBasic(authorization);
    if (sharedSecret !== undefined) {
      limit.requireComparable(sharedSecret, ca.id, from.clientIp);
      if (isSecret(given, sharedSecret)) return 'est-secret';
    }
    await limit.count(ca.id, from.clientIp);
    if (sharedSecret === undefined) throw refused('this CA takes a birth certificate and no password');
    throw refused('problem' in given ? given.problem : 'the shared secret is wrong');
  }
  if (!takesTrustedCertificates) throw refused('send the shared secret as HTTP Basic password');
  const sent = sentCertificates(context, from.socket);
  if (sent === undefined) {
    const secretToo = sharedSecret === undefined ? '' : ', nor the shared secret as HTTP Basic password';
    throw refused(`${missingCertificate(from.socket)}${secretToo}`);
  }
  if (!ca.trusts(sent)) {
    throw refused(
      'the client certificate does not chain to the trust CA of this CA, or is expired, revoked or not for client authentication',
    );
  }
  return 'est-birth-certificate';
}

/**
 * Accepts the sender of a renewal: it holds a certificate that this CA issued and has on record, now valid and not revoked. Looked
 * up at each request, also on a connection that is long open. Throws `enrolment-not-configured` or `enrolment-refused`.
 */
export function authenticateRenewal(context: EstContext, { ca, settings, socket }: EstCa & Credentials): HeldCertificate {
  if (!settings.renewsHeldCertificates) {
    throw failEst('enrolment-not-configured', { detail: 'Re-enrolment with an issued certificate is not allowed on this CA.' });
  }
  const sent = sentCertificates(context, socket);
  if (sent === undefined) throw refused(missingCertificate(socket));
  const held = ca.findIssued(sent.leaf);
  if (held === undefined) throw refused('the client certificate was not issued by this CA');
  if (held.problem !== undefined) throw refused(`the client certificate is ${problems[held.problem]}`);
  return held;
}

const problems: Readonly<Record<NonNullable<HeldCertificate['problem']>, string>> = {
  revoked: 'revoked',
  'not-valid-now': 'expired or not yet valid',
  'not-for-clients': 'not for client authentication',
  'not-confirmed': 'not confirmed by its holder: confirm it by CMP first',
};

/** The credentials of a refused sender, for the audit record. The certificate is not verified, so its texts are cut. */
export function describeCredentials(context: EstContext, { headers, socket }: Credentials): Readonly<Record<string, unknown>> {
  const sent = sentCertificates(context, socket);
  const credential = headers.authorization !== undefined ? 'est-secret' : sent === undefined ? 'none' : 'certificate';
  const shown = sent === undefined ? undefined : context.authorities.describe(sent.leaf);
  if (shown === undefined) return { credential };
  return { credential, 'client-certificate': { subject: shown.subject.slice(0, 256), serial: shown.serial.slice(0, 64) } };
}

/** The user name is ignored; the password is everything after the first colon (RFC 7617 2). `problem`: the header has none, and why. */
type Basic = { readonly password: string } | { readonly problem: string };

function readBasic(authorization: string): Basic {
  const [scheme = ''] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'basic')
    return { problem: 'the header Authorization is not of the scheme Basic, which the shared secret takes' };
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization) ?? [];
  // Some clients leave the padding out.
  const padded = encoded?.padEnd(Math.ceil(encoded.length / 4) * 4, '=');
  const pair = padded === undefined ? undefined : decodeUtf8(decodeBase64(padded) ?? new Uint8Array(0));
  if (pair === undefined || pair === '')
    return { problem: 'what follows Basic in the header Authorization is not base64 of USER:SECRET in UTF-8' };
  const colon = pair.indexOf(':');
  if (colon === -1)
    return { problem: 'what follows Basic in the header Authorization has no colon: send base64 of USER:SECRET, the user may be empty' };
  return { password: pair.slice(colon + 1) };
}

/** Compares the secret in constant time. */
function isSecret(given: Basic, secret: string): boolean {
  const password = 'password' in given ? given.password : '';
  return equalConstantTime(sha256(password), sha256(secret)) && password !== '';
}

/** The certificates that the client sent in the handshake; undefined if it sent none. */
function sentCertificates({ authorities }: EstContext, socket: TLSSocket): ShownCertificate | undefined {
  const shown = clientCertificateOf(socket);
  return shown && { leaf: shown.leaf, intermediates: shown.intermediates.slice(0, authorities.maxIntermediates) };
}

/** An ML-DSA certificate needs TLS 1.3; a client with an older version silently sends none, so the message mentions it. */
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
