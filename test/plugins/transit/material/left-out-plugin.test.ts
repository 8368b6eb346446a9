// Keys and backups of an appliance that has the plugin openpgp, on one that leaves it out: plain keys are complete, the rest waits for it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base64, codeOf, startTransitHarness, type TransitHarness } from '../harness.ts';
import { useEverything } from '../use.ts';

const directory = temporaryDirectory();
const userId = 'Left Out <left-out@example.test>';
const backups: Record<string, string> = {};
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
  const fields = { cipher: 'ed25519', 'allow-plaintext-backup': true };
  await harness.create('plain', fields);
  await harness.create('primary', { ...fields, 'openpgp-user-id': userId });
  await harness.create('subkey', { ...fields, 'openpgp-primary': 'primary', 'openpgp-key-usage': ['sign'], 'deletion-allowed': true });
  for (const name of ['plain', 'primary']) backups[name] = (await harness.do(name, 'backup')).key;
  await restart({ withOpenpgp: false });
});
afterAll(() => harness.stop());

async function restart({ withOpenpgp }: { readonly withOpenpgp: boolean }): Promise<void> {
  const { token, rootToken, clock } = harness;
  await harness.stop();
  harness = await startTransitHarness(directory('harness'), { plugins: withOpenpgp ? [openpgp] : [], token, rootToken, clock });
}

test('its fields, formats and actions are unknown', async () => {
  const create = harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'new', 'openpgp-user-id': userId });
  expect(await codeOf(create)).toEqual({ status: 400, code: 'unknown-field' });
  await harness.refused(400, 'invalid-value', 'plain', 'export', { format: 'openpgp' });
  expect((await harness.act('primary', 'openpgp-sign', { text: base64('text') })).status).toBe(404);
  expect(await harness.config('primary')).not.toHaveProperty('openpgp-user-id');
});

test('a plain key works in every way', async () => {
  await useEverything(harness, 'plain');
  await harness.expectSound();
});

test('a backup of a plain key is restored; one with an OpenPGP role is refused whole', async () => {
  await harness.create('target');
  await harness.do('target', 'restore', { key: backups['plain'] });
  await harness.create('untouched');
  await harness.refused(400, 'invalid-key-data', 'untouched', 'restore', { key: backups['primary'] });
  expect(await harness.config('untouched')).toMatchObject({ cipher: 'aes256-gcm96' });
});

test('what it keeps survives changes made without it', async () => {
  expect((await harness.patch('primary', { 'min-encryption-version': 1 })).status).toBe(204);
  await harness.do('primary', 'sign', { text: base64('a text') });
  await restart({ withOpenpgp: true });
  expect(await harness.config('primary')).toMatchObject({ 'openpgp-user-id': userId, 'min-encryption-version': 1 });
  for (const name of ['primary', 'subkey']) await harness.do(name, 'openpgp-sign', { text: base64('text') });
  await harness.expectSound();
});
