// npm run soak -- fuzz: a million hostile requests and a million raw streams against the real daemon. FUZZ_CASES, FUZZ_STREAMS and FUZZ_SEED
// choose others.
import { expect, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { sendStreams } from '../fuzz/streams.ts';
import { byStatus, keepResult, sumOf } from '../harness/drill-result.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();

test('hostile requests with three identities: no fault, no policy passed, the same processes, bounded memory', async () => {
  const cases = Number(process.env['FUZZ_CASES'] ?? 1_000_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const command = `FUZZ_SEED=${seed} FUZZ_CASES=${cases} npm run soak -- soak/fuzz -t 'hostile requests'`;
  await keepResult({ name: 'fuzz/requests', command, seed }, async (figures) => {
    const { statuses } = await fuzz(path('data'), cases, seed);
    console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
    Object.assign(figures, { requests: sumOf(statuses) }, byStatus(statuses));
    expect(figures['requests']).toBe(cases);
  });
}, 14_400_000);

test('raw streams without a credential at both ports: every connection ends, nothing is changed, the same processes, bounded memory', async () => {
  const streams = Number(process.env['FUZZ_STREAMS'] ?? 1_000_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const command = `FUZZ_SEED=${seed} FUZZ_STREAMS=${streams} npm run soak -- soak/fuzz -t 'raw streams'`;
  await keepResult({ name: 'fuzz/streams', command, seed }, async (figures) => {
    const report = await sendStreams(path('streams'), streams, seed);
    console.log(`seed ${seed}: ${JSON.stringify(report)}`);
    Object.assign(figures, { streams: sumOf(report) }, report);
    expect(figures['streams']).toBe(streams);
  });
}, 14_400_000);
