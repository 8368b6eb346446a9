// Compares the machine's clock with those of the other appliances, which outvote it, and with the latest time seen. While it is implausible,
// certificates, expiry and rotation are held.
import { statSync } from 'node:fs';
import type { Clock, Job } from '../../core/base/context.ts';
import { clockToleranceMs } from '../../core/cluster/clocks.ts';
import { ownKey, type Store } from '../../core/store/store.ts';
import { formatTimestamp } from '../../core/base/time.ts';

/**
 * The build time of this software, the earliest plausible time. Files of a package or an image have the time of the release, those of a
 * clone the time of the clone.
 */
export function softwareDate(): Temporal.Instant {
  const { mtimeMs } = statSync(new URL('../../package.json', import.meta.url));
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(mtimeMs));
}

/** Time servers correct a clock by less than this; a machine that lost its time differs by far more. */
const toleranceSeconds = 300;
/** How often the time is recorded, and how often other processes check whether a person has accepted the clock. */
const recordEverySeconds = 60;
const lookEveryMs = 1_000;

/** Key of what was seen by the appliance that a cluster began with, before it began. */
const aloneKey = ['machine'];

/**
 * What the store keeps. Key: ['machine'], in a cluster ['machine', id of the appliance], so that a clock that is ahead holds up no other
 * machine. `accepted` counts how often a person has accepted the clock.
 */
type SeenTime = { readonly at: string; readonly accepted: number };

export type ClockWatch = {
  /**
   * The clock that the appliance uses: the machine's, unless those of most other appliances differ, which it goes by then (`correction`). While
   * that is implausible it stays at the last time seen, so that no token that has expired works again, and `doubt` says why.
   */
  readonly clock: Clock;
  /** Records the time; runs in one process. */
  readonly job: Job;
  /** A person accepts the machine's clock: it is used from now on, even if it goes back. Where others outvote it, theirs. */
  accept(): Promise<void>;
  /** The job, skipped while the clock is implausible. */
  held(job: Job): Job;
  stop(): void;
};

type ClockWatchOptions = {
  /** A clock before this is wrong, whatever the store has recorded. */
  readonly earliest?: Temporal.Instant;
  /** what the clocks of most other appliances show, in milliseconds since 1970; default: nobody knows */
  readonly othersMs?: () => number | undefined;
};

export function watchClock(
  store: Store,
  machine: Clock,
  { earliest = softwareDate(), othersMs = () => undefined }: ClockWatchOptions = {},
): ClockWatch {
  const table = store.table<SeenTime>('seen-time');
  const key = ownKey(store, 'machine');
  let accepted = -1;
  let floor = earliest;
  let floorMs = floor.epochMilliseconds;
  /** the latest time seen, for messages: `floor` before the tolerance */
  const raise = (instant: Temporal.Instant): void => {
    floor = instant;
    floorMs = instant.epochMilliseconds;
  };

  /** What others say, where the machine's clock is wrong by that. */
  const outvoted = (now: Temporal.Instant): Temporal.Instant | undefined => {
    const others = othersMs();
    if (others === undefined || Math.abs(others - now.epochMilliseconds) <= clockToleranceMs) return undefined;
    return Temporal.Instant.fromEpochMilliseconds(Math.round(others));
  };
  const likely = (): Temporal.Instant => {
    const now = machine.now();
    return outvoted(now) ?? now;
  };

  const isBehind = (now: Temporal.Instant): boolean => now.epochMilliseconds < floorMs - toleranceSeconds * 1_000;

  const look = (): void => {
    const seen = table.get(key) ?? table.get(aloneKey);
    const at = seen === undefined ? undefined : Temporal.Instant.from(seen.at);
    if (seen !== undefined && at !== undefined && seen.accepted !== accepted) {
      accepted = seen.accepted;
      raise(accepted === 0 && Temporal.Instant.compare(at, earliest) < 0 ? earliest : at);
    } else if (at !== undefined && Temporal.Instant.compare(at, floor) > 0) raise(at);
    const now = likely();
    if (!isBehind(now) && Temporal.Instant.compare(now, floor) > 0) raise(now);
  };

  const clock: Clock = {
    now() {
      const now = likely();
      return isBehind(now) ? floor : now;
    },
    monotonicMs: () => machine.monotonicMs(),
    get doubt() {
      const now = likely();
      if (!isBehind(now)) return undefined;
      return `the clock says ${formatTimestamp(now)}, but it was ${formatTimestamp(floor)} already: set it, or accept it if it is right`;
    },
    get correction() {
      const now = machine.now();
      const others = outvoted(now);
      if (others === undefined) return undefined;
      return `the clock says ${formatTimestamp(now)}, but those of most other appliances say ${formatTimestamp(others)}, which is used: set it`;
    },
  };

  store.refresh();
  look();
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // An error in a timer would end the process; the store is read again in a second.
    }
  }, lookEveryMs).unref();
  return {
    clock,
    job: {
      name: 'seen-time',
      everySeconds: recordEverySeconds,
      isOfEach: true,
      async run() {
        if (clock.doubt !== undefined) return;
        const at = formatTimestamp(likely());
        await store.write((transaction) => {
          const seen = transaction.get(table, key) ?? transaction.get(table, aloneKey);
          if (seen === undefined || seen.at < at) transaction.put(table, key, { at, accepted: seen?.accepted ?? 0 });
        });
      },
    },
    async accept() {
      const at = formatTimestamp(likely());
      await store.write((transaction) => {
        const seen = transaction.get(table, key) ?? transaction.get(table, aloneKey);
        transaction.put(table, key, { at, accepted: (seen?.accepted ?? 0) + 1 });
      });
      look();
    },
    held: (job) => ({ ...job, run: async (signal) => (clock.doubt === undefined ? job.run(signal) : undefined) }),
    stop: () => clearInterval(timer),
  };
}
