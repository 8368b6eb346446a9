// Two hundred kills in a storm of changes to keys: nothing acknowledged is lost, no invariant breaks, no object stays in the token.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { stormOnKeys } from '../harness/storms/transit-storm.ts';

const path = temporaryDirectory();
const kills = Number(process.env['SOAK_KILLS'] ?? 200);

test(`${kills} kills in a storm of creates, rotates, trims, imports, restores and deletes`, async () => {
  const report = await stormOnKeys({ directory: path('storm'), kills, checkEvery: 10 });
  console.log(JSON.stringify(report));
  expect(report.kills).toBe(kills);
  expect(Object.keys(report.changes).toSorted()).toEqual(['create', 'delete', 'import', 'restore', 'rotate', 'trim']);
}, 3_600_000);
