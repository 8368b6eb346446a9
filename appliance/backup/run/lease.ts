// One at a time, over all workers and appliances: the record of the backup or drill that runs, with its progress, kept fresh until it ends.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import { decodeTimestamp, formatTimestamp } from '../../../core/base/time.ts';
import { getIfOpen, getOrDrop, type Store, type Table, type WriteTransaction } from '../../../core/store/store.ts';
import { type Purpose, type RunningRecord, runningKey, runningTable } from './record.ts';

const beatMs = 1_000;
/** Older than this, a record is of a process that was killed. */
const staleSeconds = 60;

export type Progress = Partial<Pick<RunningRecord, 'stage' | 'target' | 'doneBytes' | 'totalBytes'>>;

/** The right to make a backup, held until `end`. */
export type Lease = {
  progress(progress: Progress): void;
  /** Also runs a change in the transaction that gives the right back. */
  end(change?: (transaction: WriteTransaction) => void): Promise<void>;
};

/** Takes the right; `begin` runs in the same transaction. Throws `backup-running`. */
export async function takeLease(
  store: Store,
  clock: Clock,
  purpose: Purpose,
  begin: (transaction: WriteTransaction) => void = () => undefined,
): Promise<Lease> {
  const facts = { purpose, stage: 'copying', target: '', doneBytes: 0, totalBytes: 0 } as const;
  return holdRecord<RunningRecord>(store, clock, runningTable(store), facts, {
    begin,
    refusal: ({ startedAt }) =>
      fail('backup-running', {
        detail: `A backup has been running since ${startedAt}: try again when it has ended; backup-status tells how far it is.`,
      }),
  });
}

/** A record that is kept fresh while its process works. */
export type Beating = Pick<RunningRecord, 'id' | 'appliance' | 'pid' | 'startedAt' | 'beatAt'>;

/** Holds the one record of a table until `end`. Throws `refusal` while another process holds it. */
export async function holdRecord<R extends Beating>(
  store: Store,
  clock: Clock,
  table: Table<R>,
  facts: Omit<R, keyof Beating>,
  {
    refusal,
    begin = () => undefined,
  }: { readonly refusal: (present: R) => Error; readonly begin?: (transaction: WriteTransaction) => void },
): Promise<{ progress(progress: Partial<R>): void; end: Lease['end'] }> {
  const now = (): string => formatTimestamp(clock.now());
  const beating: Beating = {
    ...{ id: randomUUID(), ...defined({ appliance: store.appliance }), pid: process.pid, startedAt: now(), beatAt: now() },
  };
  let own = { ...facts, ...beating } as R;
  await store.write((transaction) => {
    const present = getOrDrop(transaction, table, runningKey);
    if (present !== undefined && isLive(present, store, clock)) throw refusal(present);
    transaction.put(table, runningKey, own);
    begin(transaction);
  });
  const beat = async (): Promise<void> => {
    own = { ...own, beatAt: now() };
    await store.write((transaction) => {
      if (getOrDrop(transaction, table, runningKey)?.id === own.id) transaction.put(table, runningKey, own);
    });
  };
  // A full disk fails the work itself, not its progress.
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs).unref();
  let isEnded = false;
  return {
    progress: (progress) => void (own = { ...own, ...progress }),
    async end(change = () => undefined) {
      if (isEnded) return;
      isEnded = true;
      clearInterval(timer);
      await store.write((transaction) => {
        if (getOrDrop(transaction, table, runningKey)?.id === own.id) transaction.delete(table, runningKey);
        change(transaction);
      });
    },
  };
}

/** Releases the record of a permanently departed appliance. */
export function releaseRecordOf<R extends Beating>(transaction: WriteTransaction, table: Table<R>, appliance: string): void {
  if (getOrDrop(transaction, table, runningKey)?.appliance === appliance) transaction.delete(table, runningKey);
}

/** The backup that runs now, in whatever process. */
export function findRunning(store: Store, clock: Clock): RunningRecord | undefined {
  return findHeld(store, clock, runningTable(store));
}

/** The record of the process that works now, whichever it is. */
export function findHeld<R extends Beating>(store: Store, clock: Clock, table: Table<R>): R | undefined {
  const present = getIfOpen(table, runningKey);
  return present !== undefined && isLive(present, store, clock) ? present : undefined;
}

function isLive({ appliance, beatAt, pid }: Beating, store: Store, clock: Clock): boolean {
  const beat = decodeTimestamp(beatAt)?.epochMilliseconds ?? 0;
  const isFresh = Math.abs(clock.now().epochMilliseconds - beat) < staleSeconds * 1_000;
  return isFresh && (appliance !== store.appliance || isRunning(pid));
}

/** All workers of an appliance are processes of one machine and user. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
