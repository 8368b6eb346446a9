// Background jobs of a cluster: one appliance runs them, another takes over, and what the former one still does changes nothing.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Clock, Job } from '../../../core/base/context.ts';
import { systemClock } from '../../../core/base/time.ts';
import { TestClock } from '../../harness/clock.ts';
import { startJobs } from '../../../core/plugin/job-holder.ts';
import type { Scheduler } from '../../../core/plugin/scheduler.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import { silentLog } from '../../harness/log.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const patience = { timeout: 60_000 };
let runs = 0;
let cluster: ModelCluster;
let first: ModelAppliance;
let second: ModelAppliance;
let started: Scheduler[];

beforeEach(async () => {
  cluster = new ModelCluster();
  first = await cluster.join('first', temporary(`first-${++runs}`));
  second = await cluster.join('second', temporary(`second-${runs}`));
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((scheduler) => scheduler.stop()));
  await cluster.close();
});

/** As an appliance starts its jobs. */
function start({ store }: { readonly store: Store }, jobs: readonly Job[], clock: Clock = systemClock): Scheduler {
  const scheduler = startJobs({ store, jobs, clock, log: silentLog, firstRunSeconds: 0 });
  started.push(scheduler);
  return scheduler;
}

const job = (name: string, run: Job['run'], more: Partial<Job> = {}): Job => ({ name, everySeconds: 0.01, run, ...more });

test('one of two appliances runs the jobs, and both run those that each has for itself', async () => {
  const [shared, own] = [new Map<string, number>(), new Map<string, number>()];
  const count = (map: Map<string, number>, name: string) => async () => void map.set(name, (map.get(name) ?? 0) + 1);
  for (const appliance of [first, second]) {
    const { appliance: name } = appliance;
    start(appliance, [job('shared', count(shared, name)), job('own', count(own, name), { isOfEach: true })]);
  }
  await vi.waitUntil(() => (own.get('first') ?? 0) > 3 && (own.get('second') ?? 0) > 3 && Math.max(...shared.values()) > 3, patience);
  await pause(1_500);
  expect(shared.size).toBe(1);
});

test('a clean stop gives the jobs back, and the other goes on with them at once', async () => {
  const ran: string[] = [];
  const here = start(first, [job('shared', async () => void ran.push('first'))]);
  await vi.waitUntil(() => ran.includes('first'), patience);
  start(second, [job('shared', async () => void ran.push('second'))]);
  await here.stop();
  await vi.waitUntil(() => ran.includes('second'), patience);
  expect(ran.lastIndexOf('first')).toBeLessThan(ran.indexOf('second'));
});

test('after four seconds without a beat another takes over, and what the former one still writes changes nothing', async () => {
  const [proceed, begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = Promise.withResolvers<string>();
  const steps = (store: Store): Table<string> => store.table<string>('steps');
  const put = (store: Store, name: string): Promise<void> => store.write((transaction) => transaction.put(steps(store), [name], name));
  const halfway = async (signal: AbortSignal): Promise<void> => {
    await put(first.store, 'begun');
    begun.resolve();
    await Promise.race([proceed.promise, once(signal, 'abort')]);
    late.resolve(
      await put(first.store, 'late').then(
        () => 'written',
        (error: Error) => error.name,
      ),
    );
  };
  // Cut off in the middle of a job, and with a clock that stands still: the first appliance never thinks that it has lost the jobs.
  start(first, [job('halfway', halfway)], new TestClock());
  await begun.promise;
  first.isCutOff = true;
  const clock = new TestClock();
  const finish = async (): Promise<void> => {
    second.store.refresh();
    if (steps(second.store).has(['begun'])) await put(second.store, 'finished');
    finished.resolve();
  };
  start(second, [job('halfway', finish)], clock);
  // It has seen the beat.
  await pause(700);
  clock.advance(3.9);
  await pause(1_500);
  second.store.refresh();
  expect(steps(second.store).has(['finished'])).toBe(false);
  clock.advance(4);
  await finished.promise;
  first.isCutOff = false;
  proceed.resolve();
  expect(await late.promise).toBe('JobsLost');
  second.store.refresh();
  expect([...steps(second.store).keys([])]).toEqual([['begun'], ['finished']]);
});

test('a write beside the jobs is not behind their fence', async () => {
  const begun = Promise.withResolvers<void>();
  start(first, [job('shared', async () => begun.resolve())]);
  await begun.promise;
  const holder = second.store.table<{ term: string }>('job-holder');
  await second.store.write((transaction) => transaction.put(holder, ['term'], { ...transaction.get(holder, ['term']), term: 'another' }));
  const things = first.store.table<number>('things');
  await first.store.write((transaction) => transaction.put(things, ['thing'], 1));
  first.store.refresh();
  expect(things.get(['thing'])).toBe(1);
});

test('a new process of the same appliance takes the jobs of its predecessor at once', async () => {
  const ran: string[] = [];
  start(first, [job('shared', async () => void ran.push('before'))]);
  await vi.waitUntil(() => ran.length > 0, patience);
  start(first, [job('shared', async () => void ran.push('after'))]);
  await vi.waitUntil(() => ran.includes('after'), patience);
  await pause(1_000);
  ran.length = 0;
  await vi.waitUntil(() => ran.length > 3, patience);
  expect(new Set(ran)).toEqual(new Set(['after']));
});
