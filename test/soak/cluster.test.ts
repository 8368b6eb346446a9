// Two thousand faults of three appliances over an etcd that is cut off, stopped and killed, too; then two thousand of whole appliances that run
// etcd themselves, each with a network, a disk, a clock and a way to the HSM of its own; then a thousand of such with a token in each, at three sites.
// Nothing acknowledged is lost, and every answer agrees with one order. SOAK_CLUSTER_FAULTS, SOAK_CLUSTER_OWN_FAULTS and SOAK_CLUSTER_TOKENS_FAULTS
// choose how many (0: none), SOAK_CLUSTER_MINUTES how long the second and the third go on at least, SOAK_CLUSTER_BETWEEN_MS how long packets of these
// two take from one machine to another, SOAK_CLUSTER_SEED the seed. Each fault of these is a line in
// dist/soak/cluster-<shared or own>-<seed>.jsonl.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { DrillFigures } from '../../appliance/docs/drills.ts';
import { type OwnStormReport, stormOnOwnMembers } from '../cluster/storm/own-storm.ts';
import { mayMakeSpaces } from '../cluster/storm/network/spaces.ts';
import { stormOnCluster } from '../cluster/storm/storm.ts';
import { keepResult, sumOf } from '../harness/drill-result.ts';
import { mayMount } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['SOAK_CLUSTER_FAULTS'] ?? 2_000);
/** Of appliances that run etcd themselves: how many, and how far they are apart. */
const drills = [
  { tokens: 'shared', faults: Number(process.env['SOAK_CLUSTER_OWN_FAULTS'] ?? 2_000), betweenMs: 0 },
  { tokens: 'own', faults: Number(process.env['SOAK_CLUSTER_TOKENS_FAULTS'] ?? 1_000), betweenMs: 4 },
] as const;
const setBetweenMs = process.env['SOAK_CLUSTER_BETWEEN_MS'];
const minutes = Number(process.env['SOAK_CLUSTER_MINUTES'] ?? 0);
const seed = Number(process.env['SOAK_CLUSTER_SEED'] ?? Date.now() % 2 ** 31);
const dayMs = 86_400_000;
const possible = mayMakeSpaces && mayMount;
if (!possible) console.warn('SKIPPED: faults of appliances with networks and disks of their own, because that needs root, ip, nft and tc');

test.skipIf(faults === 0)(
  `${faults} faults, seed ${seed}`,
  async () => {
    const command = `SOAK_CLUSTER_SEED=${seed} SOAK_CLUSTER_FAULTS=${faults} SOAK_CLUSTER_OWN_FAULTS=0 SOAK_CLUSTER_TOKENS_FAULTS=0 npm run soak -- soak/cluster`;
    await keepResult({ name: 'cluster/etcd', command, seed }, async (figures) => {
      const report = await stormOnCluster({ directory: path, faults, seed });
      console.log(JSON.stringify(report));
      const { added, read, refused, unknown, losses } = report;
      Object.assign(figures, { faults: sumOf(report.faults), kinds: Object.keys(report.faults).length, added, read, refused, unknown });
      expect(losses).toEqual([]);
      expect(figures['faults']).toBe(faults);
      expect(added).toBeGreaterThan(faults);
    });
  },
  14_400_000,
);

for (const { tokens, faults: least, betweenMs } of drills)
  test.skipIf(least === 0 || !possible)(
    `${least} faults of appliances that run etcd themselves, tokens ${tokens}, seed ${seed}`,
    async () => {
      const recordFile = resolve(import.meta.dirname, `../../dist/soak/cluster-${tokens}-${seed}.jsonl`);
      const isShared = tokens === 'shared';
      const counts = `SOAK_CLUSTER_FAULTS=0 SOAK_CLUSTER_OWN_FAULTS=${isShared ? least : 0} SOAK_CLUSTER_TOKENS_FAULTS=${isShared ? 0 : least}`;
      const command = `SOAK_CLUSTER_SEED=${seed} SOAK_CLUSTER_MINUTES=${minutes} ${counts} npm run soak -- soak/cluster`;
      await keepResult({ name: isShared ? 'cluster/shared token' : 'cluster/own tokens', command, seed }, async (figures) => {
        const report = await stormOnOwnMembers({
          ...{ directory: (...names) => path(tokens, ...names), tokens, faults: least, minutes, seed, recordFile },
          betweenMs: Number(setBetweenMs ?? betweenMs),
        });
        console.log(`seed ${seed}, ${recordFile}: ${JSON.stringify(report)}`);
        Object.assign(figures, figuresOf(report));
        expect(report.losses).toEqual([]);
        expect(report.verdict.undecided).toEqual([]);
        expect(sumOf(report.faults)).toBeGreaterThanOrEqual(least);
        expect(report.verdict.observations).toBeGreaterThan(least);
      });
    },
    dayMs,
  );

/** Figures of a storm, for its result. */
function figuresOf({
  minutes: took,
  faults: struck,
  calls,
  storm,
  longestWithoutChangeMs,
  wrappingKey,
  verdict,
}: OwnStormReport): DrillFigures {
  return {
    ...{ minutes: took, faults: sumOf(struck), kinds: Object.keys(struck).length },
    ...{ changes: sumOf(calls.changes) + sumOf(storm.changes), uses: sumOf(calls.uses) + storm.uses, observations: verdict.observations },
    ...{ 'longest without a change, ms': longestWithoutChangeMs, 'wrapping key in the end': wrappingKey },
  };
}
