// Compares the machine's clock with those of the other appliances, which outvote it, and with the latest time seen. While it is implausible,
// certificates, expiry and rotation are held.
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Clock, Job } from '../../core/base/context.ts';
import { clockToleranceMs } from '../../core/cluster/clocks.ts';
import { defined } from '../../core/base/defined.ts';
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
const toleranceMs = 300_000;
/** A clock that was corrected back by less is waited for: meanwhile the time goes this much slower than it passes, so that it is never over. */
const waitingPace = 0.9;
/** How often the time is recorded, and how often other processes check whether a person has accepted the clock. */
const recordEverySeconds = 60;
const lookEveryMs = 1_000;

/** Key of what was seen by the appliance that a cluster began with, before it began. */
const aloneKey = ['machine'];

/**
 * What the store keeps. Key: ['machine'], in a cluster ['machine', id of the appliance], so that a clock that is ahead holds up no other
 * machine. `accepted` counts how often a person has accepted the clock.
 */
type SeenTime = { readonly at: string; readonly accepted: number; readonly sinceBoot?: BootTime };

/** How long the machine has been up, on the clock that nobody sets and all its processes share. `boot` tells one start of it from others. */
export type BootTime = { readonly boot: string; readonly ms: number };

/** Undefined where the system does not say it. */
export function readBootTime(): BootTime | undefined {
  try {
    // A container may have a clock of its own.
    const boot = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/time')}`;
    return { boot, ms: Number(process.hrtime.bigint() / 1_000_000n) };
  } catch {
    return undefined;
  }
}

export type ClockWatch = {
  /**
   * The clock that the appliance uses: the machine's, unless those of most other appliances differ, which it goes by then (`correction`). While
   * that is implausible it goes on from the last time seen, and `doubt` says why. It never goes back, unless a person accepts that: no token
   * that has ended works again, and it never stands still: what is to end ends.
   */
  readonly clock: Clock;
  /** Records the time; runs in one process. */
  readonly job: Job;
  /** The same, before the process that runs the job ends or is sealed. */
  record(): Promise<void>;
  /** Calls back when a person has accepted a clock that is before the time that was used: what was made meanwhile begins in the future. */
  onSetBack(listener: () => void): void;
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
  /** default: nobody knows, so that a process begins with what was recorded */
  readonly sinceBoot?: () => BootTime | undefined;
  /** the latest time in the audit trail, which is written more often; it counts as far as the record should have been written since */
  readonly inTrail?: Temporal.Instant | undefined;
};

export function watchClock(
  store: Store,
  machine: Clock,
  { earliest = softwareDate(), othersMs = () => undefined, sinceBoot = () => undefined, inTrail }: ClockWatchOptions = {},
): ClockWatch {
  const table = store.table<SeenTime>('seen-time');
  const key = ownKey(store, 'machine');
  const setBack = new Set<() => void>();
  let accepted = -1;
  let isBeginning = true;
  /** the time that was used last, and when that was on the clock that nobody sets */
  let used = { ms: earliest.epochMilliseconds, atMs: machine.monotonicMs() };
  const use = (ms: number): void => {
    used = { ms, atMs: machine.monotonicMs() };
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

  /** What the time would be if the clock had not been set since it was used. */
  const runOnMs = (): number => used.ms + machine.monotonicMs() - used.atMs;
  const isBehind = (now: Temporal.Instant): boolean => now.epochMilliseconds < runOnMs() - toleranceMs;

  const time = (): Temporal.Instant => {
    const now = likely();
    const isDoubted = isBehind(now);
    const leastMs = isDoubted ? runOnMs() : used.ms + (machine.monotonicMs() - used.atMs) * waitingPace;
    use(isDoubted ? leastMs : Math.max(now.epochMilliseconds, leastMs));
    return now.epochMilliseconds >= leastMs ? now : instantOf(leastMs);
  };

  /** What a process begins with that finds this record: nothing that ended since it was written may work again. */
  const beginningMs = ({ at, sinceBoot: then }: SeenTime): number => {
    const recordedMs = Temporal.Instant.from(at).epochMilliseconds;
    const now = sinceBoot();
    const passedMs = now !== undefined && now.boot === then?.boot ? Math.max(0, now.ms - then.ms) : 0;
    const trailMs = inTrail?.epochMilliseconds ?? 0;
    return Math.max(recordedMs + passedMs, trailMs <= recordedMs + toleranceMs ? trailMs : 0);
  };

  const look = (): void => {
    const seen = table.get(key) ?? table.get(aloneKey);
    if (seen === undefined) return void time();
    const atMs = Temporal.Instant.from(seen.at).epochMilliseconds;
    if (seen.accepted !== accepted) {
      accepted = seen.accepted;
      const [beforeMs, leastMs] = [runOnMs(), isBeginning ? beginningMs(seen) : atMs];
      use(accepted === 0 ? Math.max(leastMs, earliest.epochMilliseconds) : leastMs);
      if (leastMs < beforeMs) for (const tell of setBack) tell();
    } else if (atMs > runOnMs()) use(atMs);
    time();
  };

  const record = async (): Promise<void> => {
    store.refresh();
    look();
    // Also while it is in doubt: what ended meanwhile is over after a restart, too.
    const at = formatTimestamp(time());
    const own = accepted;
    await store.write((transaction) => {
      const seen = transaction.get(table, key) ?? transaction.get(table, aloneKey);
      // Another process has accepted a clock since: this time is one that a person has called wrong.
      if (seen !== undefined && (seen.accepted !== own || seen.at >= at)) return;
      transaction.put(table, key, { at, accepted: seen?.accepted ?? 0, ...defined({ sinceBoot: sinceBoot() }) });
    });
  };

  const clock: Clock = {
    now: time,
    monotonicMs: () => machine.monotonicMs(),
    get doubt() {
      const now = likely();
      if (!isBehind(now)) return undefined;
      const was = formatTimestamp(instantOf(runOnMs()));
      return `the clock says ${formatTimestamp(now)}, but it was ${was} already: set it, or accept it if it is right`;
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
  isBeginning = false;
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
      whileClockInDoubt: true,
      isOfEach: true,
      run: record,
    },
    record,
    onSetBack: (listener) => void setBack.add(listener),
    async accept() {
      const at = formatTimestamp(likely());
      await store.write((transaction) => {
        const seen = transaction.get(table, key) ?? transaction.get(table, aloneKey);
        transaction.put(table, key, { at, accepted: (seen?.accepted ?? 0) + 1, ...defined({ sinceBoot: sinceBoot() }) });
      });
      look();
    },
    held: (job) => ({ ...job, run: async (signal) => (clock.doubt === undefined ? job.run(signal) : undefined) }),
    stop: () => clearInterval(timer),
  };
}

function instantOf(ms: number): Temporal.Instant {
  return Temporal.Instant.fromEpochMilliseconds(Math.ceil(ms));
}
