// Layout of etcd. All keys have one prefix, so that one watch shows every revision.
import type { Span } from '../store/environment.ts';
import { keyBytes } from '../store/keys.ts';
import { firstLevel } from '../store/records/level.ts';
import { type KeyRange, prefixed } from '../etcd/messages.ts';

const root = 'keystored/';

const recordPrefix = keyBytes(`${root}r/`);
const deletionPrefix = keyBytes(`${root}d/`);
const memberPrefix = keyBytes(`${root}m/`);
const lanePrefix = keyBytes(`${root}l/`);

export const layout = {
  /** all keys of keystored */
  all: prefixed(keyBytes(root)),
  /** sealed records, by the text of their keys */
  records: prefixed(recordPrefix),
  record: (text: string): Buffer => Buffer.concat([recordPrefix, keyBytes(text)]),
  recordsIn: ({ low, high }: Span): KeyRange => ({
    key: Buffer.concat([recordPrefix, low]),
    range_end: Buffer.concat([recordPrefix, high]),
  }),
  /** note of deletions by the key above, rewritten with each deletion of a record: a range of records does not show that one of them is gone */
  deletionAbove: (text: string): Buffer => Buffer.concat([deletionPrefix, keyBytes(parentOf(text))]),
  deletionsBelow: (prefix: string): KeyRange => ({
    key: Buffer.concat([deletionPrefix, keyBytes(prefix)]),
    range_end: Buffer.concat([deletionPrefix, keyBytes(prefix), Buffer.of(0xff)]),
  }),
  /** rewritten whenever old notes of deletions are removed */
  deletionsSwept: keyBytes(`${root}swept`),
  members: prefixed(memberPrefix),
  member: (id: string): Buffer => Buffer.concat([memberPrefix, keyBytes(id)]),
  /** lane of a process of an appliance, by the number of the process */
  lane: (member: string, number: number): Buffer => Buffer.concat([lanePrefix, keyBytes(`${member}/${number}`)]),
  lanes: (member: string): KeyRange => prefixed(Buffer.concat([lanePrefix, keyBytes(`${member}/`)])),
  /** founder of the shared store, written by its first transaction, before the epoch */
  bootstrap: keyBytes(`${root}founding`),
  /** rewritten by the first sign of each process that is a member, whose program may be new */
  arrivals: keyBytes(`${root}arrivals`),
  /** random text, written last when the shared store is made, and the level of the records (`epochValue`) */
  epoch: keyBytes(`${root}epoch`),
  /** keys that all appliances unwrap with their tokens; written with the epoch, and again after each rotation of the wrapping key */
  wrappedKeys: keyBytes(`${root}keys`),
} as const;

/** Identity of a shared store, and the level of its formats. */
export type Epoch = { readonly epoch: string; readonly level: number };

/** Encodes both in one value, so that every transaction's compare of the epoch also compares the level. */
export function epochValue({ epoch, level }: Epoch): Buffer {
  return keyBytes(level === firstLevel ? epoch : `${epoch} ${level}`);
}

export function readEpoch(value: Uint8Array): Epoch {
  const [epoch = '', level = String(firstLevel)] = Buffer.from(value).toString('utf8').split(' ');
  return { epoch, level: Number(level) };
}

/** Meaning of a key of etcd. */
export type Place =
  | { readonly kind: 'record'; readonly text: string }
  | { readonly kind: 'member'; readonly id: string }
  | { readonly kind: 'lane'; /** id of the appliance */ readonly of: string }
  | { readonly kind: 'epoch' | 'other' };

export function placeOf(key: Buffer): Place {
  if (startsWith(key, recordPrefix)) return { kind: 'record', text: key.toString('utf8', recordPrefix.length) };
  if (startsWith(key, memberPrefix)) return { kind: 'member', id: key.toString('utf8', memberPrefix.length) };
  if (startsWith(key, lanePrefix)) {
    const text = key.toString('utf8', lanePrefix.length);
    return { kind: 'lane', of: text.slice(0, Math.max(0, text.lastIndexOf('/'))) };
  }
  return { kind: key.equals(layout.epoch) ? 'epoch' : 'other' };
}

/** The text of a key without its last part: `tokens NUL tenant NUL` of `tokens NUL tenant NUL accessor NUL`. */
export function parentOf(text: string): string {
  return text.slice(0, text.lastIndexOf('\0', text.length - 2) + 1);
}

/** The longest text of table and parts that all keys of a span begin with. */
export function prefixOf({ low, high }: Span): string {
  let length = 0;
  while (length < low.length && low[length] === high[length]) length++;
  return low.toString('utf8', 0, low.subarray(0, length).lastIndexOf(0) + 1);
}

function startsWith(key: Buffer, prefix: Buffer): boolean {
  return key.length >= prefix.length && key.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
