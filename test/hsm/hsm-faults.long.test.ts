// Faults of the module between host process and token, the same ones each time; npm run soak -- hsm-faults has ten thousand others. FAULTS and
// FAULT_SEED choose more.
import { expect, test } from 'vitest';
import { drillDaemon } from '../harness/hsm-faults/daemon-drill.ts';
import { drillHsmFaults } from '../harness/hsm-faults/drill.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['FAULTS'] ?? 40);
const faultsOfDaemon = 25;
const seed = Number(process.env['FAULT_SEED'] ?? 19);

test.each([false, true])(
  `${faults} faults, answers checked: %s: each answer is right or a fitting refusal, no key is lost, the service recovers`,
  async (checkAnswers) => {
    const report = await drillHsmFaults({ directory: path(String(checkAnswers)), faults, seed, checkAnswers });
    console.log(JSON.stringify(report));
    expect(report.faults).toBe(faults);
    expect(report.right).toBeGreaterThan(0);
  },
);

test('faults under the whole daemon: no internal error, no worker ends, what was acknowledged stays', async () => {
  const report = await drillDaemon({ directory: path('daemon'), faults: faultsOfDaemon, seed });
  console.log(JSON.stringify(report));
  expect(report.faults).toBe(faultsOfDaemon);
});
