// npm test -- cluster: three appliances over three real members of etcd.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EtcdClient } from '../../core/etcd/client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { startAppliance, type TestAppliance } from './appliance.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';

const temporary = temporaryDirectory();
let etcd: EtcdCluster;
let appliances: TestAppliance[];

beforeAll(async () => {
  etcd = await startEtcd(3);
  appliances = [];
  for (const [index, name] of ['first', 'second', 'third'].entries()) {
    const urls = [...etcd.urls.slice(index), ...etcd.urls.slice(0, index)];
    appliances.push(await startAppliance(name, temporary(name), urls));
  }
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 10_000 });
});

afterAll(async () => {
  for (const appliance of appliances) await appliance.stop();
  await etcd.stop();
});

const [first, second, third] = [0, 1, 2].map((index) => () => appliances[index] as TestAppliance) as [
  () => TestAppliance,
  () => TestAppliance,
  () => TestAppliance,
];

describe('three appliances', () => {
  test('what one has acknowledged, the others have', async () => {
    for (let n = 0; n < 20; n++) {
      await first().store.write((tx) => tx.put(first().table, ['seen', n], n));
      for (const { store, table } of [second(), third()]) {
        store.refresh();
        expect(table.get(['seen', n])).toBe(n);
      }
    }
  });

  test('uses are counted exactly, at whichever appliance', async () => {
    const each = 40;
    const answers = await Promise.all(appliances.flatMap(({ add }) => Array.from({ length: each }, () => add('uses'))));
    expect(answers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 3 * each }, (_, n) => n + 1));
  });

  test('of several that make the same name at once, one does', async () => {
    const made = await Promise.all(
      appliances.flatMap(({ name, store }) =>
        Array.from({ length: 4 }, (_, n) => {
          const names = store.table<string>('names');
          return store.write((tx) => {
            if (tx.has(names, ['root'])) return false;
            tx.put(names, ['root'], `${name} ${n}`);
            return true;
          });
        }),
      ),
    );
    expect(made.filter(Boolean)).toEqual([true]);
  });

  test('a search does not overlook what another deletes or adds meanwhile', async () => {
    const { table, store } = first();
    await store.write((tx) => [1, 2, 3].forEach((n) => tx.put(table, ['range', n], n)));
    // Each keeps the sum of the range in a record; those who change the range and those who sum it up never see half of each other.
    const sums = appliances.map(({ store, table }) =>
      Array.from({ length: 10 }, () =>
        store.write((tx) => {
          const sum = [...tx.entries(table, ['range'])].reduce((total, [, value]) => total + value, 0);
          tx.put(table, ['sum'], sum);
          return sum;
        }),
      ),
    );
    const changes = [2, 3].map((n) => second().store.write((tx) => tx.delete(second().table, ['range', n])));
    await Promise.all([...sums.flat(), ...changes, third().store.write((tx) => tx.put(third().table, ['range', 9], 9))]);
    expect((await Promise.all(sums.flat())).every((sum) => [6, 15, 4, 13, 3, 12, 1, 10].includes(sum))).toBe(true);
    await first().store.write((tx) => tx.put(table, ['sum'], [...tx.entries(table, ['range'])].length));
    third().store.refresh();
    expect(third().table.get(['sum'])).toBe(2);
  });

  test('a refused change leaves nothing, and a change too large for one transaction is refused whole', async () => {
    const { table, store } = first();
    await expect(
      store.write((tx) => {
        tx.put(table, ['refused'], 1);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    const large = store.write((tx) => {
      for (let n = 0; n < 600; n++) tx.put(table, ['large', n], n);
    });
    await expect(large).rejects.toMatchObject({ code: 'cluster-unavailable' });
    second().store.refresh();
    expect([second().table.get(['refused']), second().table.count(['large'])]).toEqual([undefined, 0]);
  });

  test('etcd sees nothing in clear', async () => {
    await first().store.write((tx) => tx.put(first().store.table<string>('secrets'), ['s'], 'the password is swordfish'));
    const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
    const { kvs } = await client.range({ key: Buffer.of(0), range_end: Buffer.of(0) });
    client.close();
    expect(kvs.some(({ key }) => key.includes('secrets'))).toBe(true);
    expect(kvs.filter(({ value }) => value.includes('swordfish'))).toEqual([]);
    expect([...first().store.check()]).toEqual([]);
  });
});
