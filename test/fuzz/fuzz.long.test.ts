// Two thousand hostile cases against the real daemon; npm run soak -- fuzz sends a million.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { fuzz } from './fuzz.ts';

const path = temporaryDirectory();

test('2,000 hostile cases with three identities: no fault, no policy passed, the same processes', async () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const { statuses } = await fuzz(path('data'), 2_000, seed);
  // All steps of the order of checks were reached, not only the first.
  for (const status of [200, 400, 401, 403, 404]) expect([status, (statuses[status] ?? 0) > 10]).toEqual([status, true]);
});
