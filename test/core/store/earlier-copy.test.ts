// An earlier copy that is written over the store in place, as `cp` does: nothing is answered from it, nothing committed to it.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const dataKey = new Secret(new Uint8Array(32).fill(1));
const away = { code: 'storage-unavailable' };

function overwrite(file: string, octets: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, octets, 0, octets.length, 0);
  closeSync(descriptor);
}

test('an earlier copy in place is damage: reads and changes are refused until the newer one is back and the store opened again', async () => {
  const directory = temporary('store');
  const file = join(directory, 'data.mdb');
  const store = await openStore({ directory, dataKey });
  const things = store.table<string>('things');
  const put = (value: string) => store.write((transaction) => transaction.put(things, ['token'], value));
  // The file has its size from here on.
  for (let n = 0; n < 20; n++) await put('good');
  const earlier = readFileSync(file);
  await put('revoked');
  const newest = readFileSync(file);
  expect(newest.length).toBe(earlier.length);

  overwrite(file, earlier);
  expect(() => store.refresh()).toThrow(expect.objectContaining(away));
  expect(store.damage).toMatch(/replaced by an earlier copy/);
  await expect(put('forgotten')).rejects.toMatchObject(away);
  expect(readFileSync(file).equals(earlier)).toBe(true);

  overwrite(file, newest);
  expect(() => store.refresh()).toThrow(expect.objectContaining(away));
  await store.close();
  const again = await openStore({ directory, dataKey });
  expect(again.table<string>('things').get(['token'])).toBe('revoked');
  await again.close();
});

test('a store goes on after a revision that it does not have, and other processes notice', async () => {
  const directory = temporary('raised');
  const store = await openStore({ directory, dataKey });
  const things = store.table<number>('things');
  await store.write((transaction) => transaction.put(things, ['a'], 1));
  expect(things.get(['a'])).toBe(1);
  await store.goOnAfter(5_000);
  await store.write((transaction) => transaction.put(things, ['a'], 2));
  expect([store.committed, things.get(['a'])]).toEqual([5_001, 2]);
  await store.goOnAfter(7);
  await store.close();
  const again = await openStore({ directory, dataKey });
  expect(again.openedAt).toBe(5_001);
  await again.close();
});
