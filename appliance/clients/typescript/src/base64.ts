// Base64 of octets (RFC 4648 section 4), on every platform.

const chunk = 0x8000;

/** A text stands for its UTF-8. */
export function encodeBase64(octets: Uint8Array | string): string {
  const bytes = typeof octets === 'string' ? new TextEncoder().encode(octets) : octets;
  if (typeof Buffer === 'function') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunk) binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(binary);
}

/** Decodes base64. Throws TypeError for any other text: it would be decoded to other octets. */
export function decodeBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/=]|=[^=]|===/.test(text)) throw new TypeError('the answer is not base64');
  // A copy: a small Buffer is a part of memory that others use.
  if (typeof Buffer === 'function') return new Uint8Array(Buffer.from(text, 'base64'));
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
