// Keys that come with values which were derived by HKDF elsewhere, and the keys of HMACs that come with a version.
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base64, startTransitHarness, type TransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** A value as elsewhere: AES-GCM under the octets that HKDF makes of the secret and the context. */
function sealedElsewhere(secret: Buffer, context: string, plaintext: string, bytes = 32): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', context, bytes));
  const nonce = randomBytes(12);
  const cipher = createCipheriv(bytes === 16 ? 'aes-128-gcm' : 'aes-256-gcm', key, nonce);
  const octets = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return `store:v1:${octets.toString('base64')}`;
}

const derived = { derived: true, kdf: 'hkdf-sha256', 'deletion-allowed': true };

test.each([
  ['aes256-gcm96', 32, 32],
  ['aes128-gcm96', 16, 16],
  ['aes256-gcm96', 64, 32],
])('a key of %s with a secret of %i octets opens what was made with it elsewhere', async (cipher, octets, bytes) => {
  const name = `moved-${cipher}-${octets}`;
  const secret = randomBytes(octets);
  await harness.create(name, { ...derived, cipher, 'convergent-encryption': true });
  expect((await harness.state(name)).kdf).toBe('hkdf-sha256');
  await harness.do(name, 'import', { data: secret.toString('base64'), 'as-version': 1 });
  // Long contexts, too, whose derived keys are found again by a hash.
  for (const context of ['customer 1', 'é'.repeat(512)]) {
    const ciphertext = sealedElsewhere(secret, context, 'elsewhere', bytes);
    expect((await harness.do(name, 'decrypt', { ciphertext, context })).plaintext).toBe(base64('elsewhere'));
    expect((await harness.do(name, 'decrypt', { ciphertext, context })).plaintext).toBe(base64('elsewhere'));
    await harness.refused(400, 'decryption-failed', name, 'decrypt', { ciphertext, context: context.slice(1) });
    // What is made here converges in itself, bound to its associated data.
    const made = await harness.do(name, 'encrypt', { plaintext: base64('here'), context });
    expect(await harness.do(name, 'encrypt', { plaintext: base64('here'), context })).toEqual(made);
    expect((await harness.do(name, 'decrypt', { ciphertext: made.ciphertext, context })).plaintext).toBe(base64('here'));
    expect((await harness.do(name, 'rewrap', { ciphertext, context })).ciphertext).not.toBe(ciphertext);
  }
  await harness.do(name, 'rotate');
  const next = await harness.do(name, 'encrypt', { plaintext: base64('next'), context: 'c' });
  expect(next['key-version']).toBe(2);
  expect((await harness.do(name, 'decrypt', { ciphertext: next.ciphertext, context: 'c' })).plaintext).toBe(base64('next'));
});

test('its backup brings the derivation back, and its secret is not exported', async () => {
  const secret = randomBytes(32);
  await harness.create('kept', { ...derived, exportable: true, 'allow-plaintext-backup': true });
  await harness.do('kept', 'import', { data: secret.toString('base64'), 'as-version': 1 });
  const ciphertext = sealedElsewhere(secret, 'a', 'x');
  const { key } = await harness.do('kept', 'backup');
  await harness.refused(400, 'operation-not-supported', 'kept', 'export', {});
  expect((await harness.state('kept')).actions).not.toContain('export');
  await harness.create('again', { 'deletion-allowed': true });
  await harness.do('again', 'restore', { key });
  expect((await harness.config('again')).kdf).toBe('hkdf-sha256');
  expect((await harness.do('again', 'decrypt', { ciphertext, context: 'a' })).plaintext).toBe(base64('x'));
});

test('what is no secret for it is refused', async () => {
  await harness.create('checked', derived);
  await harness.refused(400, 'key-type-mismatch', 'checked', 'import', { data: randomBytes(15).toString('base64') });
  await harness.refused(400, 'key-type-mismatch', 'checked', 'import', { data: randomBytes(65).toString('base64') });
  await harness.refused(400, 'invalid-key-data', 'checked', 'import', { data: Buffer.alloc(32).toString('base64') });
  const plain = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'plain', kdf: 'hkdf-sha256' });
  expect([plain.status, plain.body.detail]).toEqual([400, '"kdf" needs derived true.']);
  expect((await harness.patch('checked', { kdf: null })).status).toBeGreaterThanOrEqual(400);
});

test('HMACs of elsewhere verify where their key came with the version', async () => {
  const [main, mac] = [randomBytes(32), randomBytes(32)];
  await harness.create('macs');
  await harness.do('macs', 'import', { data: main.toString('base64'), 'hmac-key': mac.toString('base64'), 'as-version': 1 });
  const hmac = `store:hashed:v1:${createHmac('sha256', mac).update('text').digest('base64')}`;
  expect((await harness.do('macs', 'hmac', { plaintext: base64('text') })).hmac).toBe(hmac);
  expect((await harness.do('macs', 'verify', { text: base64('text'), hmac })).valid).toBe(true);
  for (const wrong of [randomBytes(31), randomBytes(33)])
    await harness.refused(400, 'invalid-value', 'macs', 'import', {
      data: randomBytes(32).toString('base64'),
      'hmac-key': wrong.toString('base64'),
    });
  const zeros = { data: randomBytes(32).toString('base64'), 'hmac-key': Buffer.alloc(32).toString('base64') };
  await harness.refused(400, 'invalid-key-data', 'macs', 'import', zeros);
  expect(harness.written()).not.toContain(mac.toString('base64'));
});
