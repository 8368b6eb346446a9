// What is kept of a token, and when and from where that token works: its own time and place, and those of all it descends from.
import { isWithin } from '../../base/addresses.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import { stillGrants } from '../approles/approles.ts';

/** What is kept of a token: everything but the token. */
export type TokenRecord = {
  readonly accessor: string;
  /** SHA-256 of the token's text, hexadecimal */
  readonly hash: string;
  readonly tenantId: string;
  /** name for audit and pages: a mapped username, the approle, or `root` */
  readonly user: string;
  readonly policies: readonly string[];
  readonly creationTime: string;
  /** absent: does not expire (root tokens) */
  readonly expires?: string;
  /** what one refresh adds at most, and the end that no refresh passes */
  readonly ttlSeconds?: number;
  readonly latestExpires?: string;
  /** accessor of the token that made it; it can do nothing where and when that one cannot */
  readonly parent?: string;
  /** ranges of addresses it works from; absent: from anywhere */
  readonly boundCidrs?: readonly string[];
  /** it lives in the cookie of a browser and is no bearer token */
  readonly browser?: true;
  /** the approle it was issued for; it ends with that one's grant */
  readonly approle?: { readonly name: string; readonly grantId: string };
};

/** [tenant uuid, accessor] */
export const tokenTable = (store: Store): Table<TokenRecord> => store.tenantTable<TokenRecord>('tokens');

/** How to read a record: from the snapshot, or, where a change rests on it, through its transaction. */
export type Read = WriteTransaction['get'];

const fromSnapshot: Read = (table, key) => table.get(key);

/** Whether a token works now: its own time has come and is not over, and the same holds for all it descends from. */
export function isWorking(store: Store, record: TokenRecord, now: Temporal.Instant, read: Read = fromSnapshot): boolean {
  const isSound = (one: TokenRecord): boolean =>
    isInItsTime(one, now) && (one.approle === undefined || stillGrants(store, one.tenantId, one.approle, read));
  return isSound(record) && ancestorsOf(store, record, read).every((one) => one !== undefined && isSound(one));
}

/** Whether a token may be used from an address: its own ranges count, and those of all it descends from. */
export function worksFrom(store: Store, record: TokenRecord, address: string | undefined): boolean {
  const isInPlace = (one: TokenRecord | undefined): boolean => one?.boundCidrs === undefined || isWithin(one.boundCidrs, address);
  return isInPlace(record) && ancestorsOf(store, record).every(isInPlace);
}

const none: readonly TokenRecord[] = [];

/** The parent, its parent, and so on; ends with undefined when one is gone. */
export function ancestorsOf(
  store: Store,
  { tenantId, parent }: TokenRecord,
  read: Read = fromSnapshot,
): readonly (TokenRecord | undefined)[] {
  if (parent === undefined) return none;
  const found: (TokenRecord | undefined)[] = [];
  for (let accessor: string | undefined = parent; accessor !== undefined; accessor = found.at(-1)?.parent) {
    found.push(read(tokenTable(store), [tenantId, accessor]));
  }
  return found;
}

/** Whether a token's time is over; at the instant of its expiry it is. */
export function isExpired(record: TokenRecord, now: Temporal.Instant): boolean {
  return now.epochMilliseconds >= timeOf(record).untilMs;
}

/** A wall clock that was set back must not bring back to life what had ended: no token has more left than one refresh gives. */
function isInItsTime(record: TokenRecord, now: Temporal.Instant): boolean {
  const { fromMs, untilMs } = timeOf(record);
  return now.epochMilliseconds >= fromMs && now.epochMilliseconds < untilMs;
}

/** Clocks that are set right differ by little; what was issued shortly before goes on. */
const clockToleranceMs = 300_000;

function timeOf(record: TokenRecord): { readonly fromMs: number; readonly untilMs: number } {
  let time = times.get(record);
  if (time === undefined) {
    const untilMs = record.expires === undefined ? Infinity : Temporal.Instant.from(record.expires).epochMilliseconds;
    const fromMs = record.ttlSeconds === undefined ? -Infinity : untilMs - record.ttlSeconds * 1_000 - clockToleranceMs;
    times.set(record, (time = { fromMs, untilMs }));
  }
  return time;
}

/** Decoded once per record: this runs in every request. */
const times = new WeakMap<TokenRecord, { readonly fromMs: number; readonly untilMs: number }>();
