// Counts of the uses of one key version in one process.
import { smallestReserve } from './usage-record.ts';

/** Uses of one version in this process: the rest of its reserve, and counts that are not stored yet. */
export type Meter = {
  readonly storeKey: readonly [string, string, number];
  readonly limited: boolean;
  /** the store has a record: the version counts as used */
  opened: boolean;
  left: number;
  nextReserve: number;
  /** uses in a period in which nothing can be written, by the most that was used in one before */
  ahead: number;
  reserving: Promise<void> | undefined;
  uses: number;
  rewrapped: number;
  lastUsedAt: number;
  refused: number;
  lastRefusedAt: number;
  /** counts or the last use wait to be stored */
  waits: boolean;
  /** number of the flush at which it was used last */
  usedAt: number;
  /** number of the flush at which its counts were stored last */
  storedAt: number;
};

/** `left`: of a reserve that an earlier meter of the version held; `flush`: the number of the last one. */
export function newMeter(storeKey: Meter['storeKey'], { limited, left, flush }: { limited: boolean; left: number; flush: number }): Meter {
  return {
    storeKey,
    limited,
    opened: left > 0,
    left,
    nextReserve: smallestReserve,
    ahead: 0,
    reserving: undefined,
    uses: 0,
    rewrapped: 0,
    lastUsedAt: 0,
    refused: 0,
    lastRefusedAt: 0,
    waits: false,
    usedAt: flush,
    storedAt: flush,
  };
}
