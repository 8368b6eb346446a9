// Background jobs: at their intervals, never twice at once, retried after a failure, aborted on stop.
import { afterEach, expect, test, vi } from 'vitest';
import type { Job, Log } from '../../../core/base/context.ts';
import { type Scheduler, type SchedulerOptions, startScheduler } from '../../../core/plugin/scheduler.ts';
import { systemClock } from '../../../core/base/time.ts';
import { TestClock } from '../../harness/clock.ts';
import { quiet } from '../audit/trail.ts';

/** How long an event may take on a busy machine. */
const patienceMs = 60_000;
const started: Scheduler[] = [];
afterEach(() => Promise.all(started.splice(0).map((scheduler) => scheduler.stop())));

function start(jobs: readonly Job[], options: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = startScheduler({ jobs, clock: systemClock, log: quiet, firstRunSeconds: 0, ...options });
  started.push(scheduler);
  return scheduler;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test('a job runs shortly after the start and then at its interval; the wall clock has no effect', async () => {
  const clock = { now: () => new TestClock('1970-01-01T00:00:00Z').now(), monotonicMs: () => performance.now() };
  const times: number[] = [];
  start([{ name: 'tick', everySeconds: 0.05, run: async () => void times.push(performance.now()) }], { clock });
  await vi.waitFor(() => expect(times.length).toBeGreaterThanOrEqual(5), patienceMs);
  // A busy machine may run a job late and the next time on schedule, but never five times within two intervals.
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(100);
});

test('a run that takes longer than its interval delays the next: no two runs at once, and other jobs continue', async () => {
  let [atOnce, mostAtOnce, runs] = [0, 0, 0];
  const turns = { other: 0 };
  const slow: Job = {
    name: 'slow',
    everySeconds: 0.01,
    async run(signal) {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      const enough = turns.other + 3;
      while (turns.other < enough && !signal.aborted) await pause(10);
      atOnce--;
      runs++;
    },
  };
  start([slow, { name: 'other', everySeconds: 0.01, run: async () => void turns.other++ }]);
  await vi.waitFor(() => expect(runs).toBeGreaterThanOrEqual(3), patienceMs);
  expect(mostAtOnce).toBe(1);
});

test('a failure is logged and the job retried, later each time, but not later than its next turn', async () => {
  const warn = vi.fn<Log['warn']>();
  let runs = 0;
  const failing: Job = {
    name: 'failing',
    everySeconds: 0.03,
    run: () => (++runs < 4 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
  };
  start([failing], { log: { ...quiet, warn } });
  await vi.waitFor(() => expect(runs).toBeGreaterThanOrEqual(6), patienceMs);
  expect(warn.mock.calls).toEqual([1, 2, 3].map(() => ['a job failed and is tried again', { job: 'failing', reason: 'not yet' }]));
});

test('a failed job with a long interval is retried after a second, not after the interval', async () => {
  const clock = new TestClock();
  let runs = 0;
  start([{ name: 'daily', everySeconds: 86_400, run: () => (++runs === 1 ? Promise.reject(new Error('once')) : Promise.resolve()) }], {
    clock,
  });
  await vi.waitFor(() => expect(runs).toBe(1), patienceMs);
  clock.advance(1.1);
  await vi.waitFor(() => expect(runs).toBe(2), patienceMs);
  clock.advance(86_000);
  await pause(1_200);
  expect(runs).toBe(2);
});

test('stopping aborts the current run, waits for it, and is not a failure', async () => {
  const warn = vi.fn<Log['warn']>();
  let [begun, ended] = [0, 0];
  const job: Job = {
    name: 'long',
    everySeconds: 0.01,
    async run(signal) {
      begun++;
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop'))));
    },
  };
  const cleaning: Job = {
    name: 'cleaning',
    everySeconds: 1,
    async run(signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await pause(20);
      ended++;
    },
  };
  const scheduler = start([job, cleaning], { log: { ...quiet, warn } });
  await pause(200);
  await scheduler.stop();
  await scheduler.stop();
  expect([begun, ended]).toEqual([1, 1]);
  expect(warn).not.toHaveBeenCalled();
});
