// What all records are together, in one number that each commit changes by what it writes, and keeps with the revision.
import { hash } from 'node:crypto';

/** Below every table; the entries of the store itself sort below it. */
export const firstTable = Buffer.of(3);

/** Modulo 2^128. It finds faults of disks and of people; who writes the file on purpose can compute it, because a replica is written without a key. */
const bits = 128;

/** What a record adds to the content; 0 for none, and for the entries of the store itself. `value` as it is in LMDB. */
export function contentOf(key: Uint8Array, value: Uint8Array | undefined): bigint {
  if (value === undefined || (key[0] ?? 0) < (firstTable[0] ?? 0)) return 0n;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(key.length);
  return BigInt(`0x${hash('sha256', Buffer.concat([length, key, value])).slice(0, bits / 4)}`);
}

export function addContent(content: bigint, change: bigint): bigint {
  return BigInt.asUintN(bits, content + change);
}
