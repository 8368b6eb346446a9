// npm run soak -- power-cuts: a thousand losses of power, simulated: recorded writes are dropped, torn and reordered as far as nobody synced them.
// POWER_CUTS, POWER_CUTS_IN_STARTS and POWER_CUTS_AFTER_LIES choose how many, POWER_SEED the seed. Each is a line in dist/soak/power-<drill>-<seed>.jsonl.
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { DrillFigures } from '../../appliance/docs/drills.ts';
import { keepResult } from '../harness/drill-result.ts';
import { makePlan } from '../harness/kills/plan.ts';
import { cutPower, cutPowerInStarts } from '../harness/power/cuts.ts';
import { cutPowerAfterLies } from '../harness/power/lies.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

const drills = [
  { name: 'storms', variable: 'POWER_CUTS', usual: 800, run: cutPower },
  { name: 'starts', variable: 'POWER_CUTS_IN_STARTS', usual: 200, run: cutPowerInStarts },
  { name: 'lies', variable: 'POWER_CUTS_AFTER_LIES', usual: 200, run: cutPowerAfterLies },
] as const;

const seed = Number(process.env['POWER_SEED'] ?? randomInt(2 ** 32));
const results = resolve(import.meta.dirname, '../../dist/soak');
const path = temporaryDirectory();
const dayMs = 86_400_000;

test.each(drills)(
  'losses of power in $name: each disk starts, nothing acknowledged is lost, nothing is half',
  async ({ name, variable, usual, run }) => {
    const kills = Number(process.env[variable] ?? usual);
    if (kills === 0) return;
    const program = await serviceUnderTest();
    const recordFile = join(results, `power-${name}-${seed}.jsonl`);
    const appliances = availableParallelism();
    const plan = await makePlan({ kills, seed, appliances, checkEvery: 1, program, recordFile, path: (file) => path(`${name}-${file}`) });
    const others = drills.filter((one) => one.name !== name).map((one) => `${one.variable}=0`);
    const command = `POWER_SEED=${seed} ${variable}=${kills} ${others.join(' ')} npm run soak -- power-cuts`;
    await keepResult({ name: `power-cuts/${name}`, command, seed }, async (figures) => {
      try {
        await run(plan);
        plan.record.close();
      } catch (error) {
        plan.record.close(String(error));
        throw error;
      } finally {
        const { byKind, byChange, perMinute, kills: disks, ...sums } = plan.record.summary;
        Object.assign(figures, { disks, ...sums, 'a minute': perMinute }, name === 'lies' ? outcomesOf(byKind) : {});
        console.log(`seed ${seed}, ${recordFile}: ${JSON.stringify({ disks, ...sums, perMinute, byKind, byChange })}`);
      }
      expect(plan.record.summary.kills).toBe(kills);
    });
  },
  dayMs,
);

/** Counts of what the starts after a lie did, with which the names of kinds end. */
function outcomesOf(byKind: Readonly<Record<string, number>>): DrillFigures {
  const outcomes: DrillFigures = {};
  for (const [kind, count] of Object.entries(byKind)) {
    const [outcome = 'unknown'] = /(?:whole|said|refused|unseen|whole, with a note)$/.exec(kind) ?? [];
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  }
  return outcomes;
}
