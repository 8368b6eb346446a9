// Verifying signatures: in node:crypto, not in the token (design hsm 6).
import { type KeyObject, constants, publicDecrypt, verify } from 'node:crypto';
import { concat, equalConstantTime } from '../../../core/base/bytes.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import type { HashName } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import { pssEncodes } from './pss.ts';
import { keyObjectOf } from './public-keys.ts';
import { findNistCurve } from './nist-curves.ts';
import type { SignatureMethod } from './signatures.ts';

/**
 * Tells whether `signature` over `input` was made by the private half of `publicKey` (SPKI DER). False for every malformed signature.
 * A prehashed input has the length of its hash (requireDigestLength). `raw`: an ECDSA signature is r‖s instead of DER. Slow ciphers
 * and long inputs are verified outside the event loop.
 */
export async function verifySignature(
  cipher: SigningCipher,
  method: SignatureMethod,
  publicKey: Uint8Array,
  input: Uint8Array,
  signature: Uint8Array,
  raw: boolean,
): Promise<boolean> {
  const key = keyObjectOf(publicKey);
  if ((method.family === 'rsa' || method.family === 'ecdsa') && method.prehashed) {
    return method.family === 'rsa'
      ? verifyRsaDigest(method, plainRsa(key), input, signature)
      : verifyEcdsaDigest(key, input, signature, raw);
  }
  const hash = method.family === 'rsa' || method.family === 'ecdsa' ? method.hash : null;
  const options = {
    key,
    dsaEncoding: raw ? ('ieee-p1363' as const) : ('der' as const),
    ...(method.family === 'rsa' ? padding(method.pss) : {}),
  };
  if (!cipher.slowToVerify && input.length <= quickBytes) return verify(hash, input, options, signature);
  return new Promise((resolve, reject) => {
    verify(hash, input, options, signature, (error, valid) => (error === null ? resolve(valid) : reject(error)));
  });
}

/** Hashing this much costs less than leaving the event loop. */
const quickBytes = 64 * 1024;

// A signature made elsewhere may have a salt of any length.
function padding(pss: boolean): { padding: number; saltLength?: number } {
  return pss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
    : { padding: constants.RSA_PKCS1_PADDING };
}

// node:crypto always hashes its input, so for a finished hash the steps after the hash are done here.
function verifyRsaDigest(
  method: { readonly hash: HashName; readonly pss: boolean },
  key: KeyObject,
  digest: Uint8Array,
  signature: Uint8Array,
): boolean {
  const bits = key.asymmetricKeyDetails?.modulusLength as number;
  if (signature.length !== bits / 8) return false;
  try {
    if (method.pss) return pssEncodes(method.hash, digest, publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature), bits - 1);
    const info = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return equalConstantTime(info, concat(digestInfoPrefixes[method.hash], digest));
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

function verifyEcdsaDigest(key: KeyObject, digest: Uint8Array, signature: Uint8Array, raw: boolean): boolean {
  const { crv, x, y } = key.export({ format: 'jwk' }) as { crv: string; x: string; y: string };
  const point = concat(Uint8Array.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'));
  try {
    return findNistCurve(crv)?.verify(signature, digest, point, { prehash: false, lowS: false, format: raw ? 'compact' : 'der' }) === true;
  } catch {
    return false;
  }
}
