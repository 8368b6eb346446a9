// The meters of uses: several processes over one store, killed at any moment.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../../core/store/store.ts';
import { type Key, Keyring, type Version } from '../../../../plugins/transit/records/keyring.ts';
import { type KeyRecord, type Tables, type VersionRecord, openTables } from '../../../../plugins/transit/records/records.ts';
import { UsageMeters } from '../../../../plugins/transit/records/usage.ts';
import { silentLog } from '../../../harness/log.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const now = 1_800_000_000_000_000;
let harness: TransitHarness;
let store: Store;
let tables: Tables;
let commits = 0;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
  const whole = harness.store.prefixed('transit');
  store = { ...whole, write: (change) => ((commits += 1), whole.write(change)) };
  tables = openTables(whole);
  await harness.create('aes');
  await harness.create('signing', { cipher: 'ecdsa-p256' });
});
afterAll(() => harness.stop());

/** A process of its own: what it does not store, nobody else knows. */
function newProcess(most?: ConstructorParameters<typeof UsageMeters>[3]): UsageMeters {
  return new UsageMeters(store, tables, silentLog, most);
}

/** Copies of a key under other names and ids: nothing here uses their material. */
async function copiesOf(name: string, copies: readonly string[], latest = 1): Promise<Key[]> {
  const [[tenantId]] = [...tables.keys.keys([])] as unknown as [readonly [string, string]];
  const record = tables.keys.get([tenantId, name]) as KeyRecord;
  const version = tables.versions.get([tenantId, record.id, 1]) as VersionRecord;
  await store.write((transaction) => {
    for (const copy of copies) {
      transaction.put(tables.keys, [tenantId, copy], { ...record, id: copy, latest });
      for (let number = 1; number <= latest; number += 1) transaction.put(tables.versions, [tenantId, copy, number], version);
    }
  });
  store.refresh();
  return copies.map((copy) => ({ tenantId, name: copy, record: { ...record, id: copy, latest } }));
}

const copyOf = async (name: string, copy: string, latest = 1): Promise<Key> => (await copiesOf(name, [copy], latest)).find(Boolean) as Key;
const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${name}-${String(n).padStart(4, '0')}`);

const versionOf = (key: Key, number = 1): Version => new Keyring(tables).version(key, number);
const stored = (key: Key, number = 1) => {
  store.refresh();
  return tables.usage.get([key.tenantId, key.record.id, number]);
};

describe('signatures and HMACs', () => {
  test('the first use of version 1 is on the disk before it counts; other uses write nothing', async () => {
    const key = await copyOf('signing', 'signs', 2);
    const [one, two] = [newProcess(), newProcess()];
    const first = one.take(key, versionOf(key), 1, now);
    expect(first).toBeInstanceOf(Promise);
    expect(stored(key)).toBeUndefined();
    await first;
    expect(stored(key)).toMatchObject({ uses: 1, reserved: 1 });
    commits = 0;
    for (let n = 0; n < 100; n += 1) expect(one.take(key, versionOf(key), 1, now)).toBeUndefined();
    expect(two.take(key, versionOf(key), 1, now)).toBeUndefined();
    expect(two.take(key, versionOf(key, 2), 1, now)).toBeUndefined();
    expect(commits).toBe(0);
    await Promise.all([one.stop(), two.stop()]);
    expect(stored(key)).toMatchObject({ uses: 102, reserved: 102 });
    expect(stored(key, 2)).toMatchObject({ uses: 1, reserved: 1 });
  });

  test('an HMAC under an encrypting key marks it as used, and reserves nothing', async () => {
    const key = await copyOf('aes', 'authenticates');
    const one = newProcess();
    await one.take(key, versionOf(key), 0, now);
    expect(stored(key)).toMatchObject({ uses: 0, reserved: 0 });
    expect(one.take(key, versionOf(key), 0, now)).toBeUndefined();
  });
});

describe('encryptions', () => {
  test('an idle version keeps its smallest reserve, and gives back what is above', async () => {
    const key = await copyOf('aes', 'idle');
    const one = newProcess();
    for (let n = 0; n < 40; n += 1) await one.take(key, versionOf(key), 1, now);
    for (let n = 0; n < 40; n += 1) await one.flush();
    const { uses, reserved } = stored(key) as { uses: number; reserved: number };
    expect(uses).toBe(40);
    expect(reserved - uses).toBe(64);
    commits = 0;
    expect(one.take(key, versionOf(key), 1, now)).toBeUndefined();
    expect(commits).toBe(0);
    await one.stop();
    expect(stored(key)).toMatchObject({ uses: 41, reserved: 41 });
  });

  test('an idle version that is superseded gives back everything: what is left of it would be over-counted', async () => {
    const key = await copyOf('aes', 'superseded');
    const one = newProcess();
    for (let n = 0; n < 40; n += 1) await one.take(key, versionOf(key), 1, now);
    const storeKey = [key.tenantId, key.record.id, 1] as const;
    await store.write((transaction) =>
      transaction.put(tables.versions, storeKey, { ...(tables.versions.get(storeKey) as VersionRecord), supersededAt: now }),
    );
    for (let n = 0; n < 80; n += 1) await one.flush();
    expect(stored(key)).toMatchObject({ uses: 40, reserved: 40 });
  });

  test('more idle versions than have meters keep their reserves, use them without a write, and never count too low', async () => {
    const keys = await copiesOf('aes', numbered('many', 30));
    const one = newProcess({ inMeters: 10, asNumbers: 15 });
    const useEach = (): Promise<unknown> => Promise.all(keys.map(async (key) => one.take(key, versionOf(key), 1, now)));
    const reserves = () => keys.map((key) => (stored(key)?.reserved ?? 0) - (stored(key)?.uses ?? 0));
    await useEach();
    for (let n = 0; n < 40; n += 1) await one.flush();
    // The five that have waited longest and have no place are given back.
    expect(reserves().filter((left) => left === 0)).toHaveLength(5);
    expect(keys.map((key) => one.view(key, 1).usesAtMost)).toEqual(keys.map(() => 1));
    commits = 0;
    await useEach();
    expect(commits).toBe(5);
    expect(keys.map((key) => one.view(key, 1))).toEqual(
      keys.map(() => ({ uses: 2, usesAtMost: 2, rewrapped: 0, refused: 0, lastUsedAt: now })),
    );
    for (let n = 0; n < 40; n += 1) await one.flush();
    await one.stop();
    for (const key of keys) expect(stored(key)).toMatchObject({ uses: 2, lastUsedAt: now });
    // What was kept as a number is not given back: too many, as after a crash.
    expect(reserves().filter((left) => left === 0)).toHaveLength(15);
    expect(reserves().filter((left) => left === 62)).toHaveLength(15);
  });

  test('an idle version that was removed is forgotten, and the others keep their reserves', async () => {
    const keys = await copiesOf('aes', numbered('removed', 20));
    const one = newProcess();
    await Promise.all(keys.map(async (key) => one.take(key, versionOf(key), 1, now)));
    const [gone, kept] = [keys.slice(0, 15), keys.slice(15)];
    await store.write((transaction) => {
      for (const { tenantId, record } of gone) {
        transaction.delete(tables.versions, [tenantId, record.id, 1]);
        transaction.delete(tables.usage, [tenantId, record.id, 1]);
      }
    });
    store.refresh();
    expect(one.meters).toBe(20);
    for (let n = 0; n < 40; n += 1) await one.flush();
    expect(one.meters).toBe(5);
    commits = 0;
    for (const key of kept) expect(one.take(key, versionOf(key), 1, now)).toBeUndefined();
    expect(commits).toBe(0);
    await one.stop();
    for (const key of gone) expect(stored(key)).toBeUndefined();
    for (const key of kept) expect(stored(key)).toMatchObject({ uses: 2, reserved: 2 });
  });

  test('a flush while the store cannot be read, as when it is opened again, leaves everything to later ones', async () => {
    const [first, second] = (await copiesOf('aes', ['unread', 'unread-removed'])) as [Key, Key];
    let isClosed = false;
    const get = (key: Parameters<typeof tables.versions.get>[0]): VersionRecord | undefined => {
      if (isClosed) throw new Error('the store is closed');
      return tables.versions.get(key);
    };
    const one = new UsageMeters(store, { ...tables, versions: { ...tables.versions, get } }, silentLog);
    for (const key of [first, second]) await one.take(key, versionOf(key), 1, now);
    await store.write((transaction) => transaction.delete(tables.versions, [second.tenantId, second.record.id, 1]));
    isClosed = true;
    for (let n = 0; n < 40; n += 1) await one.flush();
    expect(one.meters).toBe(2);
    isClosed = false;
    for (let n = 0; n < 10; n += 1) await one.flush();
    expect(one.meters).toBe(1);
    expect(one.take(first, versionOf(first), 1, now)).toBeUndefined();
    await one.stop();
  });

  test('a first use is stored with its reserve: nothing is left for a flush', async () => {
    const keys = await copiesOf('aes', numbered('once', 200));
    const one = newProcess();
    commits = 0;
    await Promise.all(keys.map(async (key) => one.take(key, versionOf(key), 2, now)));
    expect(commits).toBe(keys.length);
    for (const key of keys) expect(stored(key)).toEqual({ uses: 2, reserved: 64, rewrapped: 0, lastUsedAt: now });
    expect(one.view(keys[0] as Key, 1)).toEqual({ uses: 2, usesAtMost: 2, rewrapped: 0, refused: 0, lastUsedAt: now });
    commits = 0;
    await one.flush();
    expect(commits).toBe(0);
    await one.stop();
    for (const key of keys) expect(stored(key)).toMatchObject({ uses: 2, reserved: 2 });
  });

  test('uses that wait for one reserve are each counted once', async () => {
    const key = await copyOf('aes', 'together');
    const one = newProcess();
    await Promise.all(Array.from({ length: 150 }, async () => one.take(key, versionOf(key), 1, now)));
    expect(one.view(key, 1)).toMatchObject({ uses: 150, usesAtMost: 150 });
    await one.stop();
    expect(stored(key)).toMatchObject({ uses: 150, reserved: 150 });
  });

  test('flushes write many versions in turns, those first that have waited longest', async () => {
    const keys = await copiesOf('signing', numbered('turns', 2_600), 2);
    const one = newProcess();
    const [rest, last] = [keys.slice(0, 2_500), keys.slice(2_500)];
    for (const key of last) await one.take(key, versionOf(key, 2), 1, now);
    for (const key of rest) await one.take(key, versionOf(key, 2), 1, now);
    await one.flush();
    for (const key of last) expect(stored(key, 2)).toMatchObject({ uses: 1 });
    expect(rest.filter((key) => stored(key, 2) !== undefined)).toHaveLength(2_400);
    for (const key of last) await one.take(key, versionOf(key, 2), 1, now);
    await one.flush();
    expect(rest.filter((key) => stored(key, 2) !== undefined)).toHaveLength(2_500);
    await one.stop();
    for (const key of last) expect(stored(key, 2)).toMatchObject({ uses: 2, reserved: 2 });
  });

  test('counts of many versions are written in commits that leave the caches of other processes alone', async () => {
    const one = newProcess();
    const keys = await copiesOf('aes', numbered('counted', 1_200));
    await Promise.all(keys.map(async (key) => one.take(key, versionOf(key), 1, now)));
    for (const key of keys) expect(one.take(key, versionOf(key), 1, now)).toBeUndefined();
    // A state for each commit.
    const before = harness.store.state ?? 0;
    await one.flush();
    expect((harness.store.state ?? 0) - before).toBe(3);
    await one.stop();
  });

  test('whatever processes do, and whenever one is killed, no stored count is below the true one', async () => {
    const keys = await copiesOf('aes', numbered('storm', 24));
    const truth = new Map(keys.map((key) => [key.name, 0]));
    const processes = [newProcess(), newProcess()];
    // A linear congruential generator: the same storm in every run.
    let state = 4711;
    const below = (limit: number): number => ((state = (state * 1_103_515_245 + 12_345) % 2 ** 31) >>> 8) % limit;
    for (let step = 0; step < 1_500; step += 1) {
      const at = below(2);
      const key = keys[below(keys.length)] as Key;
      const count = 1 + below(3);
      switch (below(60)) {
        case 0:
          processes[at] = newProcess();
          break;
        case 1:
          await processes[at]?.flush();
          break;
        case 2:
          for (let n = 0; n < 30; n += 1) await processes[at]?.flush();
          break;
        case 3:
          await processes[at]?.stop();
          processes[at] = newProcess();
          break;
        default:
          await processes[at]?.take(key, versionOf(key), count, now);
          truth.set(key.name, (truth.get(key.name) ?? 0) + count);
      }
      expect(stored(key)?.reserved ?? 0).toBeGreaterThanOrEqual(truth.get(key.name) ?? 0);
    }
    for (const key of keys) expect(stored(key)?.reserved).toBeGreaterThanOrEqual(truth.get(key.name) ?? 0);
  });
});
