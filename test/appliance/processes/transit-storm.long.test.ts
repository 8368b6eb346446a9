// Kills in a storm of changes to keys; npm run soak does it two hundred times.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { stormOnKeys } from '../../harness/storms/transit-storm.ts';

const path = temporaryDirectory();

test('three kills: every acknowledged change is there, the check is clean, no object stays in the token', async () => {
  const report = await stormOnKeys({ directory: path('storm'), kills: 3, checkEvery: 2 });
  expect(report.kills).toBe(3);
  expect(report.changes['create']).toBeGreaterThan(0);
});
