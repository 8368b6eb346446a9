// Ciphertexts: how they are made and opened under a version of a key, for encrypt, decrypt, rewrap and generate-data-key.
import { hash } from 'node:crypto';
import { type Base64Decoder, encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import type { AeadKey } from '../../../hsm/api.ts';
import type { AeadCipher } from '../ciphers.ts';
import { convergentNonce } from './derivation.ts';
import type { Version } from '../records/keyring.ts';
import { hkdf, type KeyRecord } from '../records/records.ts';
import { formatValue, parseValue } from '../formats/value-format.ts';
import { type Plan, type TokenUse, runAlone } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';

/** The AEAD inputs beside the plaintext, already validated. */
export type AeadInputs = { readonly context?: Uint8Array | undefined; readonly associatedData?: Uint8Array | undefined };

/** An encrypted value: `store:v<N>:` ‖ base64(nonce(12) ‖ ciphertext ‖ tag(16)), and N. */
export type Ciphertext = { readonly ciphertext: string; readonly keyVersion: number };

/** Plans an encryption. One use of the token, except that the nonce of convergent encryption has to be computed first. */
export function planEncryption(
  used: UsedKey,
  version: Version,
  cipher: AeadCipher,
  plaintext: Uint8Array,
  inputs: AeadInputs,
): Plan<Ciphertext> {
  const { context, associatedData } = inputs;
  if (context === undefined || !used.key.record.convergentEncryption) return encryptionOf(used, version, cipher, plaintext, inputs);
  const nonce = convergentNonce(used.transit.hsm, used.reference(version, 'convergent'), context, associatedData, plaintext);
  return { steps: nonce.then((octets) => runAlone(used, encryptionOf(used, version, cipher, plaintext, inputs, octets))) };
}

function encryptionOf(
  used: UsedKey,
  version: Version,
  cipher: AeadCipher,
  plaintext: Uint8Array,
  { context, associatedData }: AeadInputs,
  nonce?: Uint8Array,
): TokenUse<Ciphertext> {
  return {
    version,
    counts: 1,
    use: { use: 'encrypt', key: aeadKeyOf(used, version, cipher, context), octets: plaintext, associatedData, nonce },
    answer: (sealed) => ({ ciphertext: formatValue('value', version.number, encodeBase64(sealed)), keyVersion: version.number }),
  };
}

/** Parses a ciphertext without using a key. Throws invalid-format, invalid-base64. */
export function parseCiphertext(text: string, decode: Base64Decoder): { readonly version: number; readonly sealed: Uint8Array } {
  const { version, payload } = parseValue('value', text, 'ciphertext');
  return { version, sealed: parseBase64(payload, 'ciphertext', decode) };
}

/** Plans a decryption: one use of the token, which fails with decryption-failed, with the same message for every cause. */
export function planDecryption<Answer>(
  used: UsedKey,
  version: Version,
  cipher: AeadCipher,
  sealed: Uint8Array,
  { context, associatedData }: AeadInputs,
  answer: (plaintext: Uint8Array) => Answer,
): TokenUse<Answer> {
  const key = aeadKeyOf(used, version, cipher, context);
  return { version, counts: undefined, use: { use: 'decrypt', key, octets: sealed, associatedData }, answer };
}

/** The AES key of a version: the stored one, or the one derived for the context. */
function aeadKeyOf(used: UsedKey, version: Version, cipher: AeadCipher, context: Uint8Array | undefined): AeadKey {
  if (context === undefined) return used.reference(version, 'encrypt');
  const kdf = used.key.record.kdf as NonNullable<KeyRecord['kdf']>;
  const from = { secret: used.reference(version, 'derive'), type: cipher.keyType };
  if (kdf === hkdf) return { derivation: { ...from, info: context } };
  const { salt, iterations } = kdf;
  return { derivation: { ...from, contextHash: hash('sha256', context, 'buffer'), salt, iterations } };
}
