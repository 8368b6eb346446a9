// Payloads of requests and answers: base64 or raw text, and their limits.
import { type Base64Decoder, decodeUtf8, encodeBase64, encodeUtf8, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { fail } from '../errors.ts';

/** Largest plaintext, decoded. */
const maxPlaintextBytes = 2 * 1024 * 1024;

/** Octets of a text field: base64 unless `base64-encoded` is false. Throws invalid-base64. */
export function readPayload(text: string, base64Encoded: boolean | undefined, field: string, decode: Base64Decoder): Uint8Array {
  return base64Encoded === false ? encodeUtf8(text) : parseBase64(text, field, decode);
}

/** Reads a plaintext as readPayload; throws payload-too-large above 2 MiB. */
export function readPlaintext(text: string, base64Encoded: boolean | undefined, decode: Base64Decoder): Uint8Array {
  const plaintext = readPayload(text, base64Encoded, 'plaintext', decode);
  if (plaintext.length <= maxPlaintextBytes) return plaintext;
  throw coreFail('payload-too-large', { detail: '"plaintext" is over 2 MiB: encrypt it yourself under a data key (generate-data-key).' });
}

/** Text of a decrypted plaintext; throws plaintext-not-utf8 when raw text was requested and the octets are not UTF-8. */
export function writePlaintext(plaintext: Uint8Array, base64Encoded: boolean | undefined): string {
  if (base64Encoded !== false) return encodeBase64(plaintext);
  const text = decodeUtf8(plaintext);
  if (text === undefined)
    throw fail('plaintext-not-utf8', { detail: 'The plaintext is not UTF-8 text; ask for base64 (leave base64-encoded out).' });
  return text;
}
