// Limits failed logins per minute. They are counted in the store, so that all workers count together and a restart keeps the count.
import { fail, type ServiceError } from '../../base/errors.ts';
import { keyedDigest } from '../../store/records/keyed-digest.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import { type Store, type StoreKey, type Table, Unreadable, type WriteTransaction } from '../../store/store.ts';

/** Milliseconds since 1970 of the failures of the last minute, oldest first. */
type Failures = readonly number[];

const windowMs = 60_000;

/** Limits failed logins of every kind from one address (api 73). */
export function limitByAddress(store: Store): AttemptLimit {
  return new AttemptLimit(store, 'address', 60);
}

/** The refusal after too many failed logins. */
export function tooManyFailures(retryAfterSeconds: number): ServiceError {
  return fail('rate-limited', { detail: 'Too many failed logins; try again later.', retryAfterSeconds });
}

/** Slot in which the failures of a subject are counted. */
export type AttemptSlot = readonly [kind: string, slot: string];

/**
 * Counts failures per subject without storing the subject: a keyed digest of it selects one of 2^18 slots. That bounds the memory
 * whatever unauthenticated callers send. Two subjects share a slot with a chance of 1 in 262,144, and no caller can choose which.
 */
export class AttemptLimit {
  readonly #store: Store;
  readonly #kind: string;
  readonly #perMinute: number;
  readonly #table: Table<Failures>;

  constructor(store: Store, kind: string, perMinute: number) {
    this.#store = store;
    this.#kind = kind;
    this.#perMinute = perMinute;
    this.#table = failureTable(store);
  }

  /** Computes the slot of a subject, once per attempt, because it takes a digest. */
  slotOf(who: string): AttemptSlot {
    return [this.#kind, keyedDigest(this.#store, ['attempts', this.#kind, who]).slice(0, 3)];
  }

  /** Seconds until the next attempt is accepted; 0 for now. */
  secondsToWait(slot: AttemptSlot, nowMs: number, read: WriteTransaction['get'] = (table, key) => table.get(key)): number {
    const failures = recent(read(this.#table, slot), nowMs);
    const [oldest] = failures.slice(-this.#perMinute);
    return failures.length < this.#perMinute || oldest === undefined ? 0 : (oldest + windowMs - nowMs) / 1_000;
  }

  /** Counts a failure. */
  count(transaction: WriteTransaction, slot: AttemptSlot, nowMs: number): void {
    const failures = recent(transaction.get(this.#table, slot), nowMs);
    transaction.put(this.#table, slot, [...failures, nowMs].slice(-this.#perMinute));
  }
}

/** Removes failures that no longer count. */
export async function dropOldFailures(store: Store, nowMs: number, signal: AbortSignal): Promise<void> {
  const table = failureTable(store);
  const isOld = (failures: Failures | Unreadable): boolean => failures instanceof Unreadable || recent(failures, nowMs).length === 0;
  const old = [...table.entriesFound([])].filter(([, failures]) => isOld(failures)).map(([key]) => key);
  const drop = (transaction: WriteTransaction, key: StoreKey): void => {
    if (!transaction.deleteUnreadable(table, key) && recent(transaction.get(table, key), nowMs).length === 0)
      transaction.delete(table, key);
  };
  await writeInPieces(store, old, drop, signal);
}

const failureTable = (store: Store): Table<Failures> => store.table<Failures>('login-failures');
export const failureTableKinds: TableKinds = { 'login-failures': { of: 'all', fills: true } };

/**
 * The failures of the last minute. Transactions of two workers may commit in another order than their times, so a failure may be a
 * little ahead; but a clock that was set back must not prolong the wait.
 */
function recent(failures: Failures = [], nowMs: number): Failures {
  return failures.filter((atMs) => Math.abs(nowMs - atMs) < windowMs);
}
