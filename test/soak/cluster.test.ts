// Two thousand faults of three appliances over an etcd that is cut off, stopped and killed, too; then two thousand of whole appliances that run
// etcd themselves, each with a network, a disk, a clock and a way to the HSM of its own. Nothing acknowledged is lost, and every answer agrees with
// one order. SOAK_CLUSTER_FAULTS and SOAK_CLUSTER_OWN_FAULTS choose how many (0: none), SOAK_CLUSTER_MINUTES how long the second goes on at least,
// SOAK_CLUSTER_SEED the seed. Each fault of the second is a line in dist/soak/cluster-<seed>.jsonl.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stormOnOwnMembers } from '../cluster/storm/own-storm.ts';
import { mayMakeSpaces } from '../cluster/storm/network/spaces.ts';
import { stormOnCluster } from '../cluster/storm/storm.ts';
import { mayMount } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['SOAK_CLUSTER_FAULTS'] ?? 2_000);
const ownFaults = Number(process.env['SOAK_CLUSTER_OWN_FAULTS'] ?? 2_000);
const minutes = Number(process.env['SOAK_CLUSTER_MINUTES'] ?? 0);
const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? Date.now() % 2 ** 31);
const dayMs = 86_400_000;
const possible = mayMakeSpaces && mayMount;
if (!possible) console.warn('SKIPPED: faults of appliances with networks and disks of their own, because that needs root, ip, nft and tc');

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

test.skipIf(ownFaults === 0 || !possible)(
  `${ownFaults} faults of appliances that run etcd themselves, seed ${seed}`,
  async () => {
    const recordFile = resolve(import.meta.dirname, `../../dist/soak/cluster-${seed}.jsonl`);
    const report = await stormOnOwnMembers({
      directory: (...names) => path('own', ...names),
      faults: ownFaults,
      minutes,
      seed,
      recordFile,
    });
    console.log(`seed ${seed}, ${recordFile}: ${JSON.stringify(report)}`);
    expect(report.losses).toEqual([]);
    expect(report.verdict.undecided).toEqual([]);
    expect(Object.values(report.faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(ownFaults);
    expect(report.verdict.observations).toBeGreaterThan(ownFaults);
  },
  dayMs,
);
