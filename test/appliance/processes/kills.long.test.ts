// Kills under a storm of every kind of change and use; npm run soak -- kills does it ten thousand times.
import { expect, test, vi } from 'vitest';
import { makeBeginnings } from '../../harness/kills/beginnings.ts';
import { makePlan, type Plan } from '../../harness/kills/plan.ts';
import { killDaemons, killProcesses, killRotations } from '../../harness/kills/running.ts';
import { killStarts, killStartSteps } from '../../harness/kills/starts.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
vi.setConfig({ testTimeout: 900_000 });

async function planFor(name: string, kills: number): Promise<Plan> {
  const files = (file: string): string => path(`${name}-${file}`);
  return makePlan({ kills, seed: 19, appliances: 1, checkEvery: kills, recordFile: files('record'), path: files });
}

test('of workers and token hosts: the appliance goes on serving, and every acknowledged change is there', async () => {
  const plan = await planFor('processes', 6);
  await killProcesses(plan);
  const { kills, changes, checks } = plan.record.summary;
  expect({ kills, checks }).toEqual({ kills: 6, checks: 1 });
  expect(changes).toBeGreaterThan(0);
});

test('of the whole appliance: every acknowledged change is there, the check is clean, no object is left in the token', async () => {
  const plan = await planFor('daemons', 2);
  await killDaemons(plan);
  expect(plan.record.summary).toMatchObject({ kills: 2, checks: 1 });
});

test('during rotations of the wrapping key: every key goes on working, and the old wrapping key goes in the end', async () => {
  const plan = await planFor('rotations', 2);
  await killRotations(plan);
  expect(plan.record.summary).toMatchObject({ kills: 2, checks: 1 });
});

test('of first starts, restores and a first start of this version, at random moments and before their steps: the next start finishes them', async () => {
  const plan = await planFor('starts', 4);
  // Updates of the other versions are cut in test/upgrade.
  const beginnings = (await makeBeginnings(plan)).slice(0, 4);
  await killStarts(plan, beginnings);
  expect(plan.record.summary.kills).toBe(4);
  await killStartSteps(plan, beginnings, 1);
  expect(plan.record.summary.kills).toBe(4 + beginnings.length);
});
