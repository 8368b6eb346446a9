// Two thousand faults of three appliances and their etcd: kills, stops, cuts of every shape, lost disks. Nothing acknowledged is lost, and every
// answer agrees with one order.
import { expect, test } from 'vitest';
import { stormOnCluster } from '../cluster/storm/storm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['SOAK_CLUSTER_FAULTS'] ?? 2_000);
const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? Date.now() % 2 ** 31);

test(`${faults} faults, seed ${seed}`, async () => {
  const report = await stormOnCluster({ directory: path, faults, seed });
  console.log(JSON.stringify(report));
  expect(report.losses).toEqual([]);
  expect(Object.values(report.faults).reduce((sum, count) => sum + count, 0)).toBe(faults);
  expect(report.added).toBeGreaterThan(faults);
}, 14_400_000);
