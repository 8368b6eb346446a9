// Public keys from messages and the certificates of signers, judged before OpenSSL reads them: it may need long for keys that are made for it.
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem } from '../../../core/base/public-keys/public-key.ts';
import { DerError, nullValue, objectIdentifier, readBitString, Reader, readOnly, sequence, tag } from '../../../core/der/der.ts';
import type { Digest, SignatureScheme } from './algorithms.ts';
import type { MessageCertificate } from './certificate.ts';
import { ScepMalformed } from './malformed.ts';

export type MessageKey = { readonly type: 'rsa' | 'ec'; readonly keyObject: KeyObject };

const rsaId = objectIdentifier('1.2.840.113549.1.1.1');
const ecId = objectIdentifier('1.2.840.10045.2.1');

/** Kinds of keys by their whole AlgorithmIdentifier: curves that are written out, other curves and keys for RSASSA-PSS alone are not here. */
const kinds: readonly { readonly type: MessageKey['type']; readonly identifier: Uint8Array }[] = [
  { type: 'rsa', identifier: sequence(rsaId, nullValue) },
  ...['1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35'].map((curve) => ({
    type: 'ec' as const,
    identifier: sequence(ecId, objectIdentifier(curve)),
  })),
];

/** Most octets of the numbers of an RSA key, with the one that keeps them positive: 8192 bits, and 256 of the exponent. */
const mostOfRsa = { modulus: 8_192 / 8 + 1, exponent: 256 / 8 + 1 } as const;
/** Octets of the largest point, on P-521. */
const mostOfPoint = 133;

/**
 * Reads a SubjectPublicKeyInfo: RSA of 2048 to 8192 bits with an odd exponent of at least 65537, because answers are encrypted with it, or
 * ECDSA on P-256, P-384 or P-521. Throws ScepMalformed `badAlg` for another key, DerError for octets that are not a key.
 */
export function readKey(publicKey: Uint8Array): MessageKey {
  const fields = readOnly(publicKey, tag.sequence);
  const identifier = fields.next(tag.sequence).whole;
  const key = readBitString(fields.next(tag.bitString).content);
  fields.end();
  const kind = kinds.find((one) => Buffer.compare(one.identifier, identifier) === 0);
  if (kind === undefined) throw refusal('has a type, a curve or parameters that are not taken: use RSA');
  if (kind.type === 'rsa') requireSize(key);
  else if (key.length > mostOfPoint) throw new DerError('point of more than 133 octets');
  const keyObject = makeKeyObject(publicKey);
  const problem = findPublicKeyProblem(keyObject, 'encrypt');
  if (problem !== undefined) throw refusal(problem);
  return { type: kind.type, keyObject };
}

function requireSize(key: Uint8Array): void {
  const numbers = new Reader(readOnly(key, tag.sequence).remaining);
  const [modulus, exponent] = [numbers.next(tag.integer).content.length, numbers.next(tag.integer).content.length];
  numbers.end();
  if (modulus > mostOfRsa.modulus) throw refusal('has an RSA modulus of more than 8192 bits');
  if (exponent > mostOfRsa.exponent) throw refusal('has an RSA exponent of more than 256 bits');
}

function makeKeyObject(publicKey: Uint8Array): KeyObject {
  try {
    return cleanly(() => createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
  } catch {
    throw new DerError('octets that are not a public key');
  }
}

const refusal = (problem: string): ScepMalformed => new ScepMalformed('badAlg', `the key of the signer ${problem}`);

/** Tells whether a signature holds; false as well when the scheme does not fit the key. */
export function isSignedBy(
  { type, keyObject }: MessageKey,
  how: { readonly scheme: SignatureScheme; readonly digest: Digest },
  octets: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { scheme, digest } = how;
  if ((scheme.scheme === 'ecdsa') !== (type === 'ec')) return false;
  const padding = scheme.scheme === 'rsa-pss' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: scheme.saltLength } : {};
  try {
    return cleanly(() => verify(digest, octets, { key: keyObject, ...padding }, signature));
  } catch {
    return false;
  }
}

/** The certificate whose key has signed, if verifySignature says so. Whether it is trusted is for others to judge. */
export type Signer = MessageCertificate & { readonly key: MessageKey };

/** Reads the key of a certificate. Throws DerError, and ScepMalformed `badAlg` as readKey. */
export function withKey(certificate: MessageCertificate): Signer {
  return { ...certificate, key: readKey(certificate.publicKey) };
}
