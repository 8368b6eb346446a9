// npm test -- cluster: appliances of two versions as one. Records get the format of the newer one when all have it, and never before.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Identity, startAppliance, type TestAppliance } from './appliance.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';

const temporary = temporaryDirectory();
const former: Identity = { version: '1', levels: { oldest: 1, newest: 1 } };
const next: Identity = { version: '2', levels: { oldest: 1, newest: 2 } };
const last: Identity = { version: '3', levels: { oldest: 2, newest: 3 } };
const names = ['a', 'b', 'c'] as const;

let etcd: EtcdCluster;
const running = new Map<string, TestAppliance>();

const start = async (name: string, identity: Identity): Promise<TestAppliance> => {
  const appliance = await startAppliance(name, temporary(name), etcd.urls, identity);
  running.set(name, appliance);
  return appliance;
};
const stop = async (name: string): Promise<void> => {
  await running.get(name)?.stop();
  running.delete(name);
};
/** Each writes the level at which it decides: what is there afterwards has been committed at that level. */
const writtenBy = (name: string): Promise<number> => {
  const { store, table } = running.get(name) as TestAppliance;
  return store.write((transaction) => {
    transaction.put(table, [name], store.level);
    return store.level;
  });
};

beforeAll(async () => {
  etcd = await startEtcd(1);
  for (const name of names) await start(name, former);
});

afterAll(async () => {
  for (const name of names) await stop(name);
  await etcd.stop();
});

test('one after another is updated: all write the former level until the last one has the new version', async () => {
  for (const name of names) {
    for (const other of names) expect(await writtenBy(other)).toBe(1);
    await stop(name);
    await start(name, next);
  }
  for (const name of names) await expect.poll(() => writtenBy(name), { timeout: 10_000 }).toBe(2);
});

test('a version that does not know the level is refused before it serves, also with a new data directory', async () => {
  await stop('a');
  const refusal = 'version 1 works with records of the level 1, and the cluster has level 2: install the version of the other appliances';
  await expect(start('a', former)).rejects.toThrow(refusal);
  await expect(start('new', former)).rejects.toThrow(refusal);
  await start('a', next);
  expect(await writtenBy('a')).toBe(2);
});

test('until the last one is updated there is a way back, and one that is stopped counts as it was', async () => {
  await stop('a');
  await start('a', last);
  await stop('c');
  await stop('b');
  // b was updated, c was not and is out: it could not come back at a higher level.
  await start('b', last);
  const { member } = running.get('b') as TestAppliance;
  for (const { position } = member; member.position < position + 20;) expect(await writtenBy('b')).toBe(2);
  await stop('a');
  await start('a', next);
  expect(await writtenBy('a')).toBe(2);
  await stop('a');
  await start('a', last);
  await start('c', last);
  for (const name of names) await expect.poll(() => writtenBy(name), { timeout: 10_000 }).toBe(3);
});

test('a version that needs a level which the cluster does not have is refused', async () => {
  await expect(start('late', { version: '9', levels: { oldest: 4, newest: 5 } })).rejects.toThrow(
    'bring all appliances to a version that lies between first',
  );
});

test('an appliance of the former version that comes in while the last of the others is updated keeps the level', async () => {
  for (let round = 0; round < 5; round++) {
    for (const name of names) await stop(name);
    const levels = { oldest: 1, newest: 4 + round };
    await start('a', { version: 'x', levels });
    await start('b', { version: 'x', levels });
    await start('c', { version: 'x', levels: { ...levels, newest: levels.newest - 1 } });
    await stop('c');
    // Either the level is raised and the former version is refused, or it is in and the level stays.
    const [updated, joined] = await Promise.allSettled([
      start('c', { version: 'x', levels }),
      start(`new-${round}`, { version: 'w', levels: { ...levels, newest: levels.newest - 1 } }),
    ]);
    expect(updated.status).toBe('fulfilled');
    if (joined.status === 'rejected') continue;
    for (let n = 0; n < 20; n++) expect(await writtenBy('c')).toBeLessThan(levels.newest);
    await stop(`new-${round}`);
    expect(await running.get('a')?.member.remove(`new-${round}`, true)).toBe('removed');
  }
});
