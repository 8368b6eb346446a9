// npm run soak -- kills: ten thousand kills under a storm of every kind of change and use. KILLS_PROCESSES, KILLS_DAEMONS, KILLS_ROTATIONS,
// KILLS_STARTS and KILLS_STEPS_OF_STARTS choose how many of each (0: none), KILLS_SEED the seed, KILLS_APPLIANCES how many appliances run at
// a time. Every kill is a line in dist/soak/kills-<drill>-<seed>.jsonl.
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { keepResult } from '../harness/drill-result.ts';
import { makeBeginnings } from '../harness/kills/beginnings.ts';
import { makePlan, type Plan } from '../harness/kills/plan.ts';
import { killDaemons, killProcesses, killRotations } from '../harness/kills/running.ts';
import { killStarts, killStartSteps } from '../harness/kills/starts.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

type Drill = {
  readonly name: 'processes' | 'daemons' | 'rotations' | 'starts' | 'steps';
  readonly variable: string;
  readonly kills: number;
  readonly checkEvery: number;
  /** appliances at a time for each that is asked for: a drill that waits most of its time leaves the machine to others */
  readonly breadth?: number;
  readonly run: (plan: Plan) => Promise<void>;
};

const drills: readonly Drill[] = [
  { name: 'processes', variable: 'KILLS_PROCESSES', kills: 8_000, checkEvery: 200, run: killProcesses },
  { name: 'daemons', variable: 'KILLS_DAEMONS', kills: 1_000, checkEvery: 20, run: killDaemons },
  { name: 'rotations', variable: 'KILLS_ROTATIONS', kills: 500, checkEvery: 20, breadth: 3, run: killRotations },
  {
    name: 'starts',
    variable: 'KILLS_STARTS',
    kills: 500,
    checkEvery: 1,
    run: async (plan) => killStarts(plan, await makeBeginnings(plan)),
  },
  // Of each kind of start.
  {
    name: 'steps',
    variable: 'KILLS_STEPS_OF_STARTS',
    kills: 1_000,
    checkEvery: 1,
    run: async (plan) => killStartSteps(plan, await makeBeginnings(plan), plan.kills),
  },
];

const seed = Number(process.env['KILLS_SEED'] ?? randomInt(2 ** 32));
const appliances = Number(process.env['KILLS_APPLIANCES'] ?? Math.max(2, availableParallelism()));
const results = resolve(import.meta.dirname, '../../dist/soak');
const path = temporaryDirectory();
const dayMs = 86_400_000;

test.each(drills)(
  'kills of $name: nothing acknowledged is lost, nothing is half, no start is refused, the check is clean',
  async ({ name, variable, kills: usual, checkEvery, breadth = 1, run }) => {
    const kills = Number(process.env[variable] ?? usual);
    if (kills === 0) return;
    const program = await serviceUnderTest();
    const recordFile = join(results, `kills-${name}-${seed}.jsonl`);
    const plan = await makePlan({
      kills,
      seed,
      appliances: appliances * breadth,
      checkEvery,
      program,
      recordFile,
      path: (file) => path(`${name}-${file}`),
    });
    const others = drills.filter((one) => one.name !== name).map((one) => `${one.variable}=0`);
    const command = `KILLS_SEED=${seed} ${variable}=${kills} ${others.join(' ')} npm run soak -- kills`;
    await keepResult({ name: `kills/${name}`, command, seed }, async (figures) => {
      try {
        await run(plan);
        plan.record.close();
      } catch (error) {
        plan.record.close(String(error));
        throw error;
      } finally {
        const { byKind, byChange, perMinute, ...sums } = plan.record.summary;
        Object.assign(figures, { ...sums, 'a minute': perMinute }, byKind);
        console.log(`seed ${seed}, ${recordFile}: ${JSON.stringify({ ...sums, perMinute, byKind, byChange })}`);
      }
      const { kills: done, checks } = plan.record.summary;
      // A start has fewer steps than could be asked for.
      expect(done).toBeGreaterThanOrEqual(name === 'steps' ? 1 : kills);
      expect(checks).toBeGreaterThan(0);
    });
  },
  dayMs,
);
