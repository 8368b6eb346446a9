// Limits failed logins a minute: counted in the store, so that all workers count together and a restart forgets nothing.
import { fail, type ServiceError } from '../../base/errors.ts';
import { keyedDigest } from '../../store/keyed-digest.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';

/** Milliseconds since 1970 of the failures of the last minute, oldest first. */
type Failures = readonly number[];

const windowMs = 60_000;

/** Failed logins of every kind, from one address in a minute (api 73). */
export function limitByAddress(store: Store): AttemptLimit {
  return new AttemptLimit(store, 'address', 60);
}

/** The refusal of whoever failed too often. */
export function tooManyFailures(retryAfterSeconds: number): ServiceError {
  return fail('rate-limited', { detail: 'Too many failed logins; try again later.', retryAfterSeconds });
}

/**
 * Failures by whoever they are counted for. Who that is stands nowhere: a keyed digest of it chooses one of 2^18 slots. That bounds
 * the memory whatever strangers send, at the price that one in 262,144 shares a slot with a given other; nobody can choose whose.
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

  /** Seconds until an attempt is looked at again; 0 when it is now. */
  secondsToWait(who: string, nowMs: number, read: WriteTransaction['get'] = (table, key) => table.get(key)): number {
    const failures = recent(read(this.#table, this.#slotOf(who)), nowMs);
    const [oldest] = failures.slice(-this.#perMinute);
    return failures.length < this.#perMinute || oldest === undefined ? 0 : (oldest + windowMs - nowMs) / 1_000;
  }

  /** Counts a failure. */
  count(transaction: WriteTransaction, who: string, nowMs: number): void {
    const slot = this.#slotOf(who);
    const failures = recent(transaction.get(this.#table, slot), nowMs);
    transaction.put(this.#table, slot, [...failures, nowMs].slice(-this.#perMinute));
  }

  #slotOf(who: string): readonly [kind: string, slot: string] {
    return [this.#kind, keyedDigest(this.#store, ['attempts', this.#kind, who]).slice(0, 3)];
  }
}

/** Forgets failures that count no more. */
export async function dropOldFailures(store: Store, nowMs: number, signal: AbortSignal): Promise<void> {
  const table = failureTable(store);
  const old = [...table.entries([])].filter(([, failures]) => recent(failures, nowMs).length === 0).map(([key]) => key);
  for (let from = 0; from < old.length && !signal.aborted; from += batchSize) {
    await store.write((transaction) => {
      for (const key of old.slice(from, from + batchSize)) {
        if (recent(transaction.get(table, key), nowMs).length === 0) transaction.delete(table, key);
      }
    });
  }
}

/** Removed in one transaction; others wait for it. */
const batchSize = 500;

const failureTable = (store: Store): Table<Failures> => store.table<Failures>('login-failures');

/**
 * Those of the last minute. The turns of two workers may have begun in another order than their transactions, so a little ahead counts
 * as well; but a clock that was set back must not lock anybody out for longer.
 */
function recent(failures: Failures = [], nowMs: number): Failures {
  return failures.filter((atMs) => Math.abs(nowMs - atMs) < windowMs);
}
