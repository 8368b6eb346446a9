// Broken and hostile OpenPGP input: an answer below 500 each time, promptly, from the same process. The long drill is in test/interop.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendMutations } from '../../interop/openpgp-mutations.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2027-01-01T00:00:00Z');
});
afterAll(() => harness.close());

const corpus = (name: string): string => readFileSync(new URL(`../../interop/openpgp-corpus/${name}`, import.meta.url), 'utf8');

const inArmor = (kind: string, packets: Uint8Array): string =>
  `-----BEGIN PGP ${kind}-----\n\n${Buffer.from(packets).toString('base64')}\n-----END PGP ${kind}-----\n`;

test('600 mutated blocks and signatures', async () => {
  await harness.create('target', { cipher: 'ecdsa-p256', 'openpgp-user-id': 'Ada' });
  const text = base64('data');
  const { signature } = await harness.do('target', 'openpgp-sign', { text });
  const blocks = ['gpg-ed25519.asc', 'gpg-subkeys.asc', 'gpg-nistp256.asc', 'sq-default.asc'].map(corpus);
  const report = await sendMutations(harness, { key: 'target', text, signature, blocks }, 600, 1);
  expect(Object.values(report.statuses).reduce((sum, count) => sum + count, 0)).toBe(600);
  expect(report.statuses['import 400']).toBeGreaterThan(0);
  expect(report.statuses['verify 400']).toBeGreaterThan(0);
  expect(await harness.do('target', 'openpgp-verify', { text, signature })).toMatchObject({ valid: true });
  expect(await harness.findings()).toEqual([]);
});

test('blocks made to take long: thousands of packets, deep nesting, no line end', async () => {
  const packetBytes = [0x00, 0x80, 0x8c, 0x99, 0xc2, 0xc6, 0xff];
  for (const octet of packetBytes) {
    const openpgpBlock = inArmor('PUBLIC KEY BLOCK', new Uint8Array(190_000).fill(octet));
    const imported = await harness.request('POST', '/v1/state/keystore/import-openpgp', { name: 'long', openpgp: openpgpBlock });
    expect(imported.status).toBe(400);
    const signature = inArmor('SIGNATURE', new Uint8Array(48_000).fill(octet));
    expect((await harness.act('target', 'openpgp-verify', { text: '', signature })).status).toBe(400);
  }
  for (const filler of ['\n', ' ', '-', '=', 'a: b\n', '-----BEGIN ', 'A']) {
    const openpgpBlock = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${filler.repeat(240_000 / filler.length)}`;
    const imported = await harness.request('POST', '/v1/state/keystore/import-openpgp', { name: 'long', openpgp: openpgpBlock });
    expect(imported.status).toBe(400);
  }
  const body = { name: 'long', openpgp: 'A'.repeat(3_000_000) };
  expect((await harness.request('POST', '/v1/state/keystore/import-openpgp', body)).body.code).toBe('invalid-key-data');
});
