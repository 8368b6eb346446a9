// npm run test:cluster: who may come in among the members, and what happens when two run as one.
import { cpSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { waitMs } from '../../core/cluster/validity.ts';
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

test('a name that a living member has is refused, and the member goes on', async () => {
  await expect(start('first', { id: 'two' })).rejects.toThrow('another appliance of the cluster is named first');
  expect(await first.add('count')).toBeGreaterThan(0);
});

test('another version than that of a living member is refused', async () => {
  await expect(start('newer', { version: '2' })).rejects.toThrow('the appliance first runs version 1, this one is 2');
});

test('the copy of a data directory that runs beside the original is refused, and takes nothing from it', async () => {
  const copy = temporary('copy');
  cpSync(temporary('first'), copy, { recursive: true });
  await expect(start('first', { id: 'one' }, copy)).rejects.toThrow('one of their data directories is a copy');
  expect(first.isValid).toBe(true);
  expect(await first.add('count')).toBeGreaterThan(0);
});

test('a member that fell silent holds up nobody, and its place is taken by one of its name', async () => {
  const network = await relaysTo(etcd.urls);
  const silent = await startAppliance('lost', temporary('lost'), network.urls, { id: 'lost-disk' });
  network.cut();
  await start('lost', { id: 'new-disk' });
  await vi.waitUntil(() => first.member.members.get('new-disk')?.state === 'in', { timeout: 20_000 });
  expect([...first.member.members.keys()]).not.toContain('lost-disk');
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
