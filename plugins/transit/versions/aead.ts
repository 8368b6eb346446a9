// Sealing and opening under a version of a key: what encrypt, decrypt, rewrap and generate-data-key are made of.
import { defined } from '../../../core/base/defined.ts';
import { encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { HsmError } from '../../../hsm/api.ts';
import type { AeadCipher } from '../ciphers.ts';
import { convergentNonce } from '../records/derive.ts';
import { fail } from '../errors.ts';
import { type Key, type Version, aeadKeyOf, referenceTo } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { formatValue, parseValue } from '../formats/value-format.ts';

/** What goes into a ciphertext beside the plaintext, both already judged. */
export type Surroundings = { readonly context?: Uint8Array | undefined; readonly associatedData?: Uint8Array | undefined };

/** Encrypts and counts the use. `store:v<N>:` ‖ base64(nonce(12) ‖ ciphertext ‖ tag(16)). */
export async function seal(
  transit: Transit,
  key: Key,
  version: Version,
  cipher: AeadCipher,
  plaintext: Uint8Array,
  { context, associatedData }: Surroundings,
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

/** A ciphertext taken apart, before any key is touched. Throws invalid-format, invalid-base64. */
export function parseCiphertext(text: string): { readonly version: number; readonly sealed: Uint8Array } {
  const { version, payload } = parseValue('value', text, 'ciphertext');
  return { version, sealed: parseBase64(payload, 'ciphertext') };
}

/** Decrypts. Throws decryption-failed, one answer whatever the reason. */
export async function open(
  transit: Transit,
  key: Key,
  version: Version,
  cipher: AeadCipher,
  sealed: Uint8Array,
  { context, associatedData }: Surroundings,
): Promise<Uint8Array> {
  try {
    return await transit.hsm.decrypt(aeadKeyOf(key, version, cipher, context), sealed, defined({ associatedData }));
  } catch (error) {
    if (error instanceof HsmError && error.kind === 'decryption-failed') throw fail('decryption-failed');
    throw error;
  }
}
