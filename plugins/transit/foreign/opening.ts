// Authenticated decryption and key derivation of node:crypto, which the ciphertext formats of others share, with one failure for whatever does not open.
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { fail } from '../errors.ts';
import type { HashName } from '../../../hsm/api.ts';

/** A ciphertext that is read, and what the token has to do first. */
export type ForeignSecret = {
  /** raw point for a key agreement, or the ciphertext of a KEM */
  readonly encapsulated: Uint8Array;
  /** Opens it with the secret that the key gives for that, which it zeroes. Throws decryption-failed. */
  open(secret: Uint8Array): Uint8Array;
};

export type Foreign =
  | ForeignSecret
  | {
      /** content key under RSA-OAEP */
      readonly sealedKey: Uint8Array;
      readonly hash: HashName | 'sha1';
      open(contentKey: Uint8Array): Uint8Array;
    };

/** Authenticated ciphers by their name in node:crypto. All have tags of 16 octets and nonces of 12. */
export type AeadName = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';
export const tagBytes = 16;
export const nonceBytes = 12;

/** Opens ciphertext and tag. Throws decryption-failed. */
export function openAead(
  name: AeadName,
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  sealed: Uint8Array,
  tag: Uint8Array,
): Uint8Array {
  return opening(() => {
    const decipher = createDecipheriv(name as 'aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(associatedData).setAuthTag(tag);
    const opened = decipher.update(sealed);
    decipher.final();
    return opened;
  });
}

/** Runs a decryption. Its one failure is decryption-failed, with the same message for every cause. */
export function opening(open: () => Uint8Array): Uint8Array {
  try {
    return open();
  } catch {
    throw fail('decryption-failed');
  }
}

/** HKDF (RFC 5869). */
export function hkdf(hash: HashName, secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync(hash, secret, salt, info, bytes));
}

/** HKDF-Extract (RFC 5869 section 2.2). */
export function extract(hash: HashName, salt: Uint8Array, secret: Uint8Array): Uint8Array {
  return createHmac(hash, salt).update(secret).digest();
}

/** HKDF-Expand (RFC 5869 section 2.3), for as many octets as one or more blocks have. */
export function expand(hash: HashName, key: Uint8Array, info: Uint8Array, bytes: number): Uint8Array {
  const made = new Uint8Array(bytes);
  let block: Uint8Array = new Uint8Array(0);
  for (let at = 0, count = 1; at < bytes; count += 1) {
    block = createHmac(hash, key).update(block).update(info).update(Uint8Array.of(count)).digest();
    made.set(block.subarray(0, bytes - at), at);
    at += block.length;
  }
  return made;
}
