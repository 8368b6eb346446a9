// npm run soak -- fuzz: a million hostile requests and a million raw streams against the real daemon. FUZZ_CASES, FUZZ_STREAMS and FUZZ_SEED
// choose others.
import { expect, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { sendStreams } from '../fuzz/streams.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();

test('hostile requests with three identities: no fault, no policy passed, the same processes, bounded memory', async () => {
  const cases = Number(process.env['FUZZ_CASES'] ?? 1_000_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const { statuses } = await fuzz(path('data'), cases, seed);
  console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(cases);
}, 14_400_000);

test('raw streams without a credential at both ports: every connection ends, nothing is changed, the same processes, bounded memory', async () => {
  const streams = Number(process.env['FUZZ_STREAMS'] ?? 1_000_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const report = await sendStreams(path('streams'), streams, seed);
  console.log(`seed ${seed}: ${JSON.stringify(report)}`);
  expect(Object.values(report).reduce((sum, count) => sum + count, 0)).toBe(streams);
}, 14_400_000);
