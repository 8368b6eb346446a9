// Ten thousand faults of the module between host process and token: npm run soak -- hsm-faults. FAULTS and FAULT_SEED choose others.
import { expect, test } from 'vitest';
import { drillDaemon } from '../harness/hsm-faults/daemon-drill.ts';
import { type DrillReport, drillHsmFaults } from '../harness/hsm-faults/drill.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['FAULTS'] ?? 10_000);
const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

test(`${faults} faults: each answer is right or a fitting refusal, no key is lost, the service recovers by itself`, async () => {
  const half = Math.ceil(faults / 2);
  const drill = (checkAnswers: boolean, index: number): Promise<DrillReport> =>
    drillHsmFaults({
      ...{ directory: path(String(checkAnswers)), faults: index === 0 ? half : faults - half, seed: seed + index },
      ...{ checkAnswers, share: { index, of: 2 } },
    });
  const reports = await Promise.all([drill(false, 0), drill(true, 1)]);
  for (const report of reports) console.log(JSON.stringify(report));
  expect(reports.reduce((total, report) => total + report.faults, 0)).toBe(faults);
}, 7_200_000);

test('faults under the whole daemon: no internal error, no worker ends, what was acknowledged stays', async () => {
  const struck = Math.ceil(faults / 20);
  const report = await drillDaemon({ directory: path('daemon'), faults: struck, seed });
  console.log(JSON.stringify(report));
  expect(report.faults).toBe(struck);
}, 7_200_000);
