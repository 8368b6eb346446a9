// The text form of ciphertexts, signatures and HMACs: a fixed prefix, the key version, and the value.
import { fail } from '../errors.ts';

/** `value`: ciphertexts and signatures, `store:v<N>:…`. `hashed`: HMACs, `store:hashed:v<N>:…`. */
export type ValueKind = 'value' | 'hashed';

/** A parsed value. `payload` is the text after the last colon: base64, not yet decoded. */
export type VersionedValue = { readonly version: number; readonly payload: string };

const prefixes: Readonly<Record<ValueKind, string>> = { value: 'store:v', hashed: 'store:hashed:v' };

/** Highest version number a value may carry, and so the last version of a key. */
export const maxVersion = 2 ** 31 - 1;

/** Joins prefix, version and payload. */
export function formatValue(kind: ValueKind, version: number, payload: string): string {
  return `${prefixes[kind]}${version}:${payload}`;
}

/**
 * Parses a value; `formatValue` of the result is the same text. Throws `invalid-format` naming `field` for a wrong prefix, a
 * version with leading zeros, zero, or above 2^31-1, and for a colon in the payload.
 */
export function parseValue(kind: ValueKind, text: string, field: string): VersionedValue {
  const prefix = prefixes[kind];
  const colon = text.indexOf(':', prefix.length);
  if (!text.startsWith(prefix) || colon < 0 || text.indexOf(':', colon + 1) >= 0) throw malformed(kind, field);
  const version = parseVersion(text, prefix.length, colon);
  if (version === undefined) throw malformed(kind, field);
  return { version, payload: text.slice(colon + 1) };
}

// Parses without a regular expression: the text may be megabytes long, and only its first characters matter.
function parseVersion(text: string, start: number, end: number): number | undefined {
  if (end === start || end - start > 10 || text.charCodeAt(start) === 0x30) return undefined;
  let version = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    version = version * 10 + digit;
  }
  return version <= maxVersion ? version : undefined;
}

function malformed(kind: ValueKind, field: string): Error {
  return fail('invalid-format', {
    detail: `"${field}" must read ${prefixes[kind]}<N>:<base64>, with <N> the key version in decimal without leading zeros.`,
    items: [{ message: 'malformed prefix', info: field }],
  });
}
