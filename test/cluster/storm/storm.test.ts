// npm test -- cluster: a few faults of every kind, as `npm run soak -- cluster` makes thousands.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { stormOnCluster } from './storm.ts';

const path = temporaryDirectory();

test('forty faults: nothing acknowledged is lost, and every answer agrees with one order', async () => {
  const report = await stormOnCluster({ directory: path, faults: 40, seed: 17 });
  console.log(JSON.stringify(report));
  expect(report.losses).toEqual([]);
  expect(report.added).toBeGreaterThan(100);
});
