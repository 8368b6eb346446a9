// npm run test:cluster: one fault of each kind of appliances with their own members of etcd, as `npm run soak -- cluster` makes hundreds.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { stormOnOwnMembers } from './own-storm.ts';

const path = temporaryDirectory();

test('a fault of each kind: nothing acknowledged is lost, no revoked token is accepted, and every answer agrees with one order', async () => {
  const report = await stormOnOwnMembers({ directory: path, faults: 11, seed: Number(process.env['SOAK_CLUSTER_SEED'] ?? 17) });
  console.log(JSON.stringify(report));
  expect(Object.keys(report.faults)).toHaveLength(11);
  expect(report.losses).toEqual([]);
  expect(report.added).toBeGreaterThan(20);
  expect(report.revoked).toBeGreaterThan(0);
});
