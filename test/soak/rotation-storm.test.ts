// Sixty kills while the wrapping key is rotated under load: while keys are rewrapped, while the old one is kept, while it is destroyed.
import { expect, test } from 'vitest';
import { stormOnRotation } from '../harness/storms/rotation-storm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const kills = Number(process.env['SOAK_ROTATION_KILLS'] ?? 60);

test(`${kills} kills during rotations of the wrapping key`, async () => {
  const report = await stormOnRotation({ directory: path('storm'), kills, keysAtFirst: 300 });
  console.log(JSON.stringify(report));
  expect(report.kills).toBe(kills);
  expect(report.cutAt.rewrapping).toBeGreaterThan(0);
}, 7_200_000);
