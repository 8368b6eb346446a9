// Signature algorithms of tokens and messages signed elsewhere (RFC 7518, RFC 8037), and their verification. Public keys alone: no key of the appliance is used.
import { constants, type KeyObject, verify } from 'node:crypto';
import { cleanly } from '../base/public-keys/openssl.ts';

/** Asymmetric ones only: with HS* a public key could be taken for a secret. */
export const algorithmNames = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
export type AlgorithmName = (typeof algorithmNames)[number];

/** Key that an algorithm takes, and how it signs. `signatureBytes`: of a signature with a fixed length. */
type Algorithm = {
  readonly kty: 'RSA' | 'EC' | 'OKP';
  readonly crv?: string;
  readonly hash?: string;
  readonly pss?: true;
  readonly signatureBytes?: number;
};

const algorithms: Readonly<Record<AlgorithmName, Algorithm>> = {
  RS256: { kty: 'RSA', hash: 'sha256' },
  RS384: { kty: 'RSA', hash: 'sha384' },
  RS512: { kty: 'RSA', hash: 'sha512' },
  PS256: { kty: 'RSA', hash: 'sha256', pss: true },
  PS384: { kty: 'RSA', hash: 'sha384', pss: true },
  PS512: { kty: 'RSA', hash: 'sha512', pss: true },
  ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256', signatureBytes: 64 },
  ES384: { kty: 'EC', crv: 'P-384', hash: 'sha384', signatureBytes: 96 },
  ES512: { kty: 'EC', crv: 'P-521', hash: 'sha512', signatureBytes: 132 },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', signatureBytes: 64 },
};

export function isAlgorithm(name: unknown): name is AlgorithmName {
  return algorithmNames.some((known) => known === name);
}

/** Type and curve of the key that an algorithm takes. */
export function keyTypeOf(name: AlgorithmName): Pick<Algorithm, 'kty' | 'crv'> {
  return algorithms[name];
}

/** Tells whether some algorithm takes keys of this type and curve. */
export function isUsableType(kty: unknown, crv: unknown): boolean {
  return Object.values(algorithms).some((one) => one.kty === kty && (one.crv === undefined || one.crv === crv));
}

/** Tells whether a signature is right. `key` has the type and curve of the algorithm. */
export function isSignatureRight(name: AlgorithmName, key: KeyObject, signed: Uint8Array, signature: Uint8Array): boolean {
  const { hash, pss, kty, signatureBytes } = algorithms[name];
  if (signatureBytes !== undefined && signature.length !== signatureBytes) return false;
  const options = {
    key,
    ...(kty === 'EC' ? { dsaEncoding: 'ieee-p1363' as const } : {}),
    ...(pss === true ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}),
  };
  try {
    return cleanly(() => verify(hash ?? null, signed, options, signature));
  } catch {
    return false;
  }
}
