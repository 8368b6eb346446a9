// A file of the store that is shorter than it says is refused before LMDB reads beyond its end, which would end the process (SIGBUS).
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { StoreDamaged } from '../../../core/store/files/store-damaged.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const dataKey = () => new Secret(new Uint8Array(32).fill(1));
const pageBytes = 4_096;

beforeAll(async () => {
  const store = await openStore({ directory: path('whole'), dataKey: dataKey() });
  const things = store.table<Uint8Array>('things');
  await store.write((transaction) => {
    for (let n = 0; n < 40; n++) transaction.put(things, [n], new Uint8Array(3_000).fill(n + 1));
  });
  await store.close();
});

test.each([1, 2, 10, 20, 30])('without its last %i pages it is refused by its path', async (pages) => {
  const directory = path(`cut-${pages}`);
  mkdirSync(directory);
  const file = join(directory, 'data.mdb');
  copyFileSync(path('whole/data.mdb'), file);
  const bytes = statSync(file).size;
  truncateSync(file, bytes - pages * pageBytes - 100);
  const opening = openStore({ directory, dataKey: dataKey() });
  await expect(opening).rejects.toBeInstanceOf(StoreDamaged);
  await expect(opening).rejects.toThrow(`${file} is cut off: it has ${bytes - pages * pageBytes - 100} octets of ${bytes}`);
});

test('without its first pages it is refused, and a whole one is opened', async () => {
  const directory = path('beginning');
  mkdirSync(directory);
  copyFileSync(path('whole/data.mdb'), join(directory, 'data.mdb'));
  truncateSync(join(directory, 'data.mdb'), 100);
  await expect(openStore({ directory, dataKey: dataKey() })).rejects.toThrow('data.mdb is damaged: it does not begin as a store does');
  const whole = await openStore({ directory: path('whole'), dataKey: dataKey() });
  expect(whole.table('things').count([])).toBe(40);
  await whole.close();
});

test.each([
  ['first sector', 0, 512],
  ['magic number', 24, 4],
  ['size of pages', 48, 4],
])('with a damaged %s it is refused: LMDB needs the first page, however whole the second one is', async (what, at, bytes) => {
  const directory = path(`damaged ${what}`);
  mkdirSync(directory);
  const file = join(directory, 'data.mdb');
  writeFileSync(file, readFileSync(path('whole/data.mdb')).fill(0xa5, at, at + bytes));
  const opening = openStore({ directory, dataKey: dataKey() });
  await expect(opening).rejects.toBeInstanceOf(StoreDamaged);
  await expect(opening).rejects.toThrow(`${file} is damaged: it does not begin as a store does`);
});

test('one that says it has a page more, which nothing leads to, is whole: LMDB never writes pages that were free again before a commit', async () => {
  const directory = path('free-end');
  mkdirSync(directory);
  const octets = readFileSync(path('whole/data.mdb'));
  for (const lastPageAt of [144, pageBytes + 144]) octets.writeBigUInt64LE(octets.readBigUInt64LE(lastPageAt) + 1n, lastPageAt);
  writeFileSync(join(directory, 'data.mdb'), octets);
  const store = await openStore({ directory, dataKey: dataKey() });
  const things = store.table<number>('things');
  await store.write((transaction) => transaction.put(things, ['more'], 1));
  expect(things.count([])).toBe(41);
  await store.close();
});
