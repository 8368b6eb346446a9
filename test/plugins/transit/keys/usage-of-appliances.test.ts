// The meters of uses of several appliances that share a store: no limit is passed by all together, and a use costs no transaction.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTables, type KeyRecord, type VersionRecord } from '../../../../plugins/transit/records/records.ts';
import type { Key, Version } from '../../../../plugins/transit/records/keyring.ts';
import { UsageMeters } from '../../../../plugins/transit/records/usage.ts';
import { silentLog } from '../../../harness/log.ts';
import { type ModelAppliance, ModelCluster } from '../../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const temporary = temporaryDirectory();
const now = 1_800_000_000_000_000;
const tenant = 'tenant';
const version = { number: 1, record: {} as VersionRecord } satisfies Version;
let cluster: ModelCluster;
let appliances: ModelAppliance[];

beforeAll(async () => {
  cluster = new ModelCluster();
  appliances = [];
  for (const name of ['first', 'second', 'third']) appliances.push(await cluster.join(name, temporary(name)));
});
afterAll(() => cluster.close());

const storeOf = ({ store }: ModelAppliance) => store.prefixed('transit');
const newProcess = (appliance: ModelAppliance): UsageMeters =>
  new UsageMeters(storeOf(appliance), openTables(storeOf(appliance)), silentLog);

/** A key of which so many encryptions are left. */
async function keyWith(name: string, left: number): Promise<Key> {
  const [first] = appliances as [ModelAppliance];
  const record = { id: name, cipher: 'aes256-gcm96', latest: 1, floor: 1 } as unknown as KeyRecord;
  const tables = openTables(storeOf(first));
  await first.store.write((transaction) => {
    transaction.put(tables.keys, [tenant, name], record);
    transaction.put(tables.versions, [tenant, name, 1], version.record);
    transaction.put(tables.usage, [tenant, name, 1], { reserved: 2 ** 32 - left, uses: 0, rewrapped: 0 });
  });
  for (const { store } of appliances) store.refresh();
  return { tenantId: tenant, name, record };
}

/** Uses until the key is exhausted; the number of uses. */
async function useUp(meters: UsageMeters, key: Key): Promise<number> {
  for (let uses = 0; ; uses++) {
    try {
      await meters.take(key, version, 1, now);
    } catch (error) {
      if ((error as { readonly code?: string }).code === 'version-exhausted') return uses;
      throw error;
    }
  }
}

test('three appliances at once make the 2^32 encryptions of a version, and not one more', async () => {
  const key = await keyWith('shared', 5_000);
  const uses = await Promise.all(appliances.map((appliance) => useUp(newProcess(appliance), key)));
  expect(uses.every((count) => count > 0)).toBe(true);
  expect(uses.reduce((total, count) => total + count, 0)).toBe(5_000);
});

test('what an appliance had reserved when it was lost is used by nobody', async () => {
  const key = await keyWith('lost', 2_000);
  const [first, second, third] = appliances as [ModelAppliance, ModelAppliance, ModelAppliance];
  const lost = newProcess(first);
  for (let n = 0; n < 10; n++) await lost.take(key, version, 1, now);
  const others = await Promise.all([second, third].map((appliance) => useUp(newProcess(appliance), key)));
  expect(10 + others.reduce((total, count) => total + count, 0)).toBeLessThanOrEqual(2_000);
});

test('uses from a reserve cost no transaction, and go on while the appliance is cut off', async () => {
  const key = await keyWith('cheap', 2 ** 31);
  const [first] = appliances as [ModelAppliance];
  const meters = newProcess(first);
  await meters.take(key, version, 1, now);
  const before = first.commits;
  first.isCutOff = true;
  try {
    for (let n = 0; n < 40; n++) expect(meters.take(key, version, 1, now)).toBeUndefined();
    await expect(
      (async () => {
        for (let n = 0; n < 100; n++) await meters.take(key, version, 1, now);
      })(),
    ).rejects.toMatchObject({ code: 'cluster-unavailable' });
  } finally {
    first.isCutOff = false;
  }
  expect(first.commits).toBe(before);
});

test('a reserve whose giving back has an unknown outcome is not used again', async () => {
  const key = await keyWith('unknown', 1_000);
  const [first, second] = appliances as [ModelAppliance, ModelAppliance];
  const meters = newProcess(first);
  for (let n = 0; n < 100; n++) await meters.take(key, version, 1, now);
  // The next flush gives back what it holds.
  for (let n = 0; n < 24; n++) await meters.flush();
  // Committed, and the answer is lost.
  first.losesAnswers = true;
  for (let n = 0; n < 2; n++) await meters.flush();
  first.losesAnswers = false;
  const others = await useUp(newProcess(second), key);
  let uses = 100 + others;
  uses += await useUp(meters, key);
  expect(uses).toBeLessThanOrEqual(1_000);
});

test('counts of more versions than one transaction takes are stored', async () => {
  const [first, second] = appliances as [ModelAppliance, ModelAppliance];
  const keys = await Promise.all(Array.from({ length: 120 }, (_, n) => keyWith(`many-${n}`, 2 ** 31)));
  const meters = newProcess(first);
  await Promise.all(keys.map(async (key) => meters.take(key, version, 1, now)));
  for (const key of keys) await meters.take(key, version, 1, now);
  await meters.flush();
  second.store.refresh();
  const { usage } = openTables(storeOf(second));
  expect(new Set(keys.map(({ name }) => usage.get([tenant, name, 1])?.uses))).toEqual(new Set([2]));
});

test('where uses may go on without the others, a key has reserved what such a time takes at its rate, and no limit is passed by that', async () => {
  const hour = 3_600;
  const [isolated, others] = [new ModelCluster(), appliances];
  try {
    const one = await isolated.join('one', temporary('isolated'), hour);
    appliances = [one];
    const key = await keyWith('isolated', 2 ** 31);
    const meters = newProcess(one);
    const use = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await meters.take(key, version, 1, now);
    };
    await use(500);
    // The first flush is five seconds after the start.
    await meters.flush();
    const { usage } = openTables(storeOf(one));
    const reserved = (): number => usage.get([tenant, 'isolated', 1])?.reserved ?? 0;
    one.store.refresh();
    expect(reserved() - 2 ** 31).toBeGreaterThan(0.9 * (500 / 5) * hour);
    one.isCutOff = true;
    await use((500 / 5) * (hour / 2));
    await meters.flush();
    await use(1_000);
    one.isCutOff = false;
    await meters.flush();
    one.store.refresh();
    expect(usage.get([tenant, 'isolated', 1])?.uses).toBe(500 + (500 / 5) * (hour / 2) + 1_000);
    expect(reserved()).toBeLessThanOrEqual(2 ** 32);
    // Of few that are left nothing is taken that is not there.
    const last = await keyWith('last', 2_000);
    expect(await useUp(newProcess(one), last)).toBe(2_000);
  } finally {
    appliances = others;
    await isolated.close();
  }
});
