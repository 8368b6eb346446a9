// npm test -- cluster: a fault of each kind of appliances with their own members of etcd, as `npm run soak -- cluster` makes thousands.
import { expect, test } from 'vitest';
import { mayMount } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { faultsOf } from './faults.ts';
import { stormOnOwnMembers } from './own-storm.ts';
import { mayMakeSpaces } from './network/spaces.ts';
import type { TokenShape } from './tokens.ts';

const path = temporaryDirectory();
/** One place with one HSM, or three sites with a token in each. */
const betweenMs = { shared: 0, own: 4 };
const possible = mayMakeSpaces && mayMount;
if (!possible) console.warn('SKIPPED: faults of appliances with networks and disks of their own, because that needs root, ip, nft and tc');

test.skipIf(!possible).each<TokenShape>(['shared', 'own'])(
  'a fault of each kind, tokens %s: nothing acknowledged is lost, every answer agrees with one order, and what a cluster promises holds',
  async (tokens) => {
    const kinds = Object.keys(faultsOf(tokens));
    const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? 17);
    const directory = (...names: string[]): string => path(tokens, ...names);
    const recordFile = path(`${tokens}.jsonl`);
    const report = await stormOnOwnMembers({
      ...{ directory, tokens, faults: kinds.length, seed, recordFile },
      betweenMs: betweenMs[tokens],
    });
    console.log(JSON.stringify(report));
    expect(Object.keys(report.faults).toSorted()).toEqual(kinds.toSorted());
    expect(report.losses).toEqual([]);
    expect(report.verdict.undecided).toEqual([]);
    expect(report.verdict.observations).toBeGreaterThan(100);
    expect(report.storm.uses).toBeGreaterThan(20);
  },
  3_600_000,
);
