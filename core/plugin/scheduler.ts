// Runs background jobs at their intervals, one run of a job at a time, paced by a clock that nobody can set.
import { setTimeout } from 'node:timers/promises';
import type { Clock, Job, Log } from '../base/context.ts';
import { systemClock } from '../base/time.ts';

export type SchedulerOptions = {
  readonly jobs: readonly Job[];
  readonly log: Log;
  /** only its monotonic part is used; default: the machine's */
  readonly clock?: Clock;
  /** Asked before each run: in a process that is not the leader jobs rest. Default: always. */
  readonly isLeader?: () => boolean;
  /** how long after the start jobs run for the first time; each a little later than the one before */
  readonly firstRunSeconds?: number;
};

export type Scheduler = {
  /** Aborts the runs under way and waits for them. No job runs afterwards. Safe to call twice. */
  stop(): Promise<void>;
};

/** A job that failed is tried again after this, doubled with every failure, but never later than at its next turn. */
const firstRetrySeconds = 1;
/** Between two runs of a job that takes longer than its interval. */
const shortestPauseSeconds = 0.01;

/**
 * Starts all jobs. Intervals count from the beginning of one run to that of the next; a run that takes longer delays the next.
 * Monotonic time paces them, so setting the wall clock neither hurries nor stops a job.
 */
export function startScheduler({
  jobs,
  log,
  clock = systemClock,
  isLeader = () => true,
  firstRunSeconds = 1,
}: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  const running = jobs.map((job, index) => {
    const stagger = Math.min(index * 0.1, 5);
    return repeat(job, firstRunSeconds + stagger, { clock, log, isLeader, signal: stopping.signal });
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

type SchedulerContext = { readonly clock: Clock; readonly log: Log; readonly isLeader: () => boolean; readonly signal: AbortSignal };

async function repeat(job: Job, firstSeconds: number, { clock, log, isLeader, signal }: SchedulerContext): Promise<void> {
  let failures = 0;
  for (let waitSeconds = firstSeconds; await waited(waitSeconds, clock, signal);) {
    const startedMs = clock.monotonicMs();
    if (isLeader()) failures = (await succeeds(job, log, signal)) ? 0 : failures + 1;
    const nextSeconds = job.everySeconds - (clock.monotonicMs() - startedMs) / 1_000;
    const retrySeconds = failures === 0 ? Number.POSITIVE_INFINITY : firstRetrySeconds * 2 ** (failures - 1);
    waitSeconds = Math.max(shortestPauseSeconds, Math.min(nextSeconds, retrySeconds));
  }
}

async function succeeds(job: Job, log: Log, signal: AbortSignal): Promise<boolean> {
  try {
    await job.run(signal);
    return true;
  } catch (error) {
    // A job that ends with an error because it was told to stop has done as it was told.
    if (signal.aborted) return true;
    log.warn('a job failed and is tried again', { job: job.name, reason: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

/** Waits in steps and looks at the clock after each. Answers false when told to stop. */
async function waited(seconds: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const untilMs = clock.monotonicMs() + seconds * 1_000;
  for (;;) {
    if (signal.aborted) return false;
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) return true;
    await setTimeout(Math.min(leftMs, longestSleepMs), undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Timers of Node count at most 2^31 ms; looking every second also lets a clock that tests move set jobs off. */
const longestSleepMs = 1_000;
