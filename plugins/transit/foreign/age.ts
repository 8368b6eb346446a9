// The recipient stanza of an age file (age-encryption.org/v1) to an X25519 key, or to a post-quantum one: its file key opens here, the file where it is.
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import { fail } from '../errors.ts';
import { xWingCiphertextBytes } from '../formats/x-wing.ts';
import type { HpkeOptions } from './hpke.ts';
import { type Foreign, hkdf, nonceBytes, openAead, tagBytes } from './opening.ts';

const pointBytes = 32;
const fileKeyBytes = 16;
const sealedBytes = fileKeyBytes + tagBytes;
const info = encodeUtf8('age-encryption.org/v1/X25519');
/** Of each key one message is sealed, so its nonce is zero. */
const nonce = new Uint8Array(nonceBytes);

/** Reads `-> X25519 SHARE`, a line feed and the body, as a header has them. Throws invalid-format. */
export function readAgeStanza(publicPoint: Uint8Array, text: string): Foreign {
  const found = /^-> X25519 ([A-Za-z0-9+/]{43})\n([A-Za-z0-9+/]{43})\n?$/.exec(text);
  const [share, body] = [octetsOf(found?.[1], pointBytes), octetsOf(found?.[2], sealedBytes)];
  if (share === undefined || body === undefined) throw notOneOf('X25519');
  return {
    encapsulated: share,
    open: (secret) => {
      const key = hkdf('sha256', secret, concat(share, publicPoint), info, 32);
      secret.fill(0);
      try {
        return openAead('chacha20-poly1305', key, nonce, new Uint8Array(0), body.subarray(0, fileKeyBytes), body.subarray(-tagBytes));
      } finally {
        key.fill(0);
      }
    },
  };
}

const hybridOptions: HpkeOptions = {
  kdf: 'hkdf-sha256',
  aead: 'chacha20-poly1305',
  info: encodeUtf8('age-encryption.org/mlkem768x25519'),
};

/** Reads `-> mlkem768x25519 ENCAPSULATED`, a line feed and the body, which are one HPKE message. Throws invalid-format. */
export function readHybridStanza(text: string): readonly [message: Uint8Array, options: HpkeOptions] {
  const found = /^-> mlkem768x25519 ([A-Za-z0-9+/]{1494})\n([A-Za-z0-9+/]{43})\n?$/.exec(text);
  const [encapsulated, body] = [octetsOf(found?.[1], xWingCiphertextBytes), octetsOf(found?.[2], sealedBytes)];
  if (encapsulated === undefined || body === undefined) throw notOneOf('mlkem768x25519');
  return [concat(encapsulated, body), hybridOptions];
}

function notOneOf(type: string): Error {
  const detail = `"ciphertext" must be one stanza of an age header: "-> ${type}", its share and, in the next line, its body.`;
  return fail('invalid-format', { detail });
}

/** So many octets in base64 without padding, in their one spelling. */
function octetsOf(text: string | undefined, bytes: number): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const octets = new Uint8Array(Buffer.from(text, 'base64'));
  return octets.length === bytes && octets.toBase64({ omitPadding: true }) === text ? octets : undefined;
}
