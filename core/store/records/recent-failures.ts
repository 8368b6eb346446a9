// Counts failures of a subject over the last minute, in the store: all workers count together, and a restart keeps the count.
import { writeInPieces } from './pieces.ts';
import { type Store, type StoreKey, type Table, Unreadable, type WriteTransaction } from '../store.ts';

/** Milliseconds since 1970 of the failures of the last minute, oldest first. */
type Times = readonly number[];

/** Form in which a table keeps the failures of a subject. */
export type FailureForm<R> = {
  readonly table: Table<R>;
  /** highest limit that is asked about; older failures are forgotten */
  readonly remembered: number;
  readonly timesOf: (record: R) => Times;
  readonly recordOf: (times: Times) => R;
};

const windowMs = 60_000;

export class RecentFailures<R> {
  readonly #form: FailureForm<R>;

  constructor(form: FailureForm<R>) {
    this.#form = form;
  }

  /** Seconds until a subject has fewer failures than `limit`, or none if that is below 1; 0 for now. */
  secondsToWait(key: StoreKey, limit: number, nowMs: number, read: WriteTransaction['get'] = (table, at) => table.get(at)): number {
    const last = recent(this.#form, read(this.#form.table, key), nowMs).at(-Math.max(limit, 1));
    return last === undefined ? 0 : (last + windowMs - nowMs) / 1_000;
  }

  /** Counts a failure. */
  count(transaction: WriteTransaction, key: StoreKey, nowMs: number): void {
    const { table, remembered, recordOf } = this.#form;
    const times = recent(this.#form, transaction.get(table, key), nowMs);
    transaction.put(table, key, recordOf([...times, nowMs].slice(-remembered)));
  }

  /** Removes failures that no longer count. */
  async dropOld(store: Store, nowMs: number, signal?: AbortSignal): Promise<void> {
    const { table } = this.#form;
    const isOver = (record: R | undefined): boolean => recent(this.#form, record, nowMs).length === 0;
    const over = [...table.entriesFound([])].filter(([, record]) => record instanceof Unreadable || isOver(record));
    const drop = (transaction: WriteTransaction, [key]: (typeof over)[number]): void => {
      if (!transaction.deleteUnreadable(table, key) && isOver(transaction.get(table, key))) transaction.delete(table, key);
    };
    await writeInPieces(store, over, drop, signal);
  }
}

/**
 * The failures of the last minute. Transactions of two workers may commit in another order than their times, so a failure may be a
 * little ahead; but a clock that was set back must not prolong the wait.
 */
function recent<R>({ timesOf }: FailureForm<R>, record: R | undefined, nowMs: number): Times {
  return record === undefined ? [] : timesOf(record).filter((atMs) => Math.abs(nowMs - atMs) < windowMs);
}
