// Judges the certificates of a TLS client before OpenSSL reads them: it decodes each key and verifies each signature, even of an untrusted chain.
import { DerError, objectIdentifier, readBitString, readOnly, tag } from '../der/der.ts';

/** Limit of certificates: one, six above it, the longest path, and their root. */
const mostCertificates = 8;
/** Limit in octets: certificates of the largest accepted keys (ML-DSA-87) need 7.5 KiB each. */
export const mostOctets = 64 * 1024;

// Accepted keys. DSA, and curves over binary fields, cost a multiple of these.
const ecPublicKey = objectIdentifier('1.2.840.10045.2.1');
const rsaKeys = identifiersOf('1.2.840.113549.1.1.1', '1.2.840.113549.1.1.10');
/** Ed25519, Ed448 and ML-DSA */
const fixedKeys = identifiersOf(
  ...['1.3.101.112', '1.3.101.113'],
  ...['2.16.840.1.101.3.4.3.17', '2.16.840.1.101.3.4.3.18', '2.16.840.1.101.3.4.3.19'],
);
/** P-224 to P-521, secp256k1, brainpool. For malicious explicit parameters, OpenSSL needs a third of a second to read a point. */
const namedCurves = identifiersOf(
  ...['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35', '1.3.132.0.10'],
  ...['1.3.36.3.3.2.8.1.1.7', '1.3.36.3.3.2.8.1.1.11', '1.3.36.3.3.2.8.1.1.13'],
);
/** octets, with the one that keeps a number positive */
const mostOfRsa = { modulus: 8_192 / 8 + 1, exponent: 256 / 8 + 1 } as const;

/**
 * Returns the problem of the body of a Certificate message (RFC 8446 4.4.2, RFC 5246 7.4.2), in words that follow "The client certificate was
 * refused:"; undefined unless it would be expensive.
 */
export function findCertificateProblem(body: Uint8Array, version: '1.2' | '1.3'): string | undefined {
  try {
    const certificates = certificatesIn(Buffer.from(body.buffer, body.byteOffset, body.length), version);
    if (certificates.length > mostCertificates)
      return `it comes with more than ${mostCertificates - 1} others: send those alone that lead to its CA`;
    for (const certificate of certificates) {
      const problem = findKeyProblem(certificate);
      if (problem !== undefined) return problem;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof DerError || error instanceof RangeError)) throw error;
    return 'it is not DER';
  }
}

/** Reads the certificates, at most one above the limit. */
function certificatesIn(body: Buffer, version: '1.2' | '1.3'): readonly Uint8Array[] {
  const certificates: Uint8Array[] = [];
  // TLS 1.3 has the context of the request before the list, and extensions after each certificate.
  let at = version === '1.3' ? 1 + body.readUInt8(0) : 0;
  for (at += 3; at < body.length && certificates.length <= mostCertificates;) {
    const end = at + 3 + body.readUIntBE(at, 3);
    if (end > body.length) throw new RangeError();
    certificates.push(body.subarray(at + 3, end));
    at = version === '1.3' ? end + 2 + body.readUInt16BE(end) : end;
  }
  return certificates;
}

/** Returns the problem of the key of a certificate (DER), in words that follow "The certificate was refused:". Throws DerError. */
export function findKeyProblem(certificate: Uint8Array): string | undefined {
  const fields = readOnly(certificate, tag.sequence).enter(tag.sequence);
  fields.optional(tag.constructed(0));
  // Serial number, signature algorithm, issuer, validity, subject.
  for (let skipped = 0; skipped < 5; skipped++) fields.next();
  const key = fields.enter(tag.sequence);
  const algorithm = key.enter(tag.sequence);
  const { whole } = algorithm.next(tag.oid);
  if (fixedKeys.has(hex(whole))) return undefined;
  if (rsaKeys.has(hex(whole)))
    return isTakenRsa(readBitString(key.next(tag.bitString).content)) ? undefined : 'an RSA key has more than 8192 bits';
  if (Buffer.compare(whole, ecPublicKey) !== 0) return 'the type of a key is not known: take RSA, EC, Ed25519, Ed448 or ML-DSA';
  const curve = algorithm.optional(tag.oid);
  const isNamed = curve !== undefined && namedCurves.has(hex(curve.whole));
  return isNamed ? undefined : 'a key is on a curve that is not known by a name: take P-256, P-384 or P-521';
}

function isTakenRsa(key: Uint8Array): boolean {
  const numbers = readOnly(key, tag.sequence);
  const [modulus, exponent] = [numbers.next(tag.integer).content.length, numbers.next(tag.integer).content.length];
  return modulus <= mostOfRsa.modulus && exponent <= mostOfRsa.exponent;
}

function identifiersOf(...dotted: readonly string[]): ReadonlySet<string> {
  return new Set(dotted.map((one) => hex(objectIdentifier(one))));
}

function hex(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('hex');
}
