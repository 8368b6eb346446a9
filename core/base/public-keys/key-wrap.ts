// Key material wrapped for transport: RSA-OAEP(AES-256 key) ‖ AES-KWP(material), the layout of CKM_RSA_AES_KEY_WRAP (PKCS#11 3.1, 6.1.22).
import { type KeyObject, constants, createCipheriv, publicEncrypt } from 'node:crypto';
import { concat } from '../bytes.ts';
import { cleanly } from './openssl.ts';

/** Octets of the AES transport key. */
export const transportKeyBytes = 32;

/** RFC 5649 section 3. */
export const alternativeInitialValue = Uint8Array.fromHex('a65959a6');

/** Wraps material under a transport key, and that under the RSA key: OAEP and MGF1 with SHA-256. */
export function wrapMaterial(wrappingKey: KeyObject, transportKey: Uint8Array, material: Uint8Array): Uint8Array {
  const options = { key: wrappingKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const cipher = createCipheriv('id-aes256-wrap-pad', transportKey, alternativeInitialValue);
  return concat(
    cleanly(() => publicEncrypt(options, transportKey)),
    cipher.update(material),
    cipher.final(),
  );
}
