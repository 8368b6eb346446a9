// RSA keys for encryption: made for it once and for all, judged by OpenSSL and by Wycheproof, one answer for everything that does not open.
import { execFileSync } from 'node:child_process';
import { constants, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { hexToBase64, loadWycheproof } from '../../../vectors/wycheproof.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
const secret = base64('a session key');
let harness: TransitHarness;
let folder: string;
let publicKey: string;
let privateKey: string;

beforeAll(async () => {
  folder = directory('files');
  mkdirSync(folder, { recursive: true });
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
  await harness.create('opener', { cipher: 'rsa-2048', use: 'encrypt', exportable: true });
  publicKey = (await harness.state('opener')).keys['1'];
  privateKey = (await harness.do('opener', 'export', { version: 1 })).keys['1'];
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** OpenSSL's pkeyutl over octets, by a key in PEM. */
function openssl(operation: 'encrypt' | 'decrypt', pem: string, options: readonly string[], input: Uint8Array): Buffer {
  const path = `${folder}/${operation}.pem`;
  writeFileSync(path, pem);
  const given = ['-pkeyopt', 'rsa_padding_mode:oaep', ...options.flatMap((option) => ['-pkeyopt', option])];
  return execFileSync('openssl', ['pkeyutl', `-${operation}`, ...(operation === 'encrypt' ? ['-pubin'] : []), '-inkey', path, ...given], {
    input,
  });
}

describe('a key with use encrypt', () => {
  test('encrypts and decrypts, and does nothing else', async () => {
    const state = await harness.state('opener');
    expect(state).toMatchObject({ use: 'encrypt', 'supports-encryption': true, 'supports-decryption': true, 'supports-signing': false });
    expect(state.actions).toEqual(expect.arrayContaining(['encrypt', 'decrypt', 'rewrap', 'generate-data-key']));
    expect(state.actions).not.toContain('sign');
    const { ciphertext } = await harness.do('opener', 'encrypt', { plaintext: secret });
    expect((await harness.do('opener', 'decrypt', { ciphertext })).plaintext).toBe(secret);
    await harness.refused(400, 'operation-not-supported', 'opener', 'sign', { text: secret });
    await harness.refused(400, 'operation-not-supported', 'opener', 'verify', { text: secret, signature: 'store:v1:AAAA' });
    // A key that signs does not encrypt.
    await harness.create('signer', { cipher: 'rsa-2048' });
    expect((await harness.config('signer')).use).toBe('sign');
    await harness.refused(400, 'operation-not-supported', 'signer', 'encrypt', { plaintext: secret });
    await harness.refused(400, 'operation-not-supported', 'signer', 'generate-data-key', {});
  });

  test('keeps its use, which only RSA keys choose', async () => {
    expect(await codeOf(harness.patch('opener', { use: 'sign' }))).toEqual({ status: 409, code: 'immutable-field' });
    for (const [cipher, use] of [
      ['ecdsa-p256', 'encrypt'],
      ['aes256-gcm96', 'sign'],
    ])
      expect(await codeOf(harness.request('POST', config, { name: 'unfit', cipher, use }))).toEqual({ status: 400, code: 'invalid-value' });
    const named = { name: 'unfit', cipher: 'rsa-2048', use: 'encrypt', 'openpgp-user-id': 'Archive <archive@example.com>' };
    expect(await codeOf(harness.request('POST', config, named))).toEqual({ status: 400, code: 'operation-not-supported' });
  });

  test.each(['wrapped', 'token'])('in %s custody decrypts in the token, under every version, and moves old values', async (custody) => {
    const name = `rotated-${custody}`;
    await harness.create(name, { cipher: 'rsa-2048', use: 'encrypt', custody });
    const { ciphertext } = await harness.do(name, 'encrypt', { plaintext: secret });
    await harness.do(name, 'rotate');
    expect((await harness.do(name, 'decrypt', { ciphertext })).plaintext).toBe(secret);
    const moved = await harness.do(name, 'rewrap', { ciphertext });
    expect(moved).toMatchObject({ 'key-version': 2, ciphertext: expect.stringMatching(/^store:v2:/) });
    expect((await harness.do(name, 'decrypt', { ciphertext: moved.ciphertext })).plaintext).toBe(secret);
    const made = await harness.do(name, 'generate-data-key', { type: 'plaintext', bits: 512, 'hash-algorithm': 'sha512' });
    const opened = await harness.do(name, 'decrypt', { ciphertext: made.ciphertext, 'hash-algorithm': 'sha512' });
    expect(opened.plaintext).toBe(made.plaintext);
  });

  test('made from a public key only encrypts', async () => {
    await harness.create('recipient', { cipher: 'rsa-2048', use: 'encrypt', 'public-key': publicKey });
    const { ciphertext } = await harness.do('recipient', 'encrypt', { plaintext: secret });
    expect((await harness.do('opener', 'decrypt', { ciphertext })).plaintext).toBe(secret);
    expect((await harness.state('recipient')).actions).not.toContain('decrypt');
    await harness.refused(400, 'operation-not-supported', 'recipient', 'decrypt', { ciphertext });
  });

  test('comes back from a backup as what it is', async () => {
    await harness.create('saved', { cipher: 'rsa-2048', use: 'encrypt', 'allow-plaintext-backup': true });
    const { ciphertext } = await harness.do('saved', 'encrypt', { plaintext: secret });
    const { key } = await harness.do('saved', 'backup');
    await harness.create('restored', { cipher: 'rsa-2048' });
    await harness.do('restored', 'restore', { key });
    expect((await harness.config('restored')).use).toBe('encrypt');
    expect((await harness.do('restored', 'decrypt', { ciphertext })).plaintext).toBe(secret);
  });
});

describe('RSA-OAEP', () => {
  const hashes = ['sha1', 'sha256', 'sha384', 'sha512'];
  const pairs = hashes.flatMap((hash) => hashes.map((mgf1) => [hash, mgf1] as const));

  test('of every hash, MGF1 hash and label is that of OpenSSL, in both directions', async () => {
    for (const [hash, mgf1] of pairs)
      for (const label of hash === 'sha256' ? ['', 'c0ffee'] : ['c0ffee']) {
        const fields = {
          ...{ 'hash-algorithm': hash, 'mgf1-hash': mgf1 },
          ...(label === '' ? {} : { label: Buffer.from(label, 'hex').toString('base64') }),
        };
        const options = [`rsa_oaep_md:${hash}`, `rsa_mgf1_md:${mgf1}`, ...(label === '' ? [] : [`rsa_oaep_label:${label}`])];
        const message = randomBytes(32);
        const foreign = openssl('encrypt', publicKey, options, message);
        const opened = await harness.do('opener', 'decrypt', { ciphertext: base64(foreign), ...fields });
        expect([hash, mgf1, label, opened.plaintext]).toEqual([hash, mgf1, label, base64(message)]);
        const { ciphertext } = await harness.do('opener', 'encrypt', { plaintext: base64(message), ...fields });
        const ours = Buffer.from(ciphertext.slice('store:v1:'.length), 'base64');
        expect([hash, mgf1, label, openssl('decrypt', privateKey, options, ours)]).toEqual([hash, mgf1, label, message]);
      }
  });

  test('takes messages up to the longest there is, and says how long that is', async () => {
    for (const [hash, longest] of [
      ['sha256', 190],
      ['sha512', 126],
    ] as const) {
      const fields = { 'hash-algorithm': hash };
      for (const length of [0, longest]) {
        const plaintext = base64(randomBytes(length));
        const { ciphertext } = await harness.do('opener', 'encrypt', { plaintext, ...fields });
        expect((await harness.do('opener', 'decrypt', { ciphertext, ...fields })).plaintext).toBe(plaintext);
      }
      const tooLong = { plaintext: base64(randomBytes(longest + 1)), ...fields };
      expect((await harness.refused(400, 'invalid-value', 'opener', 'encrypt', tooLong)).detail).toContain(`takes ${longest} at most`);
    }
  });

  test('gives one answer for everything that does not open', async () => {
    const key = { key: createPublicKey(publicKey), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    const raw = { key: createPublicKey(publicKey), padding: constants.RSA_NO_PADDING };
    const good = publicEncrypt(key, Buffer.from('message'));
    const flipped = Buffer.from(good);
    flipped[100] = (flipped[100] as number) ^ 1;
    // Manger's attack asks whether the first octet of the block is zero.
    const big = Buffer.concat([Buffer.of(1), randomBytes(255)]);
    const small = Buffer.concat([Buffer.of(0), randomBytes(255)]);
    const wrong = [
      flipped,
      publicEncrypt(raw, big),
      publicEncrypt(raw, small),
      publicEncrypt({ key: key.key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from('message')),
      publicEncrypt({ ...key, oaepHash: 'sha1' }, Buffer.from('message')),
      publicEncrypt({ ...key, oaepLabel: Buffer.from('another') }, Buffer.from('message')),
      Buffer.alloc(256),
      Buffer.alloc(256, 0xff),
      good.subarray(1),
      Buffer.alloc(0),
    ];
    const answers = await Promise.all(wrong.map((one) => harness.act('opener', 'decrypt', { ciphertext: base64(one) })));
    const seen = answers.map(({ status, body: { 'request-id': _id, instance: _instance, ...problem } }) =>
      JSON.stringify([status, problem]),
    );
    expect(new Set(seen).size).toBe(1);
    expect(answers[0]?.body.code).toBe('decryption-failed');
    const batch = await harness.do('opener', 'decrypt-batch', { 'batch-input': wrong.map((one) => ({ ciphertext: base64(one) })) });
    expect(new Set(batch['batch-results'].map((one: object) => JSON.stringify(one))).size).toBe(1);
    const labelled = publicEncrypt({ ...key, oaepLabel: Buffer.from('right') }, Buffer.from('message'));
    await harness.refused(400, 'decryption-failed', 'opener', 'decrypt', { ciphertext: base64(labelled), label: base64('wrong') });
    await harness.do('opener', 'decrypt', { ciphertext: base64(labelled), label: base64('right') });
  });

  test('while a version waits for activate-after, a ciphertext from elsewhere opens under the one in use', async () => {
    const rotation = { 'rotate-after': '30d', 'activate-after': '1d' };
    await harness.create('waits', { cipher: 'rsa-2048', use: 'encrypt', 'auto-rotate': rotation });
    await harness.do('waits', 'rotate');
    const { keys } = await harness.state('waits');
    const key = { key: createPublicKey(keys['1']), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    const ciphertext = base64(publicEncrypt(key, Buffer.from('message')));
    expect(await harness.do('waits', 'decrypt', { ciphertext })).toEqual({ plaintext: base64('message'), 'key-version': 1 });
    expect(await harness.do('waits', 'rewrap', { ciphertext })).toMatchObject({ 'key-version': 1 });
  });

  test('of a ciphertext from elsewhere opens under the version that is named, else under the one in use, and no other is tried', async () => {
    await harness.create('versions', { cipher: 'rsa-2048', use: 'encrypt' });
    await harness.do('versions', 'rotate');
    const { keys } = await harness.state('versions');
    const foreign = (version: string): string => base64(openssl('encrypt', keys[version], ['rsa_oaep_md:sha256'], Buffer.from('message')));
    const [first, second] = [foreign('1'), foreign('2')];
    expect((await harness.do('versions', 'decrypt', { ciphertext: second }))['key-version']).toBe(2);
    await harness.refused(400, 'decryption-failed', 'versions', 'decrypt', { ciphertext: first });
    expect((await harness.do('versions', 'decrypt', { ciphertext: first, 'key-version': 1 }))['key-version']).toBe(1);
    await harness.refused(400, 'invalid-value', 'versions', 'decrypt', { ciphertext: `store:v1:${first}`, 'key-version': 2 });
    await harness.do('versions', 'decrypt', { ciphertext: `store:v1:${first}`, 'key-version': 1 });
  });

  test('and the fields of symmetric keys do not go together', async () => {
    await harness.create('symmetric');
    const { ciphertext } = await harness.do('symmetric', 'encrypt', { plaintext: secret });
    for (const fields of [{ 'hash-algorithm': 'sha256' }, { 'mgf1-hash': 'sha1' }, { label: 'AAAA' }]) {
      await harness.refused(400, 'invalid-value', 'symmetric', 'encrypt', { plaintext: secret, ...fields });
      await harness.refused(400, 'invalid-value', 'symmetric', 'decrypt', { ciphertext, ...fields });
      await harness.refused(400, 'invalid-value', 'symmetric', 'rewrap', { ciphertext, ...fields });
      await harness.refused(400, 'invalid-value', 'symmetric', 'generate-data-key', fields);
    }
    await harness.refused(400, 'invalid-value', 'symmetric', 'decrypt', { ciphertext, 'key-version': 2 });
    await harness.do('symmetric', 'decrypt', { ciphertext, 'key-version': 1 });
    await harness.refused(400, 'invalid-value', 'opener', 'encrypt', { plaintext: secret, 'associated-data': 'AAAA' });
    await harness.refused(400, 'context-not-allowed', 'opener', 'encrypt', { plaintext: secret, context: 'x' });
  });
});

const files = [
  ['rsa_oaep_2048_sha256_mgf1sha256', 'sha256', 'sha256'],
  ['rsa_oaep_2048_sha256_mgf1sha1', 'sha256', 'sha1'],
  ['rsa_oaep_2048_sha512_mgf1sha512', 'sha512', 'sha512'],
] as const;

describe('Wycheproof', () => {
  test.each(files.map(([name, hash, mgf1]) => ({ ...loadWycheproof(name), hash, mgf1 })))(
    '$name: $summary',
    async ({ name, groups, hash, mgf1 }) => {
      for (const { privateKeyPem, tests } of groups) {
        const key = name.replaceAll('_', '-');
        await harness.create(key, { cipher: 'rsa-2048', use: 'encrypt' });
        await harness.do(key, 'import', { data: privateKeyPem });
        const items = tests.map(({ ct, label = '' }) => ({
          ...{ ciphertext: hexToBase64(ct), 'hash-algorithm': hash, 'mgf1-hash': mgf1 },
          ...(label === '' ? {} : { label: hexToBase64(label) }),
        }));
        const { 'batch-results': results } = await harness.do(key, 'decrypt-batch', { 'batch-input': items });
        tests.forEach(({ tcId, comment, result, msg }, at) => {
          const { plaintext, code } = results[at];
          const expected = result === 'invalid' ? 'decryption-failed' : hexToBase64(msg);
          expect([tcId, comment, plaintext ?? code]).toEqual([tcId, comment, expected]);
        });
      }
    },
  );
});
