// npm run soak -- disk-faults: every call of the operating system that a request makes on the data directory fails once in turn, with each
// error of a disk, and so do calls of starts, drawn from a seed; and a disk does not answer for half a minute. DISK_CALLS bounds the calls of a kind for each request, DISK_STARTS the
// starts; DISK_SEED repeats a run.
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { Dice } from '../fuzz/cases.ts';
import { drillRequests, drillStarts } from '../harness/disk-faults/drill.ts';
import { drillStalls } from '../harness/disk-faults/stalls.ts';
import { byStatus, keepResult, sumOf } from '../harness/drill-result.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const seed = Number(process.env['DISK_SEED'] ?? randomInt(2 ** 32));
const calls = Number(process.env['DISK_CALLS'] ?? Number.POSITIVE_INFINITY);
const starts = Number(process.env['DISK_STARTS'] ?? 500);
const dayMs = 86_400_000;

test.skipIf(calls === 0)(
  'a request under a fault is done or refused with the reason, the next one is done, and nothing is lost',
  async () => {
    const bound = Number.isFinite(calls) ? `DISK_CALLS=${calls} ` : '';
    await keepResult({ name: 'disk-faults/requests', command: `${bound}DISK_STARTS=0 npm run soak -- disk-faults` }, async (figures) => {
      const report = await drillRequests({ directory: path('requests'), mostOfAKind: calls });
      console.log(JSON.stringify(report));
      Object.assign(figures, { faults: report.faults, keys: report.keys }, byStatus(report.answers));
      expect(report.faults).toBeGreaterThan(0);
    });
  },
  dayMs,
);

test.skipIf(starts === 0)(
  'a start under a fault succeeds or says why it ends, and the next one succeeds',
  async () => {
    const command = `DISK_SEED=${seed} DISK_STARTS=${starts} DISK_CALLS=0 npm run soak -- disk-faults`;
    await keepResult({ name: 'disk-faults/starts', command, seed }, async (figures) => {
      const report = await drillStarts({ directory: path('starts'), faults: starts, dice: new Dice(seed) });
      console.log(`seed ${seed}: ${JSON.stringify(report)}`);
      Object.assign(figures, { faults: starts, ready: report.ready, refused: sumOf(report.refused) });
      expect(report.ready).toBeGreaterThan(0);
    });
  },
  dayMs,
);

test('while the disk does not answer, what needs it waits or is refused, what does not goes on, and health says so; then all goes on', async () => {
  for (const part of ['/audit/', '/store/'] as const) {
    const report = await drillStalls({ directory: path(`stall${part.replaceAll('/', '-')}`), part, stallMs: 30_000 });
    console.log(`${part}: ${JSON.stringify(report)}`);
    expect(report).toHaveProperty('health 503');
  }
}, 300_000);
