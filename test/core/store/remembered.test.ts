// What is remembered of a state of the store is gone with the state.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import { Remembered } from '../../../core/store/records/remembered.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
let store: OpenStore;
beforeAll(async () => {
  store = await openStore({ directory: temporary('store'), dataKey: new Secret(new Uint8Array(32).fill(1)) });
});
afterAll(() => store.close());

const put = (value: number) => store.write((tx) => tx.put(store.table<number>('things'), ['a'], value));

test('it stays while no record changes, and is gone with the first commit, also in the view of a plugin', async () => {
  for (const view of [store, store.prefixed('plugin')]) {
    const known = new Remembered<string, number>(view, 10);
    known.keep('x', 1);
    store.refresh();
    expect(known.find('x')).toBe(1);
    await put(Math.random());
    store.refresh();
    expect(known.find('x')).toBeUndefined();
    known.keep('y', 2);
    expect([known.find('x'), known.find('y')]).toEqual([undefined, 2]);
  }
});

test('a change that is undone leaves nothing behind: inside a commit nothing is kept or found', async () => {
  const known = new Remembered<string, unknown>(store, 10);
  const table = store.table<number>('things');
  await put(1);
  store.refresh();
  known.keep('before', table.get(['a']));
  const undone = store.write((tx) => {
    tx.put(table, ['a'], 2);
    known.keep('inside', table.get(['a']));
    expect(known.find('before')).toBeUndefined();
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect([known.find('before'), known.find('inside')]).toEqual([1, undefined]);
});

test('above its bound it begins again', () => {
  const known = new Remembered<number, number>(store, 3);
  for (const n of [1, 2, 3, 4]) known.keep(n, n);
  expect([1, 2, 3, 4].map((n) => known.find(n))).toEqual([undefined, undefined, undefined, 4]);
});
