// 10,000 mutated OpenPGP requests: no 5xx, nobody waits, the same process at the end, and it has not grown.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { sendMutations } from './openpgp-mutations.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2027-01-01T00:00:00Z');
});
afterAll(() => harness.close());

const corpus = (name: string): string => readFileSync(new URL(`openpgp-corpus/${name}`, import.meta.url), 'utf8');
const blocks = ['gpg-rsa2048', 'gpg-ed25519', 'gpg-nistp256', 'gpg-nistp521', 'gpg-subkeys', 'gpg-expired', 'sq-default'].map((name) =>
  corpus(`${name}.asc`),
);

test.each([
  ['rsa-2048', 1000],
  ['ed25519', 2000],
  ['ecdsa-p256', 3000],
  ['ecdsa-p521', 4000],
])('2,500 cases around %s', { timeout: 300_000 }, async (cipher, seed) => {
  const text = base64('data');
  await harness.create(cipher, { cipher, 'openpgp-user-id': 'Ada' });
  const { signature } = await harness.do(cipher, 'openpgp-sign', { text });
  const before = process.memoryUsage().rss;
  const report = await sendMutations(harness, { key: cipher, text, signature, blocks }, 2500, seed);
  process.stdout.write(
    `${cipher} ${JSON.stringify({ ...report, grownMiB: Math.round((process.memoryUsage().rss - before) / 2 ** 20) })}\n`,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(512 * 2 ** 20);
  expect(await harness.do(cipher, 'openpgp-verify', { text, signature })).toMatchObject({ valid: true });
  expect(await harness.findings()).toEqual([]);
});
