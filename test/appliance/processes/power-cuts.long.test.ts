// Losses of power, simulated; npm run soak -- power-cuts does it a thousand times.
import { expect, test, vi } from 'vitest';
import { makePlan, type Plan } from '../../harness/kills/plan.ts';
import { cutPower, cutPowerInStarts } from '../../harness/power/cuts.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
vi.setConfig({ testTimeout: 900_000 });

async function planFor(name: string, kills: number): Promise<Plan> {
  const files = (file: string): string => path(`${name}-${file}`);
  return makePlan({ kills, seed: 40, appliances: 1, checkEvery: 1, recordFile: files('record'), path: files });
}

test('in a storm: each disk that may be left starts, with everything that was acknowledged', async () => {
  const plan = await planFor('storm', 3);
  await cutPower(plan);
  expect(plan.record.summary).toMatchObject({ kills: 3, checks: 3 });
});

test('in a first start: the next start finishes it', async () => {
  const plan = await planFor('start', 2);
  await cutPowerInStarts(plan);
  expect(plan.record.summary).toMatchObject({ kills: 2, checks: 2 });
});
