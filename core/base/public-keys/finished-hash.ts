// Signatures that node:crypto has not: over a finished hash, because it always hashes its input, and Ed25519ph.
import { constants, type KeyObject, publicDecrypt } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as ed25519Library from '@noble/curves/ed25519.js';
import { once } from '../async/once.ts';
import { concat, equalConstantTime } from '../bytes.ts';
import { findCurve } from './curves.ts';

/** Hashes whose DigestInfo is known here. */
type HashName = 'sha256' | 'sha384' | 'sha512';

/** Tells whether it is a signature of RSASSA-PKCS1-v1_5 over the digest; false for every malformed one. */
export function pkcs1VerifiesDigest(key: KeyObject, hash: HashName, digest: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== (key.asymmetricKeyDetails?.modulusLength as number) / 8) return false;
  try {
    const info = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return equalConstantTime(info, concat(digestInfoPrefixes[hash], digest));
  } catch {
    return false;
  }
}

// DigestInfo without the digest (RFC 8017 section 9.2, note 1).
const digestInfoPrefixes: Readonly<Record<HashName, Uint8Array>> = {
  sha256: Uint8Array.fromHex('3031300d060960864801650304020105000420'),
  sha384: Uint8Array.fromHex('3041300d060960864801650304020205000430'),
  sha512: Uint8Array.fromHex('3051300d060960864801650304020305000440'),
};

/** Tells whether it is an ECDSA signature over the digest, r ‖ s (`compact`) or DER; false for every malformed one. */
export function ecdsaVerifiesDigest(key: KeyObject, digest: Uint8Array, signature: Uint8Array, format: 'compact' | 'der'): boolean {
  const { crv, x, y } = key.export({ format: 'jwk' }) as { crv: string; x: string; y: string };
  const point = concat(Uint8Array.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'));
  try {
    return findCurve(crv)?.verify(signature, digest, point, { prehash: false, lowS: false, format }) === true;
  } catch {
    return false;
  }
}

const library = once(() => createRequire(import.meta.url)('@noble/curves/ed25519.js') as typeof ed25519Library);

/** Tells whether it is an Ed25519ph signature of a message (RFC 8032 section 5.1.7), by the equation without the cofactor as OpenSSL verifies; false for every malformed one. */
export function ed25519phVerifies(key: KeyObject, context: Uint8Array | undefined, message: Uint8Array, signature: Uint8Array): boolean {
  const point = new Uint8Array(key.export({ format: 'raw-public' }));
  try {
    return library().ed25519ph.verify(signature, message, point, { zip215: false, ...(context && { context }) });
  } catch {
    return false;
  }
}
