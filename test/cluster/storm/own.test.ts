// npm run test:cluster: a fault of each kind of appliances with their own members of etcd, as `npm run soak -- cluster` makes thousands.
import { expect, test } from 'vitest';
import { mayMount } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { faults } from './faults.ts';
import { stormOnOwnMembers } from './own-storm.ts';
import { mayMakeSpaces } from './network/spaces.ts';

const path = temporaryDirectory();
const possible = mayMakeSpaces && mayMount;
if (!possible) console.warn('SKIPPED: faults of appliances with networks and disks of their own, because that needs root, ip, nft and tc');

test.skipIf(!possible)(
  'a fault of each kind: nothing acknowledged is lost, every answer agrees with one order, and what a cluster promises holds',
  async () => {
    const kinds = Object.keys(faults);
    const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? 17);
    const report = await stormOnOwnMembers({ directory: path, faults: kinds.length, seed, recordFile: path('faults.jsonl') });
    console.log(JSON.stringify(report));
    expect(Object.keys(report.faults).toSorted()).toEqual(kinds.toSorted());
    expect(report.losses).toEqual([]);
    expect(report.verdict.undecided).toEqual([]);
    expect(report.verdict.observations).toBeGreaterThan(100);
    expect(report.storm.uses).toBeGreaterThan(20);
  },
  3_600_000,
);
