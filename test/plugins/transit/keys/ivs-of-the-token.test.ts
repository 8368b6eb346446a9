// Transit over a token that makes the IVs of AES-GCM itself, of 16 octets: everything but convergent encryption, which is refused with the reason.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { makeIvToken } from '../../../harness/token/iv-module.ts';
import { claimsOf } from '../custody/statements.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
const plaintext = base64('a text');
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { token: await makeIvToken(directory('harness'), 'appended-16') });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

test('keys encrypt, decrypt, rewrap and wrap data keys, alone and in batches, derived ones too', async () => {
  await harness.create('orders');
  const { ciphertext } = await harness.do('orders', 'encrypt', { plaintext, 'associated-data': base64('row 1') });
  // IV, text and tag.
  expect(Buffer.from(ciphertext.replace('store:v1:', ''), 'base64')).toHaveLength(16 + 6 + 16);
  expect((await harness.do('orders', 'decrypt', { ciphertext, 'associated-data': base64('row 1') })).plaintext).toBe(plaintext);
  await harness.refused(400, 'decryption-failed', 'orders', 'decrypt', { ciphertext });
  await harness.do('orders', 'rotate');
  const moved = await harness.do('orders', 'rewrap', { ciphertext, 'associated-data': base64('row 1') });
  expect(moved.ciphertext).toMatch(/^store:v2:/);
  const made = await harness.do('orders', 'generate-data-key', { type: 'plaintext' });
  expect((await harness.do('orders', 'decrypt', { ciphertext: made.ciphertext })).plaintext).toBe(made.plaintext);
  const items = Array.from({ length: 20 }, () => ({ plaintext }));
  const { 'batch-results': sealed } = await harness.do('orders', 'encrypt', { 'batch-input': items });
  const opened = await harness.do('orders', 'decrypt', {
    'batch-input': sealed.map((one: { ciphertext: string }) => ({ ciphertext: one.ciphertext })),
  });
  expect(opened['batch-results'].every((one: { plaintext: string }) => one.plaintext === plaintext)).toBe(true);
  await harness.create('derived', { derived: true });
  const ofContext = await harness.do('derived', 'encrypt', { plaintext, context: 'a' });
  expect((await harness.do('derived', 'decrypt', { ciphertext: ofContext.ciphertext, context: 'a' })).plaintext).toBe(plaintext);
});

test('convergent encryption is refused when a key is made, or restored, and the state of the token says why', async () => {
  const { status, body } = await harness.request('POST', config, { name: 'convergent', derived: true, 'convergent-encryption': true });
  expect([status, body.code, body.detail]).toEqual([400, 'unsupported-cipher', expect.stringContaining('makes the IVs')]);
  const { body: hsm } = await harness.request('GET', '/v1/state/system/hsm');
  expect(hsm.tokens[0]['iv-source']).toBe('appended');
});

test('a backup and a custody statement, which has no check value', async () => {
  await harness.create('kept', { 'allow-plaintext-backup': true, 'deletion-allowed': true });
  const { ciphertext } = await harness.do('kept', 'encrypt', { plaintext });
  const { key } = await harness.do('kept', 'backup');
  await harness.do('kept', 'restore', { key });
  expect((await harness.do('kept', 'decrypt', { ciphertext })).plaintext).toBe(plaintext);
  const claims = await claimsOf(harness, 'kept');
  expect(claims['key']).toMatchObject({ name: 'kept', cipher: 'aes256-gcm96' });
  expect(claims['key']).not.toHaveProperty('check-value');
});
