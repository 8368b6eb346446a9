// Signatures: which options fit a cipher, what is sent to the token, and how the result is written (api 32).
import { hash } from 'node:crypto';
import { z } from 'zod';
import { encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { hashInTurns, isHashedAtOnce } from '../../../core/base/hash.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import type { HashName, SignScheme } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import { type PssRule, pssRuleOf } from './rsa-pss.ts';

/** Octets of a hash. */
const hashBytes: Readonly<Record<HashName, number>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Field `hash-algorithm`. */
export const hashAlgorithmField = z
  .enum(['sha256', 'sha384', 'sha512'])
  .meta({ typeName: 'HashAlgorithm' })
  .optional()
  .meta({ description: 'Hash of the text, for RSA and ECDSA.', 'x-default': 'sha256' });

/** Padding of RSA signatures. */
export const signatureAlgorithm = z.enum(['pkcs1v15', 'pss']).meta({ typeName: 'SignatureAlgorithm' });

/** Fields that sign and verify share. */
export const signatureFields = {
  hashAlgorithm: hashAlgorithmField,
  prehashed: z.boolean().optional().meta({ description: 'The input is the finished hash, not the data.', 'x-default': false }),
  signatureAlgorithm: signatureAlgorithm
    .optional()
    .meta({ description: 'Padding of RSA signatures. A version that is a key for RSASSA-PSS has pss only.', 'x-default': 'pkcs1v15' }),
  marshaling: z
    .enum(['asn1', 'jws'])
    .meta({ typeName: 'SignatureMarshaling' })
    .optional()
    .meta({ description: 'asn1: base64, ECDSA as DER. jws: base64url without padding, ECDSA as r‖s.', 'x-default': 'asn1' }),
} as const;

/** The options of one signature, as parsed. */
export type SignatureOptions = {
  readonly hashAlgorithm?: HashName | undefined;
  readonly prehashed?: boolean | undefined;
  readonly signatureAlgorithm?: 'pkcs1v15' | 'pss' | undefined;
  readonly marshaling?: Marshaling;
};

/** Encoding of a signature; undefined is asn1. */
export type Marshaling = 'asn1' | 'jws' | undefined;

/** The options of a signature with the defaults of its cipher; used to sign and to verify. */
export type SignatureMethod =
  | { readonly family: 'rsa'; readonly hash: HashName; readonly pss: boolean; readonly prehashed: boolean }
  | { readonly family: 'ecdsa'; readonly hash: HashName; readonly coordinateBytes: number; readonly prehashed: boolean }
  | { readonly family: 'ed25519' }
  | { readonly family: 'ml-dsa' };

/**
 * Throws invalid-value for options without effect, because ignoring one would let the caller rely on it, and for those that the version's public key
 * (SubjectPublicKeyInfo) would not verify.
 */
export function methodFor(cipher: SigningCipher, options: SignatureOptions, publicKey: () => Uint8Array | undefined): SignatureMethod {
  const rule = cipher.family === 'rsa' ? pssRuleOf(publicKey()) : undefined;
  if (rule !== undefined) return pssMethod(rule, options);
  const { hashAlgorithm = 'sha256', prehashed = false } = options;
  if (cipher.family !== 'rsa' && options.signatureAlgorithm !== undefined) throw misfit('signature-algorithm', 'RSA keys only');
  if (cipher.family === 'rsa') return { family: 'rsa', hash: hashAlgorithm, pss: options.signatureAlgorithm === 'pss', prehashed };
  if (cipher.family === 'ecdsa')
    return { family: 'ecdsa', hash: hashAlgorithm, prehashed, coordinateBytes: cipher.coordinateBytes as number };
  if (options.hashAlgorithm !== undefined) throw misfit('hash-algorithm', 'RSA and ECDSA keys; this cipher signs the data itself');
  if (options.prehashed === true) throw misfit('prehashed', 'RSA and ECDSA keys; this cipher signs the data itself');
  return { family: cipher.family };
}

/** Values of absent options for a version, if they differ from their descriptions. */
export type OwnDefaults = Pick<SignatureOptions, 'signatureAlgorithm' | 'hashAlgorithm'>;

/** Defaults of a version with this public key (SubjectPublicKeyInfo). */
export function defaultsOf(publicKey: Uint8Array | undefined): OwnDefaults {
  const rule = pssRuleOf(publicKey);
  return rule === undefined ? {} : { signatureAlgorithm: 'pss', ...defined({ hashAlgorithm: rule.hash }) };
}

function pssMethod(
  { hash }: PssRule,
  { signatureAlgorithm = 'pss', hashAlgorithm = hash ?? 'sha256', prehashed = false }: SignatureOptions,
) {
  const refuse = (field: string, only: string): Error =>
    coreFail('invalid-value', {
      detail: `"${field}" must be ${only}, or absent: this version is a key for RSASSA-PSS (RFC 4055), which makes no other signatures.`,
      items: [{ message: 'does not fit the version', info: field }],
    });
  if (signatureAlgorithm !== 'pss') throw refuse('signature-algorithm', 'pss');
  if (hash !== undefined && hashAlgorithm !== hash) throw refuse('hash-algorithm', hash);
  return { family: 'rsa', hash: hashAlgorithm, pss: true, prehashed } as const;
}

/** Signed data: the request to the token, and `signed-digest` of the audit record. */
export type Signed = { readonly scheme: SignScheme; readonly signedDigest: string };

/** Returns the signed data of an input that requireDigestLength has passed. A promise only for long inputs, which are hashed in turns. */
export function signedOf(method: SignatureMethod, input: Uint8Array): Signed | Promise<Signed> {
  const isHashed = 'prehashed' in method && method.prehashed;
  if (isHashed) return { scheme: schemeOf(method, input, input), signedDigest: `${method.hash}:${input.toHex()}` };
  const signedHash = 'hash' in method ? method.hash : 'sha256';
  const made = (digest: Uint8Array, sha256: Uint8Array): Signed => ({
    scheme: schemeOf(method, input, digest),
    signedDigest: `sha256:${sha256.toHex()}`,
  });
  if (isHashedAtOnce(input)) {
    const digest = hash(signedHash, input, 'buffer');
    return made(digest, signedHash === 'sha256' ? digest : hash('sha256', input, 'buffer'));
  }
  return hashInTurns(signedHash, input).then(async (digest) =>
    made(digest, signedHash === 'sha256' ? digest : await hashInTurns('sha256', input)),
  );
}

function schemeOf(method: SignatureMethod, input: Uint8Array, digest: Uint8Array): SignScheme {
  if (method.family === 'ed25519' || method.family === 'ml-dsa') return { scheme: method.family, message: input };
  if (method.family === 'rsa') return { scheme: method.pss ? 'rsa-pss' : 'rsa-pkcs1v15', hash: method.hash, digest };
  // FIPS 186-5 section 6.4.1 takes the leftmost bits; some tokens refuse a longer digest instead.
  return { scheme: 'ecdsa', digest: digest.subarray(0, method.coordinateBytes) };
}

/** Throws invalid-value unless a prehashed input has the length of its hash. */
export function requireDigestLength(method: SignatureMethod, input: Uint8Array): void {
  if (!('hash' in method) || !method.prehashed || input.length === hashBytes[method.hash]) return;
  throw coreFail('invalid-value', {
    detail: `A prehashed ${method.hash} input has ${hashBytes[method.hash]} octets, this one ${input.length}.`,
  });
}

/** The text of a signature from the token, without prefix. */
export function encodeSignature(method: SignatureMethod, raw: Uint8Array, marshaling: Marshaling): string {
  if (marshaling === 'jws') return raw.toBase64({ alphabet: 'base64url', omitPadding: true });
  return encodeBase64(method.family === 'ecdsa' ? encodeEcdsaSignature(raw) : raw);
}

/** The octets of a signature's text; ECDSA stays DER (asn1) or r‖s (jws). Throws invalid-base64. */
export function decodeSignature(payload: string, marshaling: Marshaling): Uint8Array {
  if (marshaling !== 'jws') return parseBase64(payload, 'signature');
  const octets = new Uint8Array(Buffer.from(payload, 'base64url'));
  if (octets.toBase64({ alphabet: 'base64url', omitPadding: true }) === payload) return octets;
  throw coreFail('invalid-base64', { detail: '"signature" must be base64url without padding when marshaling is jws.' });
}

function misfit(field: string, where: string): Error {
  return coreFail('invalid-value', { detail: `"${field}" is for ${where}.`, items: [{ message: 'does not fit the cipher', info: field }] });
}
