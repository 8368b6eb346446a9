// Content of the store: one number for all records, which each commit changes by its writes and keeps with the revision.
import { hash } from 'node:crypto';

/** First octet of the keys of tables; the entries of the store itself sort below it. */
export const firstTable = Buffer.of(3);

/**
 * Size of the number: modulo 2^128. It detects faults of disks and of people; an attacker who writes the file can compute it, because a
 * replica is written without a key.
 */
const bits = 128;

/** Share of a record in the content; 0 for none, and for the entries of the store itself. `value`: as in LMDB. */
export function contentOf(key: Uint8Array, value: Uint8Array | undefined): bigint {
  if (value === undefined || (key[0] ?? 0) < (firstTable[0] ?? 0)) return 0n;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(key.length);
  return BigInt(`0x${hash('sha256', Buffer.concat([length, key, value])).slice(0, bits / 4)}`);
}

export function addContent(content: bigint, change: bigint): bigint {
  return BigInt.asUintN(bits, content + change);
}
