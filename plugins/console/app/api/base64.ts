// Octets as base64 (RFC 4648, section 4), with what every browser of the last years has: `Uint8Array.prototype.toBase64` is younger than some.

/** Octets at once: a multiple of three, so that the pieces can be joined, and less than a call takes arguments. */
const pieceBytes = 0x6000;

export function base64Of(octets: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < octets.length; at += pieceBytes) pieces.push(btoa(String.fromCharCode(...octets.subarray(at, at + pieceBytes))));
  return pieces.join('');
}

/** Throws an InvalidCharacterError for other text. */
export function octetsOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** A text as base64 of its UTF-8. */
export function base64OfText(text: string): string {
  return base64Of(new TextEncoder().encode(text));
}

/** The text whose UTF-8 this is, with the mark of the order of octets if it begins with one; undefined for octets that are not text. */
export function textOfBase64(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octetsOf(base64));
  } catch {
    return undefined;
  }
}
