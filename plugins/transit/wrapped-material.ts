// Key material wrapped for transport: RSA-OAEP(AES-256 key) ‖ AES-KWP(material), the layout of CKM_RSA_AES_KEY_WRAP (PKCS#11 3.1, 6.1.22).
import { constants, createCipheriv, createDecipheriv, createPublicKey, publicEncrypt } from 'node:crypto';
import { concat } from '../../core/bytes.ts';
import { fail } from './errors.ts';
import { pemBlocks } from './pem.ts';

/** Octets of the AES key in between. */
export const transportKeyBytes = 32;

// RFC 5649 section 3.
const alternativeInitialValue = Uint8Array.fromHex('a65959a6');

/** A wrapping key others gave: RSA of 2,048 bits or more, SubjectPublicKeyInfo or PKCS#1 PEM. Throws invalid-key-data. */
export function parseWrappingKey(pem: string): ReturnType<typeof createPublicKey> {
  const [block, ...more] = pemBlocks(pem);
  if (block === undefined || more.length > 0 || !/^(?:RSA )?PUBLIC KEY$/.test(block.label))
    throw unusable('"wrapping-key" must be one PEM public key.');
  let key: ReturnType<typeof createPublicKey>;
  try {
    key = createPublicKey(block.text);
  } catch {
    throw unusable('"wrapping-key" cannot be read as a public key.');
  }
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) {
    throw unusable('"wrapping-key" must be an RSA key of 2048 bits or more.');
  }
  return key;
}

/** Wraps material under a transport key, and that under the RSA key: OAEP and MGF1 with SHA-256. */
export function wrapMaterial(wrappingKey: ReturnType<typeof createPublicKey>, transportKey: Uint8Array, material: Uint8Array): Uint8Array {
  const options = { key: wrappingKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const cipher = createCipheriv('id-aes256-wrap-pad', transportKey, alternativeInitialValue);
  return concat(publicEncrypt(options, transportKey), cipher.update(material), cipher.final());
}

/** Opens the inner half with an opened transport key (AES-128, 192 or 256). Throws invalid-key-data, one answer whatever the reason. */
export function unwrapMaterial(transportKey: Uint8Array, wrapped: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv(`id-aes${transportKey.length * 8}-wrap-pad`, transportKey, alternativeInitialValue);
    return concat(decipher.update(wrapped), decipher.final());
  } catch {
    throw unopened();
  }
}

/** The one refusal of a wrapped import: what exactly failed would help an attacker of the padding. */
export function unopened(): Error {
  return unusable('The ciphertext does not open under the import wrapping key.');
}

function unusable(detail: string): Error {
  return fail('invalid-key-data', { detail });
}
