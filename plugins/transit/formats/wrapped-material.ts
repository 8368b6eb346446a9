// Key material wrapped for transport (core/base/public-keys/key-wrap.ts): the keys of callers that wrap exports, and imports as they are opened.
import { type KeyObject, createDecipheriv } from 'node:crypto';
import { concat } from '../../../core/base/bytes.ts';
import { alternativeInitialValue } from '../../../core/base/public-keys/key-wrap.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem } from '../../../core/base/public-keys/public-key.ts';
import { unusable } from '../errors.ts';
import { readPublicKey, requireCompositeModulus } from './public-keys.ts';

/**
 * A wrapping key of a caller: an RSA key that satisfies the rule for keys we encrypt to, as SubjectPublicKeyInfo or PKCS#1 PEM. Under a
 * weaker key, the material would be as good as in clear. Throws invalid-key-data.
 */
export async function parseWrappingKey(pem: string): Promise<KeyObject> {
  const key = readPublicKey(pem, '"wrapping-key"');
  if (key.asymmetricKeyType !== 'rsa') throw unusable('"wrapping-key" must be an RSA key.');
  const problem = findPublicKeyProblem(key, 'encrypt');
  if (problem !== undefined) throw unusable(`"wrapping-key" ${problem}.`);
  await requireCompositeModulus(key);
  return key;
}

/** Unwraps the material with the transport key (AES-128, 192 or 256). Throws invalid-key-data, with the same message for every cause. */
export function unwrapMaterial(transportKey: Uint8Array, wrapped: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv(`id-aes${transportKey.length * 8}-wrap-pad`, transportKey, alternativeInitialValue);
    return cleanly(() => concat(decipher.update(wrapped), decipher.final()));
  } catch {
    throw unopened();
  }
}

/** The only refusal of a wrapped import: the exact cause would help a padding oracle attack. */
export function unopened(): Error {
  return unusable('The ciphertext does not open under the import wrapping key.');
}
