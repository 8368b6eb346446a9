// Where everything is in etcd. All keys have one prefix, so that one watch shows every revision.
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
  /** everything of keystored */
  all: prefixed(keyBytes(root)),
  /** sealed records, by the text of their keys */
  records: prefixed(recordPrefix),
  record: (text: string): Buffer => Buffer.concat([recordPrefix, keyBytes(text)]),
  recordsIn: ({ low, high }: Span): KeyRange => ({
    key: Buffer.concat([recordPrefix, low]),
    range_end: Buffer.concat([recordPrefix, high]),
  }),
  /** Rewritten with each deletion of a record, by the key above it: a range of records does not show that one of them is gone. */
  deletionAbove: (text: string): Buffer => Buffer.concat([deletionPrefix, keyBytes(parentOf(text))]),
  deletionsBelow: (prefix: string): KeyRange => ({
    key: Buffer.concat([deletionPrefix, keyBytes(prefix)]),
    range_end: Buffer.concat([deletionPrefix, keyBytes(prefix), Buffer.of(0xff)]),
  }),
  /** Rewritten whenever old notes of deletions are removed. */
  deletionsSwept: keyBytes(`${root}swept`),
  members: prefixed(memberPrefix),
  member: (id: string): Buffer => Buffer.concat([memberPrefix, keyBytes(id)]),
  /** `number`: of a process of the appliance */
  lane: (member: string, number: number): Buffer => Buffer.concat([lanePrefix, keyBytes(`${member}/${number}`)]),
  lanes: (member: string): KeyRange => prefixed(Buffer.concat([lanePrefix, keyBytes(`${member}/`)])),
  /** Who is making the shared store: its first transaction, before the epoch. */
  founding: keyBytes(`${root}founding`),
  /** Rewritten by the first sign of each process that is a member: what it says of its program may be new. */
  arrivals: keyBytes(`${root}arrivals`),
  /** Random text, written last when the shared store is made, and the level of the records (`epochValue`). */
  epoch: keyBytes(`${root}epoch`),
  /** What all appliances open with their tokens. Written with the epoch, and again when their wrapping key was rotated. */
  wrappedKeys: keyBytes(`${root}keys`),
} as const;

/** Which store, and in the formats of which level. */
export type Epoch = { readonly epoch: string; readonly level: number };

/** One key for both, so that the compare which every transaction makes of the epoch is one of the level, too. */
export function epochValue({ epoch, level }: Epoch): Buffer {
  return keyBytes(level === firstLevel ? epoch : `${epoch} ${level}`);
}

export function readEpoch(value: Uint8Array): Epoch {
  const [epoch = '', level = String(firstLevel)] = Buffer.from(value).toString('utf8').split(' ');
  return { epoch, level: Number(level) };
}

/** What a key of etcd is about. */
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
