// Runs background jobs at their intervals. A job never runs twice at the same time.
import { setTimeout } from 'node:timers/promises';
import type { Clock, Job, Log } from '../base/context.ts';
import { systemClock } from '../base/time.ts';

export type SchedulerOptions = {
  readonly jobs: readonly Job[];
  readonly log: Log;
  /** clock, only for monotonic time; default: the system clock */
  readonly clock?: Clock;
  /** delay of the first runs after the start; each job starts a little later than the previous one */
  readonly firstRunSeconds?: number;
};

export type Scheduler = {
  /** Aborts the current runs and waits for them. No job runs afterwards. Idempotent. */
  stop(): Promise<void>;
};

/** Delay before a failed job is tried again; doubles with every failure, up to the job's next turn. */
const firstRetrySeconds = 1;
/** Pause between two runs of a job that takes longer than its interval. */
const shortestPauseSeconds = 0.01;

/**
 * Starts all jobs. Intervals are measured from start to start; a run that takes longer delays the next one. They use monotonic time, so
 * setting the wall clock has no effect on them.
 */
export function startScheduler({ jobs, log, clock = systemClock, firstRunSeconds = 1 }: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  const running = jobs.map((job, index) => {
    const stagger = Math.min(index * 0.1, 5);
    return repeat(job, firstRunSeconds + stagger, { clock, log, signal: stopping.signal });
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

type SchedulerContext = { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal };

async function repeat(job: Job, firstSeconds: number, { clock, log, signal }: SchedulerContext): Promise<void> {
  let failures = 0;
  for (let waitSeconds = firstSeconds; await waited(waitSeconds, clock, signal);) {
    const startedMs = clock.monotonicMs();
    failures = (await succeeds(job, log, signal)) ? 0 : failures + 1;
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
    // An error after the abort is the expected end of the job.
    if (signal.aborted) return true;
    log.warn('a job failed and is tried again', { job: job.name, reason: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

/** Waits in steps and checks the clock after each. Returns false if stopped. */
async function waited(seconds: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const untilMs = clock.monotonicMs() + seconds * 1_000;
  for (;;) {
    if (signal.aborted) return false;
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) return true;
    await setTimeout(Math.min(leftMs, longestSleepMs), undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Node.js timers are limited to 2^31 ms; checking every second also lets tests move the clock. */
const longestSleepMs = 1_000;
