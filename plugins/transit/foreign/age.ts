// The recipient stanza of an age file (age-encryption.org/v1) to an X25519 key: its file key opens here, the file where it is.
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import { fail } from '../errors.ts';
import { type Foreign, hkdf, nonceBytes, openAead, tagBytes } from './opening.ts';

const pointBytes = 32;
const fileKeyBytes = 16;
const info = encodeUtf8('age-encryption.org/v1/X25519');
/** Of each key one message is sealed, so its nonce is zero. */
const nonce = new Uint8Array(nonceBytes);

/** Reads `-> X25519 SHARE`, a line feed and the body, as a header has them. Throws invalid-format. */
export function readAgeStanza(publicPoint: Uint8Array, text: string): Foreign {
  const found = /^-> X25519 ([A-Za-z0-9+/]{43})\n([A-Za-z0-9+/]{43})\n?$/.exec(text);
  const [share, body] = [octetsOf(found?.[1]), octetsOf(found?.[2])];
  if (share === undefined || body === undefined) {
    const detail = '"ciphertext" must be one stanza of an age header: "-> X25519", its share and, in the next line, its body.';
    throw fail('invalid-format', { detail });
  }
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

/** 32 octets in base64 without padding, in their one spelling. */
function octetsOf(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const octets = new Uint8Array(Buffer.from(text, 'base64'));
  return octets.length === pointBytes && octets.toBase64({ omitPadding: true }) === text ? octets : undefined;
}
