// npm test -- cluster: who may come in among the members, what happens when two run as one, and who is removed for ever.
import { cpSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { layout } from '../../core/cluster/layout.ts';
import { waitMs } from '../../core/cluster/validity.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { put } from '../../core/etcd/messages.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Identity, startAppliance, type TestAppliance } from './appliance.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';
import { relaysTo } from './relay.ts';

const temporary = temporaryDirectory();
let etcd: EtcdCluster;
let first: TestAppliance;
let started: TestAppliance[] = [];
let directories = 0;

beforeAll(async () => {
  etcd = await startEtcd(1);
  first = await startAppliance('first', temporary('first'), etcd.urls, { id: 'one' });
  await vi.waitUntil(() => first.isValid, { timeout: 20_000 });
});

afterEach(async () => {
  for (const appliance of started) await appliance.stop();
  started = [];
});

afterAll(async () => {
  await first.stop();
  await etcd.stop();
});

async function start(name: string, identity: Identity, directory = temporary(String(++directories))): Promise<TestAppliance> {
  const appliance = await startAppliance(name, directory, etcd.urls, identity);
  started.push(appliance);
  return appliance;
}

/** As an etcd does that was frozen when the sign was sent. */
async function signLate(id: string): Promise<void> {
  const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
  const { kvs } = await client.range({ key: layout.member(id) });
  await setTimeout(waitMs / 2);
  const { succeeded } = await client.txn({ compare: [], success: kvs.map(({ key, value }) => put(key, value)), failure: [] });
  expect([kvs.length, succeeded]).toEqual([1, true]);
  client.close();
}

test('a name that a living member has is refused, and the member goes on', async () => {
  await expect(start('first', { id: 'two' })).rejects.toThrow('another appliance of the cluster is named first');
  expect(await first.add('count')).toBeGreaterThan(0);
});

test('the copy of a data directory that runs beside the original is refused, and takes nothing from it', async () => {
  const copy = temporary('copy');
  cpSync(temporary('first'), copy, { recursive: true });
  await expect(start('first', { id: 'one' }, copy)).rejects.toThrow('one of their data directories is a copy');
  expect(first.isValid).toBe(true);
  expect(await first.add('count')).toBeGreaterThan(0);
});

test.each([
  ['a member that fell silent', 'lost', async () => undefined],
  ['one that a change declares out meanwhile', 'declared', () => first.add('count')],
  ['one whose last heartbeat arrives late', 'late', () => signLate('late-disk')],
])('%s holds up nobody, and its place is taken by one of its name', async (_, name, meanwhile) => {
  const network = await relaysTo(etcd.urls);
  const silent = await startAppliance(name, temporary(name), network.urls, { id: `${name}-disk` });
  network.cut();
  const entering = start(name, { id: `${name}-new-disk` });
  await meanwhile();
  await entering;
  await vi.waitUntil(() => first.member.members.get(`${name}-new-disk`)?.state === 'in', { timeout: 20_000 });
  expect([...first.member.members.keys()]).not.toContain(`${name}-disk`);
  network.close();
  await silent.stop();
});

test('of two copies that start at the same moment, one goes on and the other ends', async () => {
  const original = await start('twin', { id: 'twin', run: 'before' }, temporary('twin'));
  await original.stop();
  started = [];
  cpSync(temporary('twin'), temporary('twin-copy'), { recursive: true });
  const ended: string[] = [];
  const settled = await Promise.allSettled(
    ['twin', 'twin-copy'].map((at) => start('twin', { id: 'twin', onEnded: (reason) => ended.push(reason) }, temporary(at))),
  );
  await setTimeout(2 * waitMs);
  const valid = started.filter(({ isValid }) => isValid);
  expect(valid.length).toBe(1);
  // The other one was refused when it came in, or has ended since.
  expect(ended.length + settled.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(1);
});

test('an appliance that followed a store finds an etcd without one: it founds nothing there', async () => {
  const appliance = await start('moved', {}, temporary('moved'));
  await appliance.stop();
  started = [];
  const empty = await startEtcd(1);
  try {
    await expect(startAppliance('moved', temporary('moved'), empty.urls)).rejects.toThrow('this appliance has followed one');
  } finally {
    await empty.stop();
  }
});

describe('a member is removed for ever', () => {
  const wasRemoved = 'was permanently removed from its cluster';

  test('when it is lost: nobody waits for it, nothing that it sent is committed any more, and neither it nor its name comes in again', async () => {
    const ended: string[] = [];
    const network = await relaysTo(etcd.urls);
    const identity = { id: 'lost-id', onEnded: (reason: string) => ended.push(reason) };
    const lost = await startAppliance('lost-for-ever', temporary('lost-for-ever'), network.urls, identity);
    await vi.waitUntil(() => lost.isValid, { timeout: 20_000 });
    await lost.add('count');
    network.cut();
    await vi.waitUntil(async () => (await first.member.remove('lost-id', false)) === 'removed', { timeout: 20_000, interval: 100 });
    expect(lost.isValid).toBe(false);
    expect(first.member.members.get('lost-id')?.state).toBe('removed');
    const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
    expect((await client.range(layout.lanes('lost-id'))).kvs).toEqual([]);
    client.close();
    expect(await first.add('count')).toBeGreaterThan(0);
    expect(await first.member.remove('lost-id', false)).toBe('removed');
    await expect(start('lost-for-ever', { id: 'another' })).rejects.toThrow('is the name of an appliance that was permanently removed');
    network.heal();
    await vi.waitUntil(() => ended.length > 0, { timeout: 20_000 });
    expect(ended[0]).toContain(wasRemoved);
    await lost.stop();
    network.close();
    await expect(start('lost-for-ever', { id: 'lost-id' }, temporary('lost-for-ever'))).rejects.toThrow(wasRemoved);
  });

  test('while it sends heartbeats only if that is said; then it refuses everything when the answer is there', async () => {
    const ended: string[] = [];
    const alive = await startAppliance('alive', temporary('alive'), etcd.urls, { onEnded: (reason) => ended.push(reason) });
    await vi.waitUntil(() => alive.isValid, { timeout: 20_000 });
    expect(await first.member.remove('alive', false)).toBe('alive');
    expect(await alive.add('count')).toBeGreaterThan(0);
    expect(await first.member.remove('alive', true)).toBe('removed');
    expect(alive.isValid).toBe(false);
    await expect(alive.add('count')).rejects.toMatchObject({ code: 'cluster-unavailable' });
    await vi.waitUntil(() => ended.length > 0, { timeout: 20_000 });
    expect(ended).toEqual([expect.stringContaining(wasRemoved)]);
    await alive.stop();
  });

  test('and one that nobody knows is not', async () => {
    expect(await first.member.remove('nobody', true)).toBe('unknown');
  });
});
