// Octets and their text forms: strict base64, hexadecimal and UTF-8; joining, framing and comparing.
import { timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { fail } from './errors.ts';

/**
 * Octets of standard base64 with padding (RFC 4648 section 4), or undefined. Canonical only: white space, the URL alphabet, missing
 * padding and non-zero padding bits are refused, so that no two texts stand for the same octets.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, strictly);
    // The decoder skips white space; a text with white space is longer than the octets account for.
    return Math.ceil(bytes.length / 3) * 4 === text.length ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Reads base64 as decodeBase64 does. */
export type Base64Decoder = (text: string) => Uint8Array | undefined;

/** Longest text that uses the shared memory; longer texts get memory of their own. */
const longestShared = 2_048;
const sharedBytes = 8_192;

/**
 * Makes a decodeBase64 for the many short texts of one request, whose octets share a few blocks: memory of its own for each would cost
 * more than the decoding, and the collector as much again. Each result has its own place. Nothing may transfer its `buffer`, or keep it for
 * longer than the request.
 */
export function sharingDecoder(): Base64Decoder {
  let block = new Uint8Array(0);
  let taken = 0;
  return (text) => {
    if (text.length > longestShared) return decodeBase64(text);
    if (text.length % 4 !== 0) return undefined;
    const most = (text.length / 4) * 3;
    if (taken + most > block.length) {
      block = new Uint8Array(sharedBytes);
      taken = 0;
    }
    try {
      const { written } = block.subarray(taken, taken + most).setFromBase64(text, strictly);
      // As in decodeBase64.
      return Math.ceil(written / 3) * 4 === text.length ? block.subarray(taken, (taken += written)) : undefined;
    } catch {
      return undefined;
    }
  };
}

const strictly = { lastChunkHandling: 'strict' } as const;

/** Octets of base64 decoded at a time, which takes a tenth of a millisecond. */
const base64Piece = 128 * 1024;

/** As decodeBase64, for ASCII octets: decodes in place and yields to the event loop, so that a large body costs no memory and no wait. */
export async function decodeBase64InPlace(text: Uint8Array): Promise<Uint8Array | undefined> {
  let end = 0;
  for (let at = 0; at < text.length; at += base64Piece) {
    if (at > 0) await setImmediate();
    const piece = text.subarray(at, at + base64Piece);
    const octets = decodeBase64(Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1'));
    // Only the end of the text may have padding.
    const isWhole = octets?.length === (base64Piece / 4) * 3 || at + base64Piece >= text.length;
    if (octets === undefined || !isWhole) return undefined;
    text.set(octets, end);
    end += octets.length;
  }
  return text.subarray(0, end);
}

/** As decodeBase64 (or the decoder that is given), for a named field: throws `invalid-base64`. */
export function parseBase64(text: string, field: string, decode: Base64Decoder = decodeBase64): Uint8Array {
  const bytes = decode(text);
  if (bytes === undefined) throw fail('invalid-base64', { detail: `${field} must be standard base64 with padding, without white space.` });
  return bytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/** Without padding (RFC 7515 section 2). */
export function encodeBase64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
}

/** Lower-case hexadecimal, two digits per octet. */
export function encodeHex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** UTF-8 of a text. Lone surrogates become U+FFFD: refuse them before where two different texts must not become equal. */
export function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text of UTF-8 octets, a byte order mark kept as a character; undefined when the octets are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The parts joined, in new memory. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((octets, part) => octets + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Four octets, big-endian. */
export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Compares secrets: the time depends on the lengths only. */
export function equalConstantTime(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
