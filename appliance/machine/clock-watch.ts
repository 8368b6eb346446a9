// Compares the machine's clock with those of the other appliances, which outvote it, and with the latest time seen. While it is
// implausible, certificates, expiry and rotation are held.
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import type { Clock, Job } from '../../core/base/context.ts';
import { clockToleranceMs } from '../../core/cluster/clocks.ts';
import { defined } from '../../core/base/defined.ts';
import { ownKey, type Store, type StoreKey, type Table, type WriteTransaction } from '../../core/store/store.ts';
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
/**
 * A clock that was corrected back by less is waited for: meanwhile the time goes this much slower than it passes, so that it is never over.
 */
const waitingPace = 0.9;
/**
 * A clock that goes ahead at once by more than this is told: while processes run or the machine is up, which measure what has passed; after
 * a restart of the machine, for which it may have been off, by more than the second.
 */
const [mostAheadMs, mostOffMs] = [86_400_000, 30 * 86_400_000];
/** Interval at which the time is recorded, and at which other processes check whether a person has accepted the clock. */
const recordEverySeconds = 60;
const lookEveryMs = 1_000;

/** Key of the time seen by the appliance that a cluster began with, before it began. */
const aloneKey = ['machine'];

/**
 * Record in the store. Key: ['machine'], in a cluster ['machine', id of the appliance], so that a clock that is ahead holds up no other
 * machine. `accepted`: number of times that a person has accepted the clock.
 */
type SeenTime = { readonly at: string; readonly accepted: number; readonly sinceBoot?: BootTime };

/** Uptime of the machine, on the clock that nobody sets and all its processes share. `boot` tells one start of it from others. */
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

/** A step of the clock, from the time that would be without it. `wasOff`: during a restart of the machine, whose length is unknown. */
export type StepAhead = { readonly from: Temporal.Instant; readonly to: Temporal.Instant; readonly wasOff: boolean };

export type ClockWatch = {
  /**
   * The clock that the appliance uses: the machine's, or if it differs from those of most other appliances, theirs (`correction`). While
   * that is implausible it goes on from the last time seen, and `doubt` tells the reason. It never goes back, unless a person accepts that,
   * so that no ended token works again; and it never stops, so that whatever is to end does end.
   */
  readonly clock: Clock;
  /** Records the time; runs in one process. */
  readonly job: Job;
  /** The same, before the process that runs the job ends or is sealed. */
  record(): Promise<void>;
  /** Calls back when a person has accepted a clock that is before the used time: entries made meanwhile begin in the future. */
  onSetBack(listener: () => void): void;
  /** Calls back with each large step ahead, also with one before the call. The time is used all the same: it may have passed. */
  onStepAhead(listener: (step: StepAhead) => void): void;
  /** A person accepts the machine's clock: it is used from now on, even if it goes back. Where others outvote it, theirs. */
  accept(): Promise<void>;
  /** The job, skipped while the clock is implausible. */
  held(job: Job): Job;
  stop(): void;
};

type ClockWatchOptions = {
  /** A clock before this is wrong, whatever the store has recorded. */
  readonly earliest?: Temporal.Instant;
  /** time by the clocks of most other appliances, in milliseconds since 1970; default: unknown */
  readonly othersMs?: () => number | undefined;
  /** default: unknown, so that a process begins with the recorded time */
  readonly sinceBoot?: () => BootTime | undefined;
  /** the latest time in the audit trail, which is written more often; it counts as far as the record should have been written since */
  readonly inTrail?: Temporal.Instant | undefined;
};

export const clockTableKinds: TableKinds = { 'seen-time': { of: 'each' } };

/** The watch works from the first look, which it has taken when this returns. */
export function watchClock(store: Store, machine: Clock, options: ClockWatchOptions = {}): ClockWatch {
  return new WatchedClock(store, machine, options);
}

class WatchedClock implements ClockWatch {
  readonly #store: Store;
  readonly #table: Table<SeenTime>;
  readonly #key: StoreKey;
  readonly #machine: Clock;
  readonly #options: Required<Omit<ClockWatchOptions, 'inTrail'>> & Pick<ClockWatchOptions, 'inTrail'>;
  readonly #setBack = new Set<() => void>();
  readonly #ahead = new Set<(step: StepAhead) => void>();
  readonly #stepsAhead: StepAhead[] = [];
  /** nothing is told before a time was seen */
  #mostAheadMs = Infinity;
  readonly #timer: NodeJS.Timeout;
  readonly clock: Clock;
  readonly job: Job = {
    name: 'seen-time',
    everySeconds: recordEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    run: () => this.record(),
  };
  #accepted = -1;
  #isBeginning = true;
  /** the time used last, and its moment on the clock that nobody sets */
  #used: { readonly ms: number; readonly atMs: number };

  constructor(store: Store, machine: Clock, options: ClockWatchOptions) {
    this.#store = store;
    this.#table = store.table<SeenTime>('seen-time');
    this.#key = ownKey(store, 'machine');
    this.#machine = machine;
    this.#options = { earliest: softwareDate(), othersMs: () => undefined, sinceBoot: () => undefined, ...options };
    this.#used = { ms: this.#options.earliest.epochMilliseconds, atMs: machine.monotonicMs() };
    this.clock = this.#makeClock();
    store.refresh();
    this.#look();
    this.#isBeginning = false;
    this.#mostAheadMs = mostAheadMs;
    this.#timer = setInterval(() => {
      try {
        this.#look();
      } catch {
        // An error in a timer would end the process; the store is read again in a second.
      }
    }, lookEveryMs).unref();
  }

  async record(): Promise<void> {
    const store = this.#store;
    store.refresh();
    this.#look();
    // Also while it is in doubt: whatever ended meanwhile stays ended after a restart.
    const at = formatTimestamp(this.#time());
    const own = this.#accepted;
    await store.write((transaction) => {
      const seen = this.#seenIn(transaction);
      // Another process has accepted a clock since: this time is one that a person has called wrong.
      if (seen !== undefined && (seen.accepted !== own || seen.at >= at)) return;
      this.#put(transaction, at, seen?.accepted ?? 0);
    });
  }

  onSetBack(listener: () => void): void {
    this.#setBack.add(listener);
  }

  onStepAhead(listener: (step: StepAhead) => void): void {
    this.#ahead.add(listener);
    for (const step of this.#stepsAhead.splice(0)) listener(step);
  }

  async accept(): Promise<void> {
    const at = formatTimestamp(this.#likely());
    await this.#store.write((transaction) => this.#put(transaction, at, (this.#seenIn(transaction)?.accepted ?? 0) + 1));
    this.#look();
  }

  held(job: Job): Job {
    return { ...job, run: async (signal) => (this.clock.doubt === undefined ? job.run(signal) : undefined) };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #makeClock(): Clock {
    const doubt = (): string | undefined => this.#doubt();
    const correction = (): string | undefined => this.#correction();
    return {
      now: () => this.#time(),
      monotonicMs: () => this.#machine.monotonicMs(),
      get doubt() {
        return doubt();
      },
      get correction() {
        return correction();
      },
    };
  }

  #doubt(): string | undefined {
    const now = this.#likely();
    if (!this.#isBehind(now)) return undefined;
    const was = formatTimestamp(instantOf(this.#runOnMs()));
    return `the clock says ${formatTimestamp(now)}, but it was ${was} already: set it, or accept it if it is right`;
  }

  #correction(): string | undefined {
    const now = this.#machine.now();
    const others = this.#outvoted(now);
    if (others === undefined) return undefined;
    return `the clock says ${formatTimestamp(now)}, but those of most other appliances say ${formatTimestamp(others)}, which is used: set it`;
  }

  /** Time of the other appliances, if the machine's clock differs from it. */
  #outvoted(now: Temporal.Instant): Temporal.Instant | undefined {
    const others = this.#options.othersMs();
    if (others === undefined || Math.abs(others - now.epochMilliseconds) <= clockToleranceMs) return undefined;
    return Temporal.Instant.fromEpochMilliseconds(Math.round(others));
  }

  #likely(): Temporal.Instant {
    const now = this.#machine.now();
    return this.#outvoted(now) ?? now;
  }

  #use(ms: number): void {
    this.#used = { ms, atMs: this.#machine.monotonicMs() };
  }

  #passedMs(): number {
    return this.#machine.monotonicMs() - this.#used.atMs;
  }

  /** Present time as if the clock had not been set since it was used. */
  #runOnMs(): number {
    return this.#used.ms + this.#passedMs();
  }

  #isBehind(now: Temporal.Instant): boolean {
    return now.epochMilliseconds < this.#runOnMs() - toleranceMs;
  }

  #time(): Temporal.Instant {
    const now = this.#likely();
    const isDoubted = this.#isBehind(now);
    if (now.epochMilliseconds - this.#runOnMs() > this.#mostAheadMs) this.#tellAhead(now);
    const leastMs = isDoubted ? this.#runOnMs() : this.#used.ms + this.#passedMs() * waitingPace;
    this.#use(isDoubted ? leastMs : Math.max(now.epochMilliseconds, leastMs));
    return now.epochMilliseconds >= leastMs ? now : instantOf(leastMs);
  }

  #tellAhead(to: Temporal.Instant): void {
    const step = { from: instantOf(this.#runOnMs()), to, wasOff: this.#mostAheadMs === mostOffMs };
    if (this.#ahead.size === 0) this.#stepsAhead.push(step);
    for (const tell of this.#ahead) tell(step);
  }

  /** First time of a process that finds this record: nothing that ended since it was written may work again. */
  #beginningMs({ at, sinceBoot: then }: SeenTime): number {
    const { sinceBoot, inTrail } = this.#options;
    const recordedMs = Temporal.Instant.from(at).epochMilliseconds;
    const now = sinceBoot();
    const isSameBoot = now !== undefined && now.boot === then?.boot;
    const passedMs = isSameBoot ? Math.max(0, now.ms - then.ms) : 0;
    this.#mostAheadMs = isSameBoot ? mostAheadMs : mostOffMs;
    const trailMs = inTrail?.epochMilliseconds ?? 0;
    return Math.max(recordedMs + passedMs, trailMs <= recordedMs + toleranceMs ? trailMs : 0);
  }

  #look(): void {
    const seen = this.#table.get(this.#key) ?? this.#table.get(aloneKey);
    if (seen === undefined) return void this.#time();
    const atMs = Temporal.Instant.from(seen.at).epochMilliseconds;
    if (seen.accepted !== this.#accepted) {
      this.#accepted = seen.accepted;
      const [beforeMs, leastMs] = [this.#runOnMs(), this.#isBeginning ? this.#beginningMs(seen) : atMs];
      this.#use(this.#accepted === 0 ? Math.max(leastMs, this.#options.earliest.epochMilliseconds) : leastMs);
      if (leastMs < beforeMs) for (const tell of this.#setBack) tell();
    } else if (atMs > this.#runOnMs()) this.#use(atMs);
    this.#time();
  }

  #seenIn(transaction: WriteTransaction): SeenTime | undefined {
    return transaction.get(this.#table, this.#key) ?? transaction.get(this.#table, aloneKey);
  }

  #put(transaction: WriteTransaction, at: string, accepted: number): void {
    transaction.put(this.#table, this.#key, { at, accepted, ...defined({ sinceBoot: this.#options.sinceBoot() }) });
  }
}

function instantOf(ms: number): Temporal.Instant {
  return Temporal.Instant.fromEpochMilliseconds(Math.ceil(ms));
}
