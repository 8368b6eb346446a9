// npm run soak: a hundred thousand hostile cases against the real daemon. FUZZ_CASES and FUZZ_SEED choose others.
import { expect, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();

test('100,000 hostile cases with three identities: no fault, no policy passed, the same processes, bounded memory', async () => {
  const cases = Number(process.env['FUZZ_CASES'] ?? 100_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const { statuses } = await fuzz(path('data'), cases, seed);
  console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(cases);
}, 7_200_000);
