// npm test -- cluster: background jobs over real etcd: one appliance runs them, and another goes on where it was.
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../core/base/time.ts';
import { startJobs } from '../../core/plugin/job-holder.ts';
import type { Scheduler } from '../../core/plugin/scheduler.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { silentLog } from '../harness/log.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { startAppliance, type TestAppliance } from './appliance.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';
import { type Network, relaysTo } from './relay.ts';

const temporary = temporaryDirectory();
const names = ['first', 'second', 'third'] as const;
let closing: (() => unknown)[] = [];
let runs = 0;

afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

async function startThree(): Promise<{ etcd: EtcdCluster; appliances: readonly TestAppliance[]; networks: readonly Network[] }> {
  const etcd = await startEtcd(3);
  closing.push(() => etcd.stop());
  const run = ++runs;
  const [networks, appliances]: [Network[], TestAppliance[]] = [[], []];
  for (const [index, name] of names.entries()) {
    const network = await relaysTo([...etcd.urls.slice(index), ...etcd.urls.slice(0, index)]);
    closing.push(() => network.close());
    const appliance = await startAppliance(name, temporary(`${name}-${run}`), network.urls);
    closing.push(() => appliance.stop());
    networks.push(network);
    appliances.push(appliance);
  }
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 20_000 });
  return { etcd, appliances, networks };
}

/** A sweep of a thousand records that takes a while, in each appliance; who did what, in the order of the commits. */
function startSweeps(appliances: readonly TestAppliance[]): { readonly schedulers: readonly Scheduler[]; readonly ran: string[] } {
  const ran: string[] = [];
  const schedulers = appliances.map(({ name, store }) => {
    const sweep = async (signal: AbortSignal): Promise<void> => {
      ran.push(name);
      const left = Array.from(store.table<number>('to-sweep').keys([]));
      for (let at = 0; at < left.length && !signal.aborted; at += 20) {
        await writeInPieces(store, left.slice(at, at + 20), (transaction, key) => {
          transaction.delete(store.table('to-sweep'), key);
          const done = transaction.get(store.table<number>('swept'), key) ?? 0;
          transaction.put(store.table<number>('swept'), key, done + 1);
        });
      }
    };
    return startJobs({
      store,
      jobs: [{ name: 'sweep', everySeconds: 0.2, run: sweep }],
      clock: systemClock,
      log: silentLog,
      firstRunSeconds: 0,
    });
  });
  for (const scheduler of schedulers) closing.push(() => scheduler.stop());
  return { schedulers, ran };
}

const records = 1_000;

async function putRecords({ store }: TestAppliance): Promise<void> {
  const numbers = Array.from({ length: records }, (_, n) => n);
  await writeInPieces(store, numbers, (transaction, n) => transaction.put(store.table<number>('to-sweep'), [n], n));
}

test('the holder is cut off in the middle of a sweep: another finishes it, and each record is swept once', async () => {
  const { appliances, networks } = await startThree();
  await putRecords(appliances[0] as TestAppliance);
  const { ran } = startSweeps(appliances);
  const [observer] = appliances as [TestAppliance];
  const swept = ({ store }: TestAppliance): number => (store.refresh(), store.table('swept').count([]));
  await vi.waitUntil(() => swept(observer) > 50, { timeout: 60_000 });
  const holder = names.indexOf(ran[0] as (typeof names)[number]);
  networks[holder]?.cut();
  const cutMs = performance.now();
  const other = appliances[(holder + 1) % 3] as TestAppliance;
  const before = ran.length;
  await vi.waitUntil(() => ran.slice(before).some((name) => name !== names[holder]), { timeout: 60_000 });
  const pauseMs = performance.now() - cutMs;
  await vi.waitUntil(() => swept(other) === records, { timeout: 60_000 });
  networks[holder]?.heal();
  console.log(`another appliance ran the jobs ${Math.round(pauseMs)} ms after the cut`);
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 30_000 });
  await setTimeout(2_000);
  // What the former holder had on its way lost against the taking, or was there before it.
  for (const { store } of appliances) {
    store.refresh();
    expect(new Set(Array.from(store.table<number>('swept').entries([]), ([, times]) => times))).toEqual(new Set([1]));
    expect(store.table('to-sweep').count([])).toBe(0);
  }
});

test('no two appliances run jobs at the same time, while holders stop and members of etcd are killed', async () => {
  const { etcd, appliances } = await startThree();
  const spans: { readonly name: string; readonly from: number; readonly to: number }[] = [];
  const counters = appliances.map(({ name, store }) => {
    let counted = 0;
    const job = async (): Promise<void> => {
      const table = store.table<{ by: string; count: number }>('counter');
      const count = await store.write((transaction) => {
        const next = { by: name, count: (transaction.get(table, ['c'])?.count ?? 0) + 1 };
        transaction.put(table, ['c'], next);
        return next.count;
      });
      spans.push({ name, from: count, to: count });
      counted++;
    };
    const start = (): Scheduler =>
      startJobs({ store, jobs: [{ name: 'count', everySeconds: 0.05, run: job }], clock: systemClock, log: silentLog, firstRunSeconds: 0 });
    return { name, start, counted: () => counted };
  });
  const running = counters.map(({ start }) => start());
  closing.push(() => Promise.all(running.map((scheduler) => scheduler.stop())));
  for (let round = 0; round < 3; round++) {
    const before = spans.length;
    await vi.waitUntil(() => spans.length > before + 10, { timeout: 60_000 });
    const holder = counters.findIndex(({ name }) => name === spans.at(-1)?.name);
    await running[holder]?.stop();
    running[holder] = (counters[holder] as (typeof counters)[number]).start();
    await etcd.members[round]?.signal('SIGKILL');
    const after = spans.length;
    await vi.waitUntil(() => spans.length > after + 10, { timeout: 60_000 });
    await etcd.members[round]?.start();
  }
  // Acknowledged counts are all different, and in the order of the commits each appliance has one stretch for each holding.
  const counts = spans.map(({ from }) => from);
  expect(new Set(counts).size).toBe(counts.length);
  const inOrder = spans.toSorted((a, b) => a.from - b.from).map(({ name }) => name);
  const changes = inOrder.filter((name, index) => name !== inOrder[index - 1]).length;
  console.log(`${counts.length} runs, the holder changed ${changes - 1} times`);
  expect(changes).toBeLessThanOrEqual(10);
});
