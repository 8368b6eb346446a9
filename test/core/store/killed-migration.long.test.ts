// A process that is killed at any step of a migration leaves whole steps, and the next process goes on with the first that is missing.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { countedRecords, countingMigrations, moments } from './counting-migrations.ts';

const temporary = temporaryDirectory();

test.each(moments)('killed %s: no step is half, and each has run once in the end', async (moment) => {
  const directory = temporary(moment);
  const { signal, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'child.ts'), 'migrate', directory, moment], {
    encoding: 'utf8',
  });
  expect({ signal, stderr }).toMatchObject({ signal: 'SIGKILL' });
  const store = await openStore({ directory, dataKey: new Secret(new Uint8Array(32).fill(1)) });
  const counts = (): ReadonlySet<number> =>
    new Set(Array.from(store.prefixed('transit').table<number>('counted').entries([]), ([, count]) => count));
  const whole = Number(moment.at(-1)) - 1;
  expect(counts()).toEqual(new Set(whole === 0 ? [] : [whole]));
  await store.migrate(
    'transit',
    countingMigrations(() => undefined),
  );
  store.refresh();
  expect(counts()).toEqual(new Set([3]));
  expect(store.prefixed('transit').table('counted').count([])).toBe(countedRecords);
  expect([...store.check()]).toEqual([]);
  await store.close();
});
