// Verifying signatures: in node:crypto, not in the token.
import { type KeyObject, constants, publicDecrypt, verify } from 'node:crypto';
import type { Owner } from '../../../core/base/async/shares.ts';
import { pkcs1VerifiesDigest } from '../../../core/base/public-keys/finished-hash.ts';
import { slowVerifier } from '../../../core/base/public-keys/slow-verifier.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import type { HashName } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import { pssEncodes } from './pss.ts';
import { keyObjectOf } from './public-keys.ts';
import type { SignatureMethod } from './signatures.ts';

/**
 * Tells whether `signature` over `input` was made by the private half of `publicKey` (SPKI DER). False for every malformed signature.
 * A prehashed input has the length of its hash (requireDigestLength). `raw`: an ECDSA signature is r‖s instead of DER. Slow ciphers
 * and long inputs are verified outside the event loop, what node:crypto does not have in turns among those who ask (`by`).
 */
export async function verifySignature(
  cipher: SigningCipher,
  method: SignatureMethod,
  publicKey: Uint8Array,
  input: Uint8Array,
  signature: Uint8Array,
  raw: boolean,
  by: Owner,
): Promise<boolean> {
  const key = keyObjectOf(publicKey);
  if ((method.family === 'rsa' || method.family === 'ecdsa') && method.prehashed) {
    return method.family === 'rsa'
      ? verifyRsaDigest(method, plainRsa(key), input, signature)
      : slowVerifier.verify(by, { ecdsa: raw ? 'compact' : 'der' }, key, input, signature);
  }
  if (method.family === 'ed25519' && method.prehash === true)
    return slowVerifier.verify(by, { ed25519ph: { context: method.context } }, key, input, signature);
  const context = 'context' in method && method.context !== undefined ? { context: method.context } : {};
  const hash = method.family === 'rsa' || method.family === 'ecdsa' ? method.hash : null;
  const options = {
    key,
    dsaEncoding: raw ? ('ieee-p1363' as const) : ('der' as const),
    ...(method.family === 'rsa' ? padding(method.pss) : context),
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
  if (!method.pss) return pkcs1VerifiesDigest(key, method.hash, digest, signature);
  const bits = key.asymmetricKeyDetails?.modulusLength as number;
  if (signature.length !== bits / 8) return false;
  try {
    return pssEncodes(method.hash, digest, publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature), bits - 1);
  } catch {
    return false;
  }
}
