// Limits failed logins per minute, of a role-id and of an address.
import { fail, type ServiceError } from '../../base/errors.ts';
import { keyedDigest } from '../../store/records/keyed-digest.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import { RecentFailures } from '../../store/records/recent-failures.ts';

/** Limits failed logins of every kind from one address. */
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
  readonly #failures: RecentFailures<readonly number[]>;

  constructor(store: Store, kind: string, perMinute: number) {
    this.#store = store;
    this.#kind = kind;
    this.#perMinute = perMinute;
    this.#failures = failuresIn(store, perMinute);
  }

  /** Computes the slot of a subject, once per attempt, because it takes a digest. */
  slotOf(who: string): AttemptSlot {
    return [this.#kind, keyedDigest(this.#store, ['attempts', this.#kind, who]).slice(0, 3)];
  }

  /** Seconds until the next attempt is accepted; 0 for now. */
  secondsToWait(slot: AttemptSlot, nowMs: number, read?: WriteTransaction['get']): number {
    return this.#failures.secondsToWait(slot, this.#perMinute, nowMs, read);
  }

  /** Counts a failure. */
  count(transaction: WriteTransaction, slot: AttemptSlot, nowMs: number): void {
    this.#failures.count(transaction, slot, nowMs);
  }
}

/** Removes failures that no longer count. */
export async function dropOldFailures(store: Store, nowMs: number, signal: AbortSignal): Promise<void> {
  await failuresIn(store, 0).dropOld(store, nowMs, signal);
}

function failuresIn(store: Store, remembered: number): RecentFailures<readonly number[]> {
  const table = store.table<readonly number[]>('login-failures');
  return new RecentFailures({ table, remembered, timesOf: (times) => times, recordOf: (times) => times });
}

export const failureTableKinds: TableKinds = { 'login-failures': { of: 'all', fills: true } };
