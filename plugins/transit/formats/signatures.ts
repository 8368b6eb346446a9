// Signatures: which options fit a cipher, what is sent to the token, and how the result is written.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Base64Decoder, encodeBase64, parseBase64, encodeBase64url } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { hashBytes, hashInTurns, isHashedAtOnce } from '../../../core/base/hash.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import type { HashName, SchemeOptions, SignScheme } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import { readPayload } from './payload.ts';
import { type PssRule, pssRuleOf } from './rsa-pss.ts';

/** Field `hash-algorithm`. */
export const hashAlgorithmField = z
  .enum(['sha256', 'sha384', 'sha512'])
  .meta({ typeName: 'HashAlgorithm' })
  .optional()
  .meta({ description: 'Hash of the text, for RSA and ECDSA.', 'x-default': 'sha256' });

/** Padding of RSA signatures. */
export const rsaSignatureAlgorithm = z.enum(['pkcs1v15', 'pss']).meta({ typeName: 'RsaSignatureAlgorithm' });

/** Fields that sign and verify share. */
export const signatureFields = {
  hashAlgorithm: hashAlgorithmField,
  prehashed: z.boolean().optional().meta({ description: 'The input is the finished hash, not the data.', 'x-default': false }),
  signatureAlgorithm: z.enum(['pkcs1v15', 'pss', 'ed25519ph']).meta({ typeName: 'SignatureAlgorithm' }).optional().meta({
    description:
      'Padding of RSA signatures; a version that is a key for RSASSA-PSS has pss only. Or ed25519ph (RFC 8032), of an Ed25519 key whose token has it.',
    'x-default': 'pkcs1v15',
  }),
  context: z.string().optional().meta({
    description:
      'Context of an Ed25519 or ML-DSA signature (RFC 8032, FIPS 204), of 255 octets at most, where the token has it: base64, or raw UTF-8 with base64-encoded false. The same again to verify.',
    'x-payload': true,
    maxLength: 1_024,
  }),
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
  readonly signatureAlgorithm?: 'pkcs1v15' | 'pss' | 'ed25519ph' | undefined;
  readonly marshaling?: Marshaling;
  /** octets, read from the field */
  readonly context?: Uint8Array | undefined;
  readonly deterministic?: boolean | undefined;
};

/** Encoding of a signature; undefined is asn1. */
export type Marshaling = 'asn1' | 'jws' | undefined;

/** The options of a signature with the defaults of its cipher; used to sign and to verify. */
export type SignatureMethod =
  | { readonly family: 'rsa'; readonly hash: HashName; readonly pss: boolean; readonly prehashed: boolean }
  | { readonly family: 'ecdsa'; readonly hash: HashName; readonly coordinateBytes: number; readonly prehashed: boolean }
  | ({ readonly family: 'ed25519' } & Pick<SchemeOptions, 'context' | 'prehash'>)
  | ({ readonly family: 'ml-dsa' } & Pick<SchemeOptions, 'context' | 'deterministic'>);

/**
 * Throws invalid-value for options without effect, because ignoring one would let the caller rely on it, and for those that the version's public key
 * (SubjectPublicKeyInfo) would not verify.
 */
export function methodFor(cipher: SigningCipher, options: SignatureOptions, publicKey: () => Uint8Array | undefined): SignatureMethod {
  const rule = cipher.family === 'rsa' ? pssRuleOf(publicKey()) : undefined;
  if (rule !== undefined) return pssMethod(rule, options);
  const { hashAlgorithm = 'sha256', prehashed = false, signatureAlgorithm, context, deterministic } = options;
  const isPrehashing = signatureAlgorithm === 'ed25519ph';
  if (isPrehashing && cipher.family !== 'ed25519') throw misfit('signature-algorithm', 'Ed25519 keys only when it is ed25519ph');
  if (!isPrehashing && cipher.family !== 'rsa' && signatureAlgorithm !== undefined) throw misfit('signature-algorithm', 'RSA keys only');
  if (deterministic === true && cipher.family !== 'ml-dsa') throw misfit('deterministic', 'ML-DSA keys; the others have no such choice');
  if (context !== undefined && (cipher.family === 'rsa' || cipher.family === 'ecdsa')) throw misfit('context', 'Ed25519 and ML-DSA keys');
  if (cipher.family === 'rsa') return { family: 'rsa', hash: hashAlgorithm, pss: signatureAlgorithm === 'pss', prehashed };
  if (cipher.family === 'ecdsa')
    return { family: 'ecdsa', hash: hashAlgorithm, prehashed, coordinateBytes: cipher.coordinateBytes as number };
  if (options.hashAlgorithm !== undefined) throw misfit('hash-algorithm', 'RSA and ECDSA keys; this cipher signs the data itself');
  if (options.prehashed === true) throw misfit('prehashed', 'RSA and ECDSA keys; this cipher signs the data itself');
  const common = context === undefined || context.length === 0 ? {} : { context };
  if (cipher.family === 'ed25519') return { family: 'ed25519', ...common, ...(isPrehashing ? { prehash: true } : {}) };
  return { family: 'ml-dsa', ...common, ...(deterministic === true ? { deterministic } : {}) };
}

/** Octets of the longest context (RFC 8032 section 2, FIPS 204 section 5.2). */
const mostContextBytes = 255;

/** Reads the field `context` of a request. Throws invalid-base64, and invalid-value above 255 octets. */
export function readContext(
  { context, base64Encoded }: { readonly context?: string | undefined; readonly base64Encoded?: boolean | undefined },
  decode: Base64Decoder,
): Pick<SignatureOptions, 'context'> {
  if (context === undefined) return {};
  const octets = readPayload(context, base64Encoded, 'context', decode);
  if (octets.length <= mostContextBytes) return { context: octets };
  throw coreFail('invalid-value', {
    detail: `"context" has ${octets.length} octets; a signature takes ${mostContextBytes} at most.`,
    items: [{ message: 'is too long', info: 'context' }],
  });
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
  { signatureAlgorithm = 'pss', hashAlgorithm = hash ?? 'sha256', prehashed = false, context, deterministic }: SignatureOptions,
) {
  const refuse = (field: string, only: string): Error =>
    coreFail('invalid-value', {
      detail: `"${field}" must be ${only}, or absent: this version is a key for RSASSA-PSS (RFC 4055), which makes no other signatures.`,
      items: [{ message: 'does not fit the version', info: field }],
    });
  if (signatureAlgorithm !== 'pss') throw refuse('signature-algorithm', 'pss');
  if (hash !== undefined && hashAlgorithm !== hash) throw refuse('hash-algorithm', hash);
  if (context !== undefined) throw misfit('context', 'Ed25519 and ML-DSA keys');
  if (deterministic === true) throw misfit('deterministic', 'ML-DSA keys; the others have no such choice');
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
  if (method.family === 'ed25519' || method.family === 'ml-dsa') {
    const { family, ...options } = method;
    return { scheme: family, message: input, options };
  }
  if (method.family === 'rsa') return { scheme: method.pss ? 'rsa-pss' : 'rsa-pkcs1v15', hash: method.hash, digest };
  // FIPS 186-5 section 6.4.1 takes the leftmost bits; some tokens refuse a longer digest instead.
  return { scheme: 'ecdsa', digest: digest.subarray(0, method.coordinateBytes) };
}

/** Throws invalid-value unless a prehashed input has the length of its hash. */
export function requireDigestLength(method: SignatureMethod, input: Uint8Array): void {
  if ('hash' in method && method.prehashed) requireHashLength(method.hash, input);
}

/** Throws invalid-value unless the input has the length of this hash. */
export function requireHashLength(name: HashName, input: Uint8Array): void {
  if (input.length === hashBytes[name]) return;
  throw coreFail('invalid-value', { detail: `A prehashed ${name} input has ${hashBytes[name]} octets, this one ${input.length}.` });
}

/** The text of a signature from the token, without prefix. */
export function encodeSignature(method: SignatureMethod, raw: Uint8Array, marshaling: Marshaling): string {
  if (marshaling === 'jws') return encodeBase64url(raw);
  return encodeBase64(method.family === 'ecdsa' ? encodeEcdsaSignature(raw) : raw);
}

/** The octets of a signature's text; ECDSA stays DER (asn1) or r‖s (jws). Throws invalid-base64. */
export function decodeSignature(payload: string, marshaling: Marshaling): Uint8Array {
  if (marshaling !== 'jws') return parseBase64(payload, 'signature');
  const octets = new Uint8Array(Buffer.from(payload, 'base64url'));
  if (encodeBase64url(octets) === payload) return octets;
  throw coreFail('invalid-base64', { detail: '"signature" must be base64url without padding when marshaling is jws.' });
}

function misfit(field: string, where: string): Error {
  return coreFail('invalid-value', { detail: `"${field}" is for ${where}.`, items: [{ message: 'does not fit the cipher', info: field }] });
}
