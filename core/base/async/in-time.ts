// A bound for work that may never end.
import { setTimeout } from 'node:timers/promises';

/**
 * Resolves with the outcome of `work`, or after `ms` with that of `late`, which ends the work or reports that it continues. A later failure
 * of the work is ignored.
 */
export async function inTime<T>(work: Promise<T>, ms: number, late: () => T | Promise<T>): Promise<T> {
  const over = new AbortController();
  const waited = setTimeout(ms, undefined, { ref: false, signal: over.signal }).then(
    () => true,
    () => false,
  );
  work.catch(() => undefined);
  try {
    return await Promise.race([work, waited.then((isLate) => (isLate ? late() : work))]);
  } finally {
    over.abort();
  }
}
