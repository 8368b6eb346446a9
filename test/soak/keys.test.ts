// npm run soak: ten thousand broken keys, certificates and requests beside a connection of somebody else. KEY_CASES and FUZZ_SEED choose others.
import { expect, test } from 'vitest';
import { startVictim } from '../attacks/victim.ts';
import { sendBrokenKeys } from '../fuzz/keys-over-tls.ts';
import { byStatus, keepResult, sumOf } from '../harness/drill-result.ts';

test('10,000 broken keys, certificates and requests: each is answered, and nobody else loses their connection', async () => {
  const cases = Number(process.env['KEY_CASES'] ?? 10_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  await keepResult({ name: 'keys', command: `FUZZ_SEED=${seed} KEY_CASES=${cases} npm run soak -- soak/keys`, seed }, async (figures) => {
    const statuses = await sendBrokenKeys(await startVictim(), cases, seed);
    console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
    Object.assign(figures, { cases: sumOf(statuses) }, byStatus(statuses));
    expect(statuses[400]).toBeGreaterThan(cases / 4);
  });
}, 7_200_000);
