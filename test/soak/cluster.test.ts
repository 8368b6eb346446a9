// Two thousand faults of three appliances over an etcd that is cut off, stopped and killed, too; then two hundred of whole appliances that run
// etcd themselves, which are also lost with their disks, removed and replaced. Nothing acknowledged is lost, and every answer agrees with one order.
import { expect, test } from 'vitest';
import { stormOnOwnMembers } from '../cluster/storm/own-storm.ts';
import { stormOnCluster } from '../cluster/storm/storm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['SOAK_CLUSTER_FAULTS'] ?? 2_000);
const ownFaults = Number(process.env['SOAK_CLUSTER_OWN_FAULTS'] ?? 200);
const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? Date.now() % 2 ** 31);

test.skipIf(faults === 0)(
  `${faults} faults, seed ${seed}`,
  async () => {
    const report = await stormOnCluster({ directory: path, faults, seed });
    console.log(JSON.stringify(report));
    expect(report.losses).toEqual([]);
    expect(Object.values(report.faults).reduce((sum, count) => sum + count, 0)).toBe(faults);
    expect(report.added).toBeGreaterThan(faults);
  },
  14_400_000,
);

test.skipIf(ownFaults === 0)(
  `${ownFaults} faults of appliances that run etcd themselves, seed ${seed}`,
  async () => {
    const report = await stormOnOwnMembers({ directory: (...names) => path('own', ...names), faults: ownFaults, seed });
    console.log(JSON.stringify(report));
    expect(report.losses).toEqual([]);
    expect(report.added).toBeGreaterThan(ownFaults);
    expect(report.revoked).toBeGreaterThan(0);
  },
  14_400_000,
);
