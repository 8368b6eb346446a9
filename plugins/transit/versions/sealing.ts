// Ciphertexts of RSA keys for encryption: made by the public key, opened in the token. For encrypt, decrypt, rewrap and generate-data-key.
import { invalid } from '../../../core/base/texts/invalid.ts';
import { encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { type OaepScheme, sealOaep } from '../formats/oaep.ts';
import { keyObjectOf } from '../formats/public-keys.ts';
import { formatValue } from '../formats/value-format.ts';
import type { Version } from '../records/keyring.ts';
import type { TokenUse } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { type Ciphertext, parseCiphertext } from './ciphertexts.ts';

/** Encrypts with the public key of a version: `store:v<N>:` ‖ base64, as long as the modulus. Counts as a use; the token is not asked. */
export async function seal(used: UsedKey, version: Version, scheme: OaepScheme, plaintext: Uint8Array): Promise<Ciphertext> {
  const sealed = sealOaep(keyObjectOf(version.record.publicKey as Uint8Array), scheme, plaintext);
  await used.transit.usage.take(used.key, version, 1, used.now);
  return { ciphertext: formatValue('value', version.number, encodeBase64(sealed)), keyVersion: version.number };
}

/**
 * Parses a ciphertext that was made here, or elsewhere with a public key of the key: base64 alone, of the version that `named` says, or of the
 * one in use. No other version is tried, because the time would tell which one it is. Throws invalid-format, invalid-base64, invalid-value.
 */
export function parseSealed(used: UsedKey, text: string, named: number | undefined): ReturnType<typeof parseCiphertext> {
  if (!text.startsWith('store:')) return { version: named ?? used.inUse(), sealed: parseBase64(text, 'ciphertext', used.decode) };
  return parseCiphertextOf(used, text, named);
}

/** Parses a ciphertext that was made here. The answer of encrypt, which names the version as well, is a whole request of decrypt. */
export function parseCiphertextOf(used: UsedKey, text: string, named: number | undefined): ReturnType<typeof parseCiphertext> {
  const parsed = parseCiphertext(text, used.decode);
  if (named !== undefined && named !== parsed.version) throw invalid('key-version', `is not ${parsed.version}, which the ciphertext names`);
  return parsed;
}

/** Plans a decryption in the token, which fails with decryption-failed, with the same message for every cause. */
export function planOpening<Answer>(
  used: UsedKey,
  version: Version,
  { hash, mgf1Hash, label }: OaepScheme,
  sealed: Uint8Array,
  answer: (plaintext: Uint8Array) => Answer,
): TokenUse<Answer> {
  const key = used.reference(version, 'decrypt');
  return { version, counts: undefined, use: { use: 'decryptOaep', key, hash, mgf1Hash, label, octets: sealed }, answer };
}
