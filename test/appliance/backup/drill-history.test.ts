// What restore drills have found: it stays until one restores.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drillHistory, type DrillResult, hasFoundFaults, keepResult } from '../../../appliance/backup/drills/record.ts';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('a look, a drill that did not open and a worse passphrase leave the faults that were found; a drill that restores ends them', async () => {
  const store = await openStore({ directory: join(path(), 'store'), dataKey: new Secret(randomBytes(32)) });
  const keep = (outcome: DrillResult['outcome'], kind: DrillResult['kind'] = 'drill'): Promise<void> =>
    keepResult(store, { at: '2026-03-02T10:00:00.000000Z', by: 'alice', source: 'a', kind, outcome });
  expect(hasFoundFaults(store)).toBe(false);
  await keep('not-opened');
  expect(hasFoundFaults(store)).toBe(false);
  await keep('found');
  for (const [outcome, kind] of [
    ['not-opened', 'drill'],
    ['looked', 'look'],
    ['not-opened', 'look'],
  ] as const) {
    await keep(outcome, kind);
    expect([hasFoundFaults(store), drillHistory(store).last?.outcome]).toEqual([true, outcome]);
  }
  expect(Object.keys(drillHistory(store))).toEqual(['last']);
  await keep('restores', 'noted');
  expect(hasFoundFaults(store)).toBe(false);
  await store.close();
});
