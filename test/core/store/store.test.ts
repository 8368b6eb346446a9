// The store in one process: it behaves like a Map and keeps what it acknowledged.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import * as fc from 'fast-check';
import { allDbs } from 'lmdb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Log } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { reasonOf } from '../../../core/base/errors.ts';
import { Secret } from '../../../core/base/secret.ts';
import { Environment } from '../../../core/store/environment.ts';
import { keyBytes, requireKey } from '../../../core/store/keys.ts';
import { revisionKey, revisionOf } from '../../../core/store/revision.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { tableNamesIn, textsIn } from '../../../core/store/tables.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const dataKey = new Secret(new Uint8Array(32).fill(1));
const opened: OpenStore[] = [];
let count = 0;

async function newStore(directory = temporary(`store-${++count}`), cacheBytes?: number): Promise<OpenStore> {
  const store = await openStore({ directory, dataKey, ...defined({ cacheBytes }) });
  opened.push(store);
  return store;
}

afterEach(async () => {
  for (const store of opened.splice(0)) {
    const findings = [...store.check()];
    await store.close();
    if (findings.length > 0) throw new Error(JSON.stringify(findings));
  }
});

describe('reading and writing', () => {
  test('a written value comes back equal, frozen, and the same object until it changes', async () => {
    const store = await newStore();
    const table = store.table<object>('things');
    const value = { text: 'é', n: 2 ** 40, octets: Uint8Array.of(1, 2), list: [{ deep: true }], none: null };
    await store.write((tx) => tx.put(table, ['a', 1], value));
    const read = table.get(['a', 1]);
    expect(read).toEqual(value);
    expect(Object.isFrozen(read) && Object.isFrozen((read as typeof value).list[0])).toBe(true);
    expect(table.get(['a', 1])).toBe(read);
    expect(table.has(['a', 1])).toBe(true);
    expect(table.get(['a'])).toBeUndefined();
    await store.write((tx) => tx.put(table, ['a', 1], { ...value, n: 1 }));
    expect(table.get(['a', 1])).toEqual({ ...value, n: 1 });
  });

  test('names that no record can have are absent, not an error', async () => {
    const store = await newStore();
    const table = store.table<string>('things');
    await store.write((tx) => tx.put(table, ['a', 'b'], 'x'));
    for (const key of [['a\0b'], ['\ud800'], ['x'.repeat(5_000)], [-1]] satisfies StoreKey[]) {
      expect(table.get(key)).toBeUndefined();
      expect(table.has(key)).toBe(false);
      expect([...table.keys(key)]).toEqual([]);
      expect(table.count(key)).toBe(0);
    }
  });

  test.each([
    ['a class instance', new Secret('x')],
    ['a Date', { at: new Date(0) }],
    ['a Map', [new Map()]],
    ['a function', { f: () => 1 }],
    ['a bigint', 1n],
    ['undefined', undefined],
  ])('refuses to store %s', async (_what, value) => {
    const store = await newStore();
    await expect(store.write((tx) => tx.put(store.table<unknown>('things'), ['a'], value))).rejects.toThrow(TypeError);
    expect(store.table('things').count([])).toBe(0);
  });

  test('text that is not well-formed Unicode is refused as a bad value', async () => {
    const store = await newStore();
    const write = store.write((tx) => tx.put(store.table<unknown>('things'), ['a'], { text: '\ud800' }));
    await expect(write).rejects.toMatchObject({ code: 'invalid-value' });
  });

  test('a throw undoes its own change and no other one of the same turn', async () => {
    const store = await newStore();
    const table = store.table<number>('things');
    const writes = [
      store.write((tx) => tx.put(table, ['a'], 1)),
      store.write((tx) => {
        tx.put(table, ['b'], 2);
        tx.delete(table, ['a']);
        throw new Error('changed my mind');
      }),
      store.write((tx) => {
        tx.put(table, ['c'], tx.get(table, ['a']) ?? 0);
        return [...tx.entries(table, [])];
      }),
    ] as const;
    const results = await Promise.allSettled(writes);
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { message: 'changed my mind' } });
    expect(results[2]).toMatchObject({ value: [[['a'], 1], [['c'], 1]] }); // prettier-ignore
    expect([...table.entries([])]).toEqual([[['a'], 1], [['c'], 1]]); // prettier-ignore
  });

  test('a throw brings back what was there, however often the change wrote it, and what earlier changes of the commit wrote', async () => {
    const store = await newStore();
    const table = store.table<number>('things');
    await store.write((tx) => {
      tx.put(table, ['kept'], 1);
      tx.put(table, ['gone'], 1);
    });
    const state = [[['gone'], 1], [['kept'], 2], [['new'], 2]]; // prettier-ignore
    const results = await Promise.allSettled([
      store.write((tx) => {
        tx.put(table, ['kept'], 2);
        tx.put(table, ['new'], 2);
      }),
      store.write((tx) => {
        for (const value of [3, 4]) for (const key of ['kept', 'gone', 'new', 'own']) tx.put(table, [key], value);
        for (const key of ['kept', 'gone', 'new', 'own']) tx.delete(table, [key]);
        tx.put(table, ['gone'], 5);
        expect([...tx.entries(table, [])]).toEqual([[['gone'], 5]]);
        throw new Error('undo');
      }),
      store.write((tx) => [...tx.entries(table, [])]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[2]).toMatchObject({ value: state });
    expect([...table.entries([])]).toEqual(state);
  });

  test('a hundred writes of one turn are one commit', async () => {
    const directory = temporary('batch');
    const store = await newStore(directory);
    const table = store.table<number>('counter');
    await store.write((tx) => tx.put(table, ['n'], 0));
    await Promise.all(Array.from({ length: 100 }, () => store.write((tx) => tx.put(table, ['n'], (tx.get(table, ['n']) ?? 0) + 1))));
    expect(table.get(['n'])).toBe(100);
    const raw = new Environment(directory, () => {});
    expect(revisionOf(raw.get(revisionKey))).toBe(2);
    await raw.close();
  });

  test('inside a change the table reads what the change wrote, and the cache never keeps what was undone', async () => {
    const store = await newStore();
    const table = store.table<number>('things');
    await store.write((tx) => tx.put(table, ['a'], 1));
    expect(table.get(['a'])).toBe(1);
    const undone = store.write((tx) => {
      tx.put(table, ['a'], 2);
      tx.put(table, ['b'], 2);
      expect([table.get(['a']), table.get(['b']), table.count([])]).toEqual([2, 2, 2]);
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect([table.get(['a']), table.get(['b']), table.count([])]).toEqual([1, undefined, 1]);
  });

  test('a transaction used after its change, and an asynchronous change, are refused', async () => {
    const store = await newStore();
    const table = store.table<number>('things');
    const kept = await store.write<WriteTransaction>((tx) => tx);
    expect(() => kept.put(table, ['a'], 1)).toThrow(/after its change was over/);
    await expect(store.write(async (tx) => tx.put(table, ['a'], 1))).rejects.toThrow(/synchronous/);
    expect(table.count([])).toBe(0);
  });

  test('plugins see their own tables only', async () => {
    const store = await newStore();
    const [transit, oidc] = [store.prefixed('transit'), store.prefixed('oidc')];
    await transit.write((tx) => tx.put(transit.table<number>('keys'), ['a'], 1));
    await store.write((tx) => tx.put(store.table<number>('keys'), ['a'], 2));
    expect(transit.table('keys').get(['a'])).toBe(1);
    expect(oidc.table('keys').get(['a'])).toBeUndefined();
    expect(store.table('keys').get(['a'])).toBe(2);
    for (const name of ['a/b', '', 'A', 'transit/keys', '\u0002format']) expect(() => transit.table(name)).toThrow(TypeError);
  });
});

describe('against a Map', () => {
  const key = fc.tuple(fc.constantFrom('t1', 't2'), fc.constantFrom('a', 'ab', 'b', 'é'), fc.nat({ max: 11 }));
  const value = fc.oneof(fc.string(), fc.nat(), fc.record({ list: fc.array(fc.boolean()), octets: fc.uint8Array() }), fc.constant(null));
  const step = fc.record({
    puts: fc.array(fc.tuple(key, value), { maxLength: 6 }),
    deletes: fc.array(key, { maxLength: 3 }),
    fails: fc.boolean(),
  });
  const query = fc.record({
    prefix: fc.constantFrom<StoreKey>([], ['t1'], ['t1', 'a'], ['t2', 'é'], ['t3']),
    reverse: fc.boolean(),
    limit: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
    after: fc.option(fc.constantFrom<string | number>('t1', 'a', 'aa', 5, 11), { nil: undefined }),
  });

  test('any sequence of changes, undone changes and restarts, with a small cache', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.array(query, { maxLength: 5 }), async (steps, queries) => {
        const directory = temporary(`model-${++count}`);
        let store = await openStore({ directory, dataKey, cacheBytes: 500 });
        const model = new Map<string, [StoreKey, unknown]>();
        for (const [index, { puts, deletes, fails }] of steps.entries()) {
          const table = store.table<unknown>('things');
          const write = store.write((tx) => {
            for (const [at, what] of puts) tx.put(table, at, what);
            const existed = deletes.map((at) => tx.delete(table, at));
            if (fails) throw new RangeError('undo');
            return existed;
          });
          const there = (at: StoreKey, index: number): boolean =>
            !deletes.slice(0, index).some((gone) => same(gone, at)) &&
            (puts.some(([put]) => same(put, at)) || model.has(JSON.stringify(at)));
          const existed = await write.catch((error: unknown) => error);
          expect(existed).toEqual(fails ? new RangeError('undo') : deletes.map(there));
          if (!fails) {
            for (const [at, what] of puts) model.set(JSON.stringify(at), [at, what]);
            for (const at of deletes) model.delete(JSON.stringify(at));
          }
          for (const [at, what] of model.values()) expect(table.get(at)).toEqual(what);
          if (index === 4) {
            await store.close();
            store = await openStore({ directory, dataKey });
          }
        }
        const table = store.table<unknown>('things');
        for (const { prefix, reverse, limit, after } of queries) {
          const options = { reverse, ...defined({ limit, after }) };
          const expected = expectedEntries([...model.values()], prefix, options);
          expect([...table.entries(prefix, options)]).toEqual(expected);
          expect([...table.keys(prefix, options)]).toEqual(expected.map(([at]) => at));
          expect(table.count(prefix)).toBe(expectedEntries([...model.values()], prefix, {}).length);
        }
        expect([...store.check()]).toEqual([]);
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  test('a walk over many records can leave the cache to others', async () => {
    const store = await newStore(undefined, 20_000);
    const table = store.table<{ n: number }>('things');
    await store.write((tx) => {
      for (let n = 0; n < 2_000; n += 1) tx.put(table, ['many', n], { n });
    });
    const before = table.get(['many', 7]);
    expect([...table.entries(['many'], { uncached: true })].map(([, { n }]) => n)).toEqual(Array.from({ length: 2_000 }, (_, n) => n));
    expect(table.get(['many', 7])).toBe(before);
    expect([...table.entries(['many'])]).toHaveLength(2_000);
    expect(table.get(['many', 7])).not.toBe(before);
    expect(table.get(['many', 7])).toEqual(before);
  });

  test('long lists are complete and in order over several pages, also while they are changed', async () => {
    const store = await newStore();
    const table = store.table<number>('many');
    await store.write((tx) => {
      for (let n = 0; n < 1_000; n++) tx.put(table, ['t', n], n);
    });
    expect([...table.entries(['t'])].map(([, n]) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect([...table.keys(['t'], { reverse: true, limit: 600 })].map(([, n]) => n)).toEqual(Array.from({ length: 600 }, (_, n) => 999 - n));
    await store.write((tx) => {
      for (const [at] of tx.entries(table, ['t'])) if (Number(at[1]) % 2 === 0) tx.delete(table, at);
    });
    expect(table.count(['t'])).toBe(500);
    const seen: unknown[] = [];
    for (const [at] of table.entries(['t'])) {
      if (seen.push(at[1]) % 100 === 0) await store.write((tx) => tx.delete(table, ['t', 999]));
    }
    expect(seen.at(-1)).toBe(997);
  });
});

describe('a walk over names', () => {
  test('copies the octets of no key', async () => {
    const store = await newStore();
    const table = store.table<string>('things');
    const names = Array.from({ length: 600 }, (_, n) => `é-${String(n).padStart(3, '0')}`);
    await store.write((tx) => {
      for (const name of names) tx.put(table, ['of', 7, name], name);
    });
    store.refresh();
    const copies = vi.spyOn(Buffer, 'copyBytesFrom');
    expect(Array.from(table.keys(['of', 7]))).toEqual(names.map((name) => ['of', 7, name]));
    expect(Array.from(table.keys([]))).toEqual(names.map((name) => ['of', 7, name]));
    expect(copies).not.toHaveBeenCalled();
    copies.mockRestore();
  });

  test.each([false, true])('goes on behind a key that is no UTF-8, which keystored never writes (reverse: %s)', async (reverse) => {
    const environment = new Environment(temporary(`store-${++count}`), () => undefined);
    const keys = Array.from({ length: 600 }, (_, n) => Buffer.from([0x61, 0xfe, n >> 8, n & 0xff]));
    await environment.commit(() => {
      for (const key of keys) environment.put(key, Buffer.of(1));
    });
    const span = { low: Buffer.from('a'), high: Buffer.from('b') };
    // One more than there are, where the walk goes back.
    const found = Iterator.from(textsIn(environment, span, reverse))
      .take(keys.length + 1)
      .toArray();
    expect(found).toEqual((reverse ? keys.toReversed() : keys).map((key) => key.toString('utf8')));
    await environment.close();
  });

  test('names of tables are walked past keys that no table has', async () => {
    const environment = new Environment(temporary('strange-tables'), () => undefined);
    const keys = ['a\0one\0', 'b', 'bc\0', 'd\xf5\0', 'd\xf5', 'e\0one\0', 'e\0two\0'].map((text) => Buffer.from(text, 'latin1'));
    await environment.commit(() => {
      for (const key of keys) environment.put(key, Buffer.of(1));
    });
    // One more than there are, where the walk goes back.
    expect(Iterator.from(tableNamesIn(environment)).take(6).toArray()).toEqual(['a', 'bc', 'd\ufffd', 'e']);
    await environment.close();
  });
});

describe('the files of the store', () => {
  test('no value is found in the files, and only the owner may read them', async () => {
    const directory = temporary('canary');
    const store = await openStore({ directory, dataKey });
    const canary = 'canary-5f1d3c-must-not-be-found';
    for (let n = 0; n < 20; n++)
      await store.write((tx) => tx.put(store.table<object>('secrets'), ['t', n % 3], { canary, octets: Buffer.from(canary) }));
    await store.close();
    for (const file of readdirSync(directory)) {
      expect(readFileSync(`${directory}/${file}`).includes(canary)).toBe(false);
      expect(statSync(`${directory}/${file}`).mode & 0o077).toBe(0);
    }
    expect(statSync(directory).mode & 0o077).toBe(0);
  });

  test('a sealed value copied to another key, or modified, does not open; the check names its key', async () => {
    const directory = temporary('swapped');
    const store = await openStore({ directory, dataKey });
    const table = store.table<string>('keys');
    await store.write((tx) => {
      tx.put(table, ['t', 'mine'], 'my blob');
      tx.put(table, ['t', 'theirs'], 'their blob');
      tx.put(table, ['t', 'third'], 'x');
    });
    await store.close();
    const raw = new Environment(directory, () => {});
    const [mine, theirs, third] = ['mine', 'theirs', 'third'].map((name) => keyBytes(requireKey('keys', ['t', name]))) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    await raw.commit(() => {
      raw.put(theirs, raw.get(mine) ?? Buffer.alloc(0));
      raw.put(
        third,
        Uint8Array.from(raw.get(third) ?? [], (octet, index) => (index === 30 ? octet ^ 1 : octet)),
      );
      raw.put(Buffer.from('keys\0no closing mark'), Buffer.alloc(3));
    });
    await raw.close();
    const again = await openStore({ directory, dataKey });
    expect(again.table('keys').get(['t', 'mine'])).toBe('my blob');
    expect(() => again.table('keys').get(['t', 'theirs'])).toThrow(/keys \["t","theirs"\] does not open/);
    expect([...again.check()].map(({ where }) => where)).toEqual([
      '"keys\\u0000no closing mark"',
      'keys ["t","theirs"]',
      'keys ["t","third"]',
    ]);
    await again.close();
  });

  test('another data key is refused at once with a clear message, and nothing is changed', async () => {
    const directory = temporary('other-key');
    const store = await openStore({ directory, dataKey });
    await store.write((tx) => tx.put(store.table<number>('things'), ['a'], 1));
    await store.close();
    const other = new Secret(new Uint8Array(32).fill(2));
    await expect(openStore({ directory, dataKey: other })).rejects.toThrow(/^the data key does not open the store in [^\n]+$/);
    expect((await newStore(directory)).table('things').get(['a'])).toBe(1);
  });

  test('a backup of an open store opens with the same key, has the state of its moment, and overwrites nothing', async () => {
    const store = await newStore();
    const table = store.table<number>('things');
    await store.write((tx) => tx.put(table, ['a'], 1));
    const directory = temporary('backup');
    await store.backup(directory);
    await store.write((tx) => tx.put(table, ['a'], 2));
    await expect(store.backup(directory)).rejects.toMatchObject({ code: 'EEXIST' });
    expect((await newStore(directory)).table('things').get(['a'])).toBe(1);
    expect(statSync(`${directory}/data.mdb`).mode & 0o077).toBe(0);
  });
});

test('lmdb-js forgets what is closed: every backup opens a copy', async () => {
  const { size } = allDbs;
  const environment = new Environment(temporary('closed'), () => undefined);
  expect(allDbs.size).toBe(size + 1);
  await environment.close();
  expect(allDbs.size).toBe(size);
});

test('after close everything is refused, and writes asked for before it are kept', async () => {
  const directory = temporary('closing');
  const store = await openStore({ directory, dataKey });
  const table = store.table<number>('things');
  const write = store.write((tx) => tx.put(table, ['a'], 1));
  await Promise.all([store.close(), write]);
  await store.close();
  expect(() => table.get(['a'])).toThrow(expect.objectContaining({ code: 'storage-unavailable' }));
  await expect(store.write(() => 1)).rejects.toMatchObject({ code: 'storage-unavailable' });
  expect((await newStore(directory)).table('things').get(['a'])).toBe(1);
});

type Options = { readonly reverse?: boolean; readonly limit?: number; readonly after?: string | number };

function expectedEntries(all: [StoreKey, unknown][], prefix: StoreKey, { reverse = false, limit, after }: Options): [StoreKey, unknown][] {
  const below = all
    .filter(([key]) => prefix.every((part, index) => key[index] === part))
    .sort(([a], [b]) => Buffer.compare(keyBytes(order(a)), keyBytes(order(b))));
  const rest = below.filter(([key]) => {
    if (after === undefined) return true;
    const upTo = order([...prefix, after]);
    return reverse
      ? Buffer.compare(keyBytes(order(key)), keyBytes(upTo)) < 0
      : !order(key).startsWith(upTo) && Buffer.compare(keyBytes(order(key)), keyBytes(upTo)) > 0;
  });
  return (reverse ? rest.toReversed() : rest).slice(0, limit);
}

function order(key: StoreKey): string {
  return requireKey('t', key);
}

function same(left: StoreKey, right: StoreKey): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

test('a write after the store was closed is refused, with the reason for the log and nothing logged as a fault of the disk', async () => {
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
  const store = await openStore({ directory: temporary('closed'), dataKey, log });
  await store.close();
  const refused = await store.write((tx) => tx.put(store.table('things'), ['a'], 1)).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'storage-unavailable' });
  expect(reasonOf(refused)).toBe('the store is closed');
  expect(logged).toEqual([]);
});
