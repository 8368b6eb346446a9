// Encoding of record keys: table and parts become one text whose octets sort like the parts.
import type { StoreKey } from './store.ts';

/*
 * text   = table NUL part NUL part NUL …
 * string = its characters; never NUL, never U+0001 first
 * number = U+0001, a letter that counts the digits (A = 1), the decimal digits: so 9 sorts before 10
 *
 * The closing NUL makes the text of ['a'] a prefix of that of ['a', 'b'] but not of that of ['ab'].
 */

/** LMDB's limit with 4 KiB pages, in octets. */
const maxKeyBytes = 1_978;

/** The text of a key, or undefined when no record can have it: NUL, U+0001 in front, lone surrogates, a fraction, or too long. */
export function encodeKey(table: string, key: StoreKey): string | undefined {
  let text = table + '\0';
  // By index: this runs several times in each request, and an iterator is garbage.
  for (let at = 0; at < key.length; at++) {
    const part = key[at] as StoreKey[number];
    const encoded = typeof part === 'number' ? encodeNumber(part) : encodeString(part);
    if (encoded === undefined) return undefined;
    text += encoded + '\0';
  }
  // UTF-8 takes at most three octets per UTF-16 unit.
  return text.length * 3 <= maxKeyBytes || Buffer.byteLength(text) <= maxKeyBytes ? text : undefined;
}

/** As encodeKey, for a key to be written: an invalid one is a programming error. */
export function requireKey(table: string, key: StoreKey): string {
  const text = encodeKey(table, key);
  if (text === undefined) throw new TypeError(`table ${table} cannot hold the key ${JSON.stringify(key)}`);
  return text;
}

/** Table and parts of a text made by encodeKey. */
export function decodeKey(text: string): { readonly table: string; readonly key: StoreKey } {
  const end = text.indexOf('\0');
  return { table: text.slice(0, end), key: decodeParts(text.slice(end + 1)) };
}

/** Parts of a key in the text behind its table, or behind a prefix of it. */
export function decodeParts(text: string): StoreKey {
  if (text === '') return [];
  const parts = text.slice(0, -1).split('\0');
  return parts.map((part) => (part.startsWith('\u0001') ? Number(part.slice(2)) : part));
}

/** Octets by which LMDB sorts. */
export function keyBytes(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** An upper bound of all keys that start with this text, below every other key above them: UTF-8 has no 0xFF. */
export function endOf(text: string): Buffer {
  return Buffer.concat([keyBytes(text), Buffer.of(0xff)]);
}

function encodeNumber(part: number): string | undefined {
  if (!Number.isSafeInteger(part) || part < 0) return undefined;
  const digits = String(part);
  return `\u0001${String.fromCharCode(0x40 + digits.length)}${digits}`;
}

function encodeString(part: string): string | undefined {
  return part.includes('\0') || part.charCodeAt(0) === 1 || !part.isWellFormed() ? undefined : part;
}

/** Throws for a text that is not the name of a table or of its owner. */
export function requireName(name: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a name for a table or its owner`);
  return name;
}
