// npm test -- cluster: what the appliances promise while one of them, or the members of etcd, are cut off, stopped or killed.
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { EtcdClient } from '../../core/etcd/client.ts';
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

type Cluster = {
  readonly etcd: EtcdCluster;
  readonly appliances: readonly [TestAppliance, TestAppliance, TestAppliance];
  readonly networks: readonly [Network, Network, Network];
};

/** Three appliances that may answer, each with its own way to the members of etcd. */
async function startThree(): Promise<Cluster> {
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
  return { etcd, appliances, networks } as unknown as Cluster;
}

/** A use as a request does it: may answer at its begin, reads, may answer at its end. Undefined: refused. */
function use({ store, table }: TestAppliance, key: string, isValid: () => boolean): number | undefined {
  if (!isValid()) return undefined;
  store.refresh();
  const value = table.get([key]) ?? 0;
  return isValid() ? value : undefined;
}

test('what one appliance reads is answered when the others have it, or can answer no more', async () => {
  const { appliances, networks } = await startThree();
  const [first, second, third] = appliances;
  await first.store.write((tx) => tx.put(first.table, ['seen'], 1));
  networks[2].cut();
  const changing = first.store.write((tx) => tx.put(first.table, ['seen'], 2));
  await vi.waitUntil(() => use(second, 'seen', () => second.isValid) === 2, { timeout: 20_000, interval: 1 });
  const untilSettled = second.store.untilSettled();
  expect(untilSettled).toBeInstanceOf(Promise);
  let isSettled = false;
  const settling = untilSettled?.then(() => (isSettled = true));
  for (; third.isValid; await setTimeout(2)) expect(isSettled).toBe(false);
  await settling;
  await changing;
  expect(second.store.untilSettled()).toBeUndefined();
}, 60_000);

test('no read finds an earlier state than one that had ended before it began, at whichever appliance', async () => {
  const { appliances } = await startThree();
  const [first] = appliances;
  const load = new AbortController();
  const reads: { readonly beganMs: number; readonly endedMs: number; readonly value: number }[] = [];
  const reading = appliances.flatMap((appliance) =>
    Array.from({ length: 2 }, async () => {
      while (!load.signal.aborted) {
        const beganMs = performance.now();
        const value = use(appliance, 'count', () => appliance.isValid);
        await appliance.store.untilSettled();
        if (value !== undefined) reads.push({ beganMs, endedMs: performance.now(), value });
        await setTimeout(1);
      }
    }),
  );
  for (let count = 0; count < 100; count++) await first.add('count');
  load.abort();
  await Promise.all(reading);
  reads.sort((a, b) => a.endedMs - b.endedMs);
  const latest = reads.map(({ value }) => value);
  for (let at = 1; at < latest.length; at++) latest[at] = Math.max(latest[at] ?? 0, latest[at - 1] ?? 0);
  const stale = reads.filter(({ beganMs, value }) => {
    const before = reads.findLastIndex(({ endedMs }) => endedMs < beganMs);
    return before >= 0 && value < (latest[before] ?? 0);
  });
  console.log(`${reads.length} reads, ${new Set(reads.map(({ value }) => value)).size} states`);
  expect(stale).toEqual([]);
}, 120_000);

test('after a revocation was acknowledged, an appliance that is cut off does not accept what was revoked', async () => {
  const { appliances, networks } = await startThree();
  const [first, , third] = appliances;
  const answers: { readonly atMs: number; readonly revoked: number | undefined }[] = [];
  let acknowledgedMs = Number.POSITIVE_INFINITY;
  const load = new AbortController();
  const using = (async () => {
    while (!load.signal.aborted) {
      answers.push({ revoked: use(third, 'revoked', () => third.isValid), atMs: performance.now() });
      await setTimeout(2);
    }
  })();
  await setTimeout(200);
  networks[2].cut();
  const cutMs = performance.now();
  await first.store.write((tx) => tx.put(first.table, ['revoked'], 1));
  acknowledgedMs = performance.now();
  console.log(`acknowledged ${Math.round(acknowledgedMs - cutMs)} ms after the cut`);
  expect(third.isValid).toBe(false);
  await setTimeout(1_000);
  networks[2].heal();
  await vi.waitUntil(() => third.isValid, { timeout: 30_000 });
  await setTimeout(200);
  load.abort();
  await using;
  expect(answers.filter(({ atMs, revoked }) => atMs > acknowledgedMs && revoked === 0)).toEqual([]);
  // It did accept before, and refuses by what it knows afterwards.
  expect(answers.some(({ revoked }) => revoked === 0)).toBe(true);
  expect(answers.at(-1)?.revoked).toBe(1);
});

test('an appliance that is cut off changes nothing, says so, and has everything afterwards', async () => {
  const { appliances, networks } = await startThree();
  const [first, second, third] = appliances;
  networks[2].cut();
  const refused = third.add('count').then(String, codeOf);
  for (let n = 0; n < 5; n++) await first.add('count');
  await second.add('count');
  expect(await refused).toBe('cluster-unavailable');
  networks[2].heal();
  await vi.waitUntil(() => third.isValid, { timeout: 30_000 });
  await vi.waitUntil(() => use(third, 'count', () => true) !== 5, { timeout: 10_000 });
  // The refused one may have been on its way: it counts once or not at all.
  const last = await third.add('count');
  expect([7, 8]).toContain(last);
});

test('with most members of etcd stopped nothing is acknowledged, and what was on its way counts once or not at all', async () => {
  const { etcd, appliances } = await startThree();
  const [first, second] = appliances;
  await first.add('count');
  const stopped = etcd.members.slice(1);
  for (const member of stopped) await member.signal('SIGSTOP');
  const settled: string[] = [];
  const adding = appliances.flatMap((appliance) =>
    Array.from({ length: 5 }, async () => {
      settled.push(await appliance.add('count').then(() => 'done', codeOf));
    }),
  );
  await vi.waitUntil(() => appliances.every(({ isValid }) => !isValid), { timeout: 10_000 });
  // Longer than a caller is made to wait: all of them are told that the change may have happened.
  await vi.waitUntil(() => settled.length === adding.length, { timeout: 30_000 });
  expect(settled).not.toContain('done');
  for (const member of stopped) await member.signal('SIGCONT');
  await Promise.all(adding);
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 30_000 });
  expect(new Set(settled)).toEqual(new Set(['cluster-unavailable']));
  const last = await second.add('count');
  console.log(`${settled.length} refused, counted ${last - 2}`);
  expect(last - 2).toBeLessThanOrEqual(settled.length);
});

test('with one member of etcd killed and another stopped for a moment, every change that is acknowledged counts exactly once', async () => {
  const { etcd, appliances } = await startThree();
  const load = new AbortController();
  const acknowledged: number[] = [];
  const refused: string[] = [];
  const adding = appliances.map(async ({ add }) => {
    while (!load.signal.aborted) {
      await add('count').then(
        (count) => acknowledged.push(count),
        (error: unknown) => refused.push(codeOf(error)),
      );
      // Refused at once, it would leave no turn to anything else.
      await setTimeout(5);
    }
  });
  for (let round = 0; round < 3; round++) {
    const member = etcd.members[round % 3];
    await setTimeout(500);
    await member?.signal('SIGKILL');
    await setTimeout(1_500);
    await member?.start();
    const other = etcd.members[(round + 1) % 3];
    await setTimeout(500);
    await other?.signal('SIGSTOP');
    await setTimeout(1_500);
    await other?.signal('SIGCONT');
  }
  await setTimeout(500);
  load.abort();
  await Promise.all(adding);
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 30_000 });
  const last = (await appliances[0].add('count')) - 1;
  console.log(`${acknowledged.length} acknowledged, ${refused.length} unknown, counted ${last}`);
  expect(refused.filter((code) => code !== 'cluster-unavailable')).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(last).toBeGreaterThanOrEqual(Math.max(...acknowledged));
  expect(last).toBeGreaterThanOrEqual(acknowledged.length);
  expect(last).toBeLessThanOrEqual(acknowledged.length + refused.length);
});

test('an appliance that compaction has overtaken fetches the whole state, deletions too', async () => {
  const { etcd, appliances, networks } = await startThree();
  const [first, second, third] = appliances;
  await first.store.write((tx) => [1, 2, 3].forEach((n) => tx.put(first.table, ['kept', n], n)));
  networks[2].cut();
  for (let n = 0; n < 40; n++) await second.store.write((tx) => tx.put(second.table, ['later', n], n));
  await first.store.write((tx) => tx.delete(first.table, ['kept', 2]));
  const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
  closing.push(() => client.close());
  await client.compact(first.member.position);
  networks[2].heal();
  await vi.waitUntil(() => third.isValid && third.member.position >= first.member.position - 20, { timeout: 30_000 });
  third.store.refresh();
  expect([...third.table.keys(['kept'])]).toEqual([
    ['kept', 1],
    ['kept', 3],
  ]);
  expect(third.table.count(['later'])).toBe(40);
  expect(await third.add('count')).toBe(1);
});

function codeOf(error: unknown): string {
  return (error as { readonly code?: string }).code ?? String(error);
}
