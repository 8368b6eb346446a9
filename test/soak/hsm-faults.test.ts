// Ten thousand faults of the module between host process and token: npm run soak -- hsm-faults. FAULTS and FAULT_SEED choose others.
import { expect, test } from 'vitest';
import { drillDaemon } from '../harness/hsm-faults/daemon-drill.ts';
import { byStatus, keepResult, sumOf } from '../harness/drill-result.ts';
import { type DrillReport, drillHsmFaults } from '../harness/hsm-faults/drill.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const faults = Number(process.env['FAULTS'] ?? 10_000);
const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const repeat = `FAULTS=${faults} FAULT_SEED=${seed} npm run soak -- hsm-faults`;

test(`${faults} faults: each answer is right or a fitting refusal, no key is lost, the service recovers by itself`, async () => {
  const half = Math.ceil(faults / 2);
  const drill = (checkAnswers: boolean, index: number): Promise<DrillReport> =>
    drillHsmFaults({
      ...{ directory: path(String(checkAnswers)), faults: index === 0 ? half : faults - half, seed: seed + index },
      ...{ checkAnswers, share: { index, of: 2 } },
    });
  await keepResult({ name: 'hsm-faults/token', command: `${repeat} -t 'each answer'`, seed }, async (figures) => {
    const reports = await Promise.all([drill(false, 0), drill(true, 1)]);
    for (const report of reports) console.log(JSON.stringify(report));
    const total = (count: (report: DrillReport) => number): number => reports.reduce((sum, report) => sum + count(report), 0);
    Object.assign(figures, {
      ...{ faults: total((one) => one.faults), right: total((one) => one.right), refused: total(({ refused }) => sumOf(refused)) },
      'wrong where it cannot be known': total(({ unknown }) => unknown),
      'processes replaced': total(({ hostsReplaced }) => hostsReplaced),
      'longest until it served again, ms': Math.max(...reports.map(({ longestRecoveryMs }) => longestRecoveryMs)),
    });
    expect(figures['faults']).toBe(faults);
  });
}, 7_200_000);

test('faults under the whole daemon: no internal error, no worker ends, what was acknowledged stays', async () => {
  const struck = Math.ceil(faults / 20);
  await keepResult({ name: 'hsm-faults/daemon', command: `${repeat} -t 'whole daemon'`, seed }, async (figures) => {
    const report = await drillDaemon({ directory: path('daemon'), faults: struck, seed });
    console.log(JSON.stringify(report));
    Object.assign(figures, { faults: report.faults, keys: report.keys }, byStatus(report.answers));
    expect(report.faults).toBe(struck);
  });
}, 7_200_000);
