// Judges the machine's clock by what the appliance has seen: while it is implausible, certificates, expiry and rotation are held.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Job } from '../../core/base/context.ts';
import type { Store } from '../../core/store/store.ts';
import { formatTimestamp } from '../../core/base/time.ts';

/**
 * When this software was put together: nothing that it did can have happened before. A package or an image carries the time of its
 * release on its files, a clone that of the clone.
 */
export function softwareDate(): Temporal.Instant {
  const { mtimeMs } = statSync(join(import.meta.dirname, '../../package.json'));
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(mtimeMs));
}

/** Time servers correct a clock by less than this; a machine that lost its time is off by far more. */
const toleranceSeconds = 300;
/** How often the time is put on record, and how often other processes look whether a person has accepted the clock. */
const recordEverySeconds = 60;
const lookEveryMs = 1_000;

/** What the store keeps. Key: ['machine']. `accepted` counts how often a person said that the clock is right. */
type SeenTime = { readonly at: string; readonly accepted: number };

export type ClockWatch = {
  /**
   * The clock that the appliance uses. While the machine's is implausible it stays at the last time seen, so that no token that has
   * expired works again, and `doubt` says why.
   */
  readonly clock: Clock;
  /** Puts the time on record; for one process. */
  readonly job: Job;
  /** A person says that the machine's clock is right: it counts from now on, also when it goes back. */
  accept(): Promise<void>;
  /** Background work as long as the clock can be trusted; a turn that falls into doubt is left out. */
  held(job: Job): Job;
  stop(): void;
};

/** `earliest`: before this the clock is wrong whatever the store says. */
export function watchClock(store: Store, machine: Clock, earliest = softwareDate()): ClockWatch {
  const table = store.table<SeenTime>('seen-time');
  let accepted = -1;
  let floor = earliest;
  let floorMs = floor.epochMilliseconds;
  /** the latest time seen, for messages: `floor` before the tolerance */
  const raise = (instant: Temporal.Instant): void => {
    floor = instant;
    floorMs = instant.epochMilliseconds;
  };

  const isBehind = (now: Temporal.Instant): boolean => now.epochMilliseconds < floorMs - toleranceSeconds * 1_000;

  const look = (): void => {
    const seen = table.get(['machine']);
    const at = seen === undefined ? undefined : Temporal.Instant.from(seen.at);
    if (seen !== undefined && at !== undefined && seen.accepted !== accepted) {
      accepted = seen.accepted;
      raise(accepted === 0 && Temporal.Instant.compare(at, earliest) < 0 ? earliest : at);
    } else if (at !== undefined && Temporal.Instant.compare(at, floor) > 0) raise(at);
    const now = machine.now();
    if (!isBehind(now) && Temporal.Instant.compare(now, floor) > 0) raise(now);
  };

  const clock: Clock = {
    now() {
      const now = machine.now();
      return isBehind(now) ? floor : now;
    },
    monotonicMs: () => machine.monotonicMs(),
    get doubt() {
      const now = machine.now();
      if (!isBehind(now)) return undefined;
      return `the clock says ${formatTimestamp(now)}, but it was ${formatTimestamp(floor)} already: set it, or accept it if it is right`;
    },
  };

  store.refresh();
  look();
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // Thrown from a timer it would end the process; a store that cannot be read now is looked at again in a second.
    }
  }, lookEveryMs).unref();
  return {
    clock,
    job: {
      name: 'seen-time',
      everySeconds: recordEverySeconds,
      async run() {
        if (clock.doubt !== undefined) return;
        const at = formatTimestamp(machine.now());
        await store.write((transaction) => {
          const seen = transaction.get(table, ['machine']);
          if (seen === undefined || seen.at < at) transaction.put(table, ['machine'], { at, accepted: seen?.accepted ?? 0 });
        });
      },
    },
    async accept() {
      const at = formatTimestamp(machine.now());
      await store.write((transaction) => {
        const seen = transaction.get(table, ['machine']);
        transaction.put(table, ['machine'], { at, accepted: (seen?.accepted ?? 0) + 1 });
      });
      look();
    },
    held: (job) => ({ ...job, run: async (signal) => (clock.doubt === undefined ? job.run(signal) : undefined) }),
    stop: () => clearInterval(timer),
  };
}
