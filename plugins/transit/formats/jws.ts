// JSON Web Signatures (RFC 7515) in compact form: algorithm and header for a version of a key, and what is signed.
import { z } from 'zod';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { defined } from '../../../core/base/defined.ts';
import { concat, encodeUtf8, encodeBase64url } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { HashName } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import { hashOfCurve } from './hash-of-curve.ts';
import { keyIdOf } from './jwk.ts';
import type { SignatureMethod, SignatureOptions } from './signatures.ts';

/** Fields of `sign` that make a JWS. */
export const jwsFields = {
  format: z.enum(['raw', 'jws', 'cms']).meta({ typeName: 'SignatureFormat' }).optional().meta({
    description:
      'raw: the signature alone. jws: `signature` is a compact JWS (RFC 7515) with the text as its payload, and `kid` in its header names the version in the JWKS. cms: a detached CMS signature (RFC 5652) of the text in base64, with the certificates of the version, the time and the content hash.',
    'x-default': 'raw',
  }),
  jwsType: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[!-~]+$/, 'must be a media type, usually without application/')
    .optional()
    .meta({ description: '`typ` of the header of a JWS.', example: 'JWT' }),
} as const;

export type JwsOptions = SignatureOptions & { readonly format?: 'raw' | 'jws' | 'cms' | undefined; readonly jwsType?: string | undefined };

/** Algorithms by hash (RFC 7518 section 3.1). */
const suffix: Readonly<Record<HashName, string>> = { sha256: '256', sha384: '384', sha512: '512' };

/** The options of the signature in a JWS or CMS message. Throws invalid-value for those that it does not leave open. */
export function signatureOptionsOf(cipher: SigningCipher, options: JwsOptions): SignatureOptions {
  const { format = 'raw', jwsType, prehashed, marshaling, hashAlgorithm, signatureAlgorithm, context, deterministic } = options;
  if (format !== 'jws' && jwsType !== undefined) throw invalid('jws-type', 'is for format jws');
  if (format === 'raw') return options;
  if (context !== undefined) throw invalid('context', 'is for format raw: JWS and CMS sign with an empty one');
  if (signatureAlgorithm === 'ed25519ph') throw invalid('signature-algorithm', 'is for format raw when it is ed25519ph');
  if (format === 'cms') {
    if (marshaling !== undefined) throw invalid('marshaling', 'is for format raw');
    return defined({ signatureAlgorithm, hashAlgorithm, deterministic });
  }
  if (prehashed === true) throw invalid('prehashed', 'is for format raw: a JWS signs header and payload together');
  if (marshaling !== undefined) throw invalid('marshaling', 'is for format raw');
  const hashOfAlgorithm = hashOfCurve(cipher);
  if (hashOfAlgorithm !== undefined && hashAlgorithm !== undefined && hashAlgorithm !== hashOfAlgorithm)
    throw coreFail('invalid-value', {
      detail: `"hash-algorithm" must be ${hashOfAlgorithm}, or absent: a JWS has one hash for each curve (RFC 7518 section 3.4).`,
      items: [{ message: 'does not fit the curve', info: 'hash-algorithm' }],
    });
  return defined({ signatureAlgorithm, hashAlgorithm: hashAlgorithm ?? hashOfAlgorithm, deterministic });
}

/** `alg` of signatures by this method (RFC 7518 section 3.1, RFC 8037 section 3.1; ML-DSA has the name of its parameter set). */
export function jwsAlgorithm({ keyType, family }: SigningCipher, method: SignatureMethod): string {
  if (method.family === 'rsa') return `${method.pss ? 'PS' : 'RS'}${suffix[method.hash]}`;
  // RFC 8812 section 3.2.
  if (keyType === 'ecdsa-secp256k1') return 'ES256K';
  if (method.family === 'ecdsa') return `ES${suffix[method.hash]}`;
  return family === 'ed25519' ? 'EdDSA' : keyType.toUpperCase();
}

/** The octets that are signed: header and payload in encodeBase64url, with a point between them (RFC 7515 section 5.1). */
export function signingInput(algorithm: string, publicKey: Uint8Array, type: string | undefined, payload: Uint8Array): Uint8Array {
  const header = JSON.stringify({ alg: algorithm, ...defined({ typ: type }), kid: keyIdOf(publicKey) });
  return concat(encodeUtf8(`${encodeBase64url(encodeUtf8(header))}.`), encodeUtf8(encodeBase64url(payload)));
}

/** The compact form (RFC 7515 section 7.1). */
export function compactJws(input: Uint8Array, signature: Uint8Array): string {
  return `${Buffer.from(input.buffer, input.byteOffset, input.length).toString('latin1')}.${encodeBase64url(signature)}`;
}
