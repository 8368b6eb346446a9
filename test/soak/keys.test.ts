// npm run soak: ten thousand broken keys, certificates and requests beside a connection of somebody else. KEY_CASES and FUZZ_SEED choose others.
import { expect, test } from 'vitest';
import { startVictim } from '../attacks/victim.ts';
import { sendBrokenKeys } from '../fuzz/keys-over-tls.ts';

test('10,000 broken keys, certificates and requests: each is answered, and nobody else loses their connection', async () => {
  const cases = Number(process.env['KEY_CASES'] ?? 10_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const statuses = await sendBrokenKeys(await startVictim(), cases, seed);
  console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
  expect(statuses[400]).toBeGreaterThan(cases / 4);
}, 7_200_000);
