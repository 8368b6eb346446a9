// Migrations: once, in order, completely or not at all, and never backwards.
import { expect, test } from 'vitest';
import type { Migration } from '../../../core/store/migrate.ts';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const dataKey = new Secret(new Uint8Array(32).fill(1));

/** Appends its number to one list. */
function step(version: number): Migration {
  return {
    version,
    level: 1,
    describe: `step ${version}`,
    run(transaction, store) {
      const log = store.table<number[]>('log');
      transaction.put(log, ['ran'], [...(transaction.get(log, ['ran']) ?? []), version]);
    },
  };
}

test('each runs once, in order, also when several processes start at the same time', async () => {
  const directory = temporary('once');
  const stores = await Promise.all([1, 2, 3].map(() => openStore({ directory, dataKey })));
  await Promise.all(stores.map((store) => store.migrate('transit', [step(1), step(2), step(5)])));
  await stores[0]?.migrate('transit', [step(1), step(2), step(5), step(6)]);
  await stores[1]?.migrate('core', [step(1)]);
  stores[2]?.refresh();
  expect(stores[2]?.prefixed('transit').table('log').get(['ran'])).toEqual([1, 2, 5, 6]);
  expect(stores[2]?.table('log').get(['ran'])).toEqual([1]);
  await Promise.all(stores.map((store) => store.close()));
});

test('one that throws changes nothing, is named in the error, and runs again next time', async () => {
  const store = await openStore({ directory: temporary('throws'), dataKey });
  const broken: Migration = {
    version: 2,
    level: 1,
    describe: 'split the names',
    run(transaction, view) {
      step(2).run(transaction, view);
      throw new Error('no such luck');
    },
  };
  await expect(store.migrate('oidc', [step(1), broken])).rejects.toThrow(
    'migration 2 of oidc (split the names) failed: Error: no such luck',
  );
  expect(store.prefixed('oidc').table('log').get(['ran'])).toEqual([1]);
  await store.migrate('oidc', [step(1), step(2)]);
  expect(store.prefixed('oidc').table('log').get(['ran'])).toEqual([1, 2]);
  await store.close();
});

test('data newer than the program is refused with a clear message', async () => {
  const store = await openStore({ directory: temporary('newer'), dataKey });
  await store.migrate('est', [step(1), step(2), step(3)]);
  await expect(store.migrate('est', [step(1), step(2)])).rejects.toThrow(/^the data of est has version 3, this program knows 2: [^\n]+$/);
  await store.close();
});

test.each([[[step(2), step(1)]], [[step(1), step(1)]], [[step(0)]], [[step(1.5)]]])(
  'a list not numbered upwards is a programming error',
  async (list) => {
    const store = await openStore({ directory: temporary('order'), dataKey });
    await expect(store.migrate('est', list)).rejects.toThrow(TypeError);
    await store.close();
  },
);
