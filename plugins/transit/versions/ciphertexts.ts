// Ciphertexts: made and opened under a version of a key, for encrypt, decrypt, rewrap and generate-data-key.
import { hash } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import { encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { type AeadKey, HsmError } from '../../../hsm/api.ts';
import type { AeadCipher } from '../ciphers.ts';
import { convergentNonce } from './derivation.ts';
import { fail } from '../errors.ts';
import { type Key, type Version, referenceTo } from '../records/keyring.ts';
import type { KeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { formatValue, parseValue } from '../formats/value-format.ts';

/** The AEAD inputs beside the plaintext, already validated. */
export type AeadInputs = { readonly context?: Uint8Array | undefined; readonly associatedData?: Uint8Array | undefined };

/** Encrypts and counts the use. `store:v<N>:` ‖ base64(nonce(12) ‖ ciphertext ‖ tag(16)). */
export async function makeCiphertext(
  transit: Transit,
  key: Key,
  version: Version,
  cipher: AeadCipher,
  plaintext: Uint8Array,
  { context, associatedData }: AeadInputs,
  now: number,
): Promise<string> {
  const reserve = transit.usage.take(key, version, 1, now);
  if (reserve !== undefined) await reserve;
  const nonce =
    context !== undefined && key.record.convergentEncryption
      ? await convergentNonce(transit.hsm, referenceTo(key, version, 'convergent'), context, associatedData, plaintext)
      : undefined;
  const sealed = await transit.hsm.encrypt(aeadKeyOf(key, version, cipher, context), plaintext, {
    ...defined({ associatedData, nonce }),
  });
  return formatValue('value', version.number, encodeBase64(sealed));
}

/** Parses a ciphertext without using a key. Throws invalid-format, invalid-base64. */
export function parseCiphertext(text: string): { readonly version: number; readonly sealed: Uint8Array } {
  const { version, payload } = parseValue('value', text, 'ciphertext');
  return { version, sealed: parseBase64(payload, 'ciphertext') };
}

/** Decrypts. Throws decryption-failed, with the same message for every cause. */
export async function openCiphertext(
  transit: Transit,
  key: Key,
  version: Version,
  cipher: AeadCipher,
  sealed: Uint8Array,
  { context, associatedData }: AeadInputs,
): Promise<Uint8Array> {
  try {
    return await transit.hsm.decrypt(aeadKeyOf(key, version, cipher, context), sealed, defined({ associatedData }));
  } catch (error) {
    if (error instanceof HsmError && error.kind === 'decryption-failed') throw fail('decryption-failed');
    throw error;
  }
}

/** The AES key of a version: the stored one, or the one derived for the context. */
function aeadKeyOf(key: Key, version: Version, cipher: AeadCipher, context: Uint8Array | undefined): AeadKey {
  if (context === undefined) return referenceTo(key, version, 'encrypt');
  const { salt, iterations } = key.record.kdf as NonNullable<KeyRecord['kdf']>;
  return {
    derivation: {
      secret: referenceTo(key, version, 'derive'),
      contextHash: hash('sha256', context, 'buffer'),
      salt,
      iterations,
      type: cipher.keyType,
    },
  };
}
