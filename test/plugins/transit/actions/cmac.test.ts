// CMAC: keys that make AES-CMACs and nothing else, against RFC 4493, SP 800-38B and openssl.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const message =
  '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710';
/** RFC 4493 section 4; NIST SP 800-38B appendix D.3: octets of the message above, and their CMAC. */
const vectors: readonly (readonly [cipher: string, key: string, answers: readonly (readonly [number, string])[]])[] = [
  [
    'aes128-cmac',
    '2b7e151628aed2a6abf7158809cf4f3c',
    [
      [0, 'bb1d6929e95937287fa37d129b756746'],
      [16, '070a16b46b4d4144f79bdd9dd04a287c'],
      [40, 'dfa66747de9ae63030ca32611497c827'],
      [64, '51f0bebf7e3b9d92fc49741779363cfe'],
    ],
  ],
  [
    'aes256-cmac',
    '603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4',
    [
      [0, '028962f61b7bf89efc6b551f4667d983'],
      [16, '28a7023f452e8f82bd4bf28d8c37c35c'],
      [40, 'aaf3d8f1de5640c232f5b169b9c911e6'],
      [64, 'e1992190549f6ed5696a2c056c315410'],
    ],
  ],
];

test.each(vectors)('%s answers as the standards say, and verify tells the right MAC from every other', async (cipher, key, answers) => {
  await harness.create(cipher, { cipher });
  await harness.do(cipher, 'import', { data: base64(Buffer.from(key, 'hex')) });
  for (const [length, expected] of answers) {
    const plaintext = base64(Buffer.from(message, 'hex').subarray(0, length));
    const { cmac } = await harness.do(cipher, 'cmac', { plaintext });
    expect(cmac).toBe(`store:v2:${base64(Buffer.from(expected, 'hex'))}`);
    expect(await harness.do(cipher, 'verify', { text: plaintext, cmac })).toEqual({ valid: true, 'key-version': 2 });
    const shorter = `store:v2:${base64(Buffer.from(expected, 'hex').subarray(0, 15))}`;
    const other = `store:v2:${base64(Buffer.from(expected, 'hex').map((octet, at) => (at === 15 ? octet ^ 1 : octet)))}`;
    for (const wrong of [shorter, other, 'store:v2:', cmac.replace('v2', 'v1')])
      expect((await harness.do(cipher, 'verify', { text: plaintext, cmac: wrong })).valid).toBe(false);
  }
});

test('openssl makes the same under the exported key, of texts of any length, in batches and token custody too', async () => {
  await harness.create('shared', { cipher: 'aes256-cmac', exportable: true, custody: 'token' });
  const key = Buffer.from((await harness.do('shared', 'export')).keys['1'], 'base64').toString('hex');
  const texts = [1, 15, 17, 1_000, 70_000].map((length) => randomBytes(length));
  const { 'batch-results': results } = await harness.do('shared', 'cmac-batch', {
    'batch-input': texts.map((text) => ({ plaintext: base64(text) })),
  });
  texts.forEach((text, at) => {
    writeFileSync(directory('text'), text);
    const words = ['mac', '-cipher', 'AES-256-CBC', '-macopt', `hexkey:${key}`, '-in', directory('text'), '-binary', 'CMAC'];
    expect(results[at].cmac).toBe(`store:v1:${base64(execFileSync('openssl', words))}`);
  });
});

test('the key does nothing else, and no other key makes a CMAC', async () => {
  await harness.create('only', { cipher: 'aes128-cmac' });
  const state = await harness.state('only');
  expect(state).toMatchObject({ use: 'mac', 'supports-encryption': false, 'supports-decryption': false, 'supports-signing': false });
  expect(state.actions).toContain('cmac');
  expect(state.actions).not.toContain('encrypt');
  const plaintext = base64('hello');
  await harness.refused(400, 'operation-not-supported', 'only', 'encrypt', { plaintext });
  await harness.refused(400, 'operation-not-supported', 'only', 'generate-data-key', {});
  await harness.refused(400, 'operation-not-supported', 'only', 'sign', { text: plaintext });
  await harness.refused(400, 'operation-not-supported', 'only', 'verify', { text: plaintext, signature: 'store:v1:AAAA' });
  await harness.refused(400, 'invalid-value', 'only', 'verify', { text: plaintext, cmac: 'store:v1:AAAA', 'hash-algorithm': 'sha256' });
  await harness.refused(400, 'invalid-value', 'only', 'verify', { text: plaintext, cmac: 'store:v1:AAAA', hmac: 'store:hashed:v1:AAAA' });
  await harness.create('gcm');
  await harness.refused(400, 'operation-not-supported', 'gcm', 'cmac', { plaintext });
  await harness.refused(400, 'operation-not-supported', 'gcm', 'verify', { text: plaintext, cmac: 'store:v1:AAAA' });
  for (const fields of [{ derived: true }, { publish: true }, { use: 'encrypt' }, { use: 'sign' }]) {
    const answer = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'wrong', cipher: 'aes128-cmac', ...fields });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-value']);
  }
  await harness.do('only', 'rotate');
  const { cmac } = await harness.do('only', 'cmac', { plaintext, 'key-version': 1 });
  expect(cmac).toMatch(/^store:v1:[\w+/]{22}==$/);
});

test('a backup brings the key back with its CMACs', async () => {
  await harness.create('kept', { cipher: 'aes256-cmac', 'allow-plaintext-backup': true, 'deletion-allowed': true });
  const { cmac } = await harness.do('kept', 'cmac', { plaintext: base64('hello') });
  const { key } = await harness.do('kept', 'backup');
  await harness.do('kept', 'restore', { key });
  expect((await harness.do('kept', 'verify', { text: base64('hello'), cmac })).valid).toBe(true);
});
