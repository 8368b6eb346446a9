// The digest to which approvers agree, and the words in which people compare it.
import { hash } from 'node:crypto';
import { keyedDigest } from '../store/records/keyed-digest.ts';
import type { Store } from '../store/store.ts';

/** Digest of a request under the key of the store, base64url. Members of objects are sorted: their order on the wire means nothing. */
export function digestOf(store: Store, parts: readonly unknown[]): string {
  return keyedDigest(store, parts.map(canonical));
}

/** Plain JSON with sorted members. Octets count by their SHA-256, large numbers and instants by their text. */
function canonical(value: unknown): unknown {
  if (value instanceof Uint8Array) return { sha256: hash('sha256', value, 'hex') };
  if (typeof value === 'bigint') return { integer: String(value) };
  if (value instanceof Temporal.Instant || value instanceof Date) return { instant: value.toJSON() };
  if (value instanceof Map) return { map: Array.from(value, canonical) };
  if (value instanceof Set) return { set: Array.from(value, canonical) };
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function');
  return Object.fromEntries(members.toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([name, one]) => [name, canonical(one)]));
}

const consonants = 'bdfghjklmnprstvz';
const vowels = 'aiou';
const wordsShown = 6;

/** Six words of five letters for 96 bits of a digest, to be read out (proquints, arXiv 0901.4016). */
export function wordsOf(digest: string): string {
  const octets = hash('sha256', digest, 'buffer');
  return Array.from({ length: wordsShown }, (_, at) => wordOf(octets.readUInt16BE(2 * at))).join(' ');
}

function wordOf(bits: number): string {
  const parts = [
    [consonants, 12, 15],
    [vowels, 10, 3],
    [consonants, 6, 15],
    [vowels, 4, 3],
    [consonants, 0, 15],
  ] as const;
  return parts.map(([letters, shift, mask]) => letters[(bits >> shift) & mask]).join('');
}
