// Transit keys as a resource (spec "Transit key" and "States and transitions").
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const config = '/v1/config/keystore/transit-keys';
const stateList = '/v1/state/keystore/transit-keys';

const defaults = {
  cipher: 'aes256-gcm96',
  distribute: { to: 'inherit' },
  exportable: false,
  'allow-plaintext-backup': false,
  'deletion-allowed': false,
  derived: false,
  'convergent-encryption': false,
  custody: 'wrapped',
  'openpgp-key-usage': [],
  'min-encryption-version': 0,
  'min-decryption-version': 0,
  publish: false,
  disabled: false,
  'disabled-versions': [],
  use: 'encrypt',
};

describe('creation and reading', () => {
  test('a key created without a cipher is aes256-gcm96, with every default of the table (spec)', async () => {
    const created = await harness.create('plain');
    expect(created).toEqual({ name: 'plain', ...defaults });
    expect(await harness.config('plain')).toEqual({ name: 'plain', ...defaults });
  });

  test('the state adds the read-only fields (spec; api 22, 24)', async () => {
    await harness.create('stated');
    const state = await harness.state('stated');
    expect(state).toMatchObject({
      name: 'stated',
      ...defaults,
      'distribution-status': { to: 'all' },
      'default-encryption-version': 0,
      'latest-version': 1,
      'oldest-version': 1,
      'supports-encryption': true,
      'supports-decryption': true,
      'supports-derivation': true,
      'supports-signing': false,
    });
    expect(state['creation-time']).toMatch(/^2026-01-01T00:00:00\.\d{6}Z$/);
    expect(state.keys).toEqual({ 1: String(Date.parse('2026-01-01T00:00:00Z') * 1000) });
    expect(state.usage).toEqual({ 1: { uses: 0, 'uses-at-most': 0, 'not-rewrapped': 0 } });
  });

  test.each(['rsa-2048', 'rsa-3072', 'rsa-4096', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'])(
    'cipher %s: signing only, and keys holds the public key (spec; api 16, 22)',
    async (cipher) => {
      await harness.create(`c-${cipher}`, { cipher });
      const state = await harness.state(`c-${cipher}`);
      expect(state).toMatchObject({
        cipher,
        'supports-encryption': false,
        'supports-decryption': false,
        'supports-derivation': false,
        'supports-signing': true,
      });
      expect(state.keys['1']).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
      expect(createPublicKey(state.keys['1']).type).toBe('public');
    },
  );

  test.each(['aes128-gcm96', 'aes192-gcm96', 'aes256-gcm96'])('cipher %s: encryption and derivation only (api 16)', async (cipher) => {
    await harness.create(`c-${cipher}`, { cipher });
    const state = await harness.state(`c-${cipher}`);
    expect(state).toMatchObject({ cipher, 'supports-encryption': true, 'supports-derivation': true, 'supports-signing': false });
  });

  test('an unknown cipher is 400 unsupported-cipher and lists the known ones (api 16)', async () => {
    for (const cipher of ['aes512', 'rsa-1024', 'ecdsa', 'toString', '']) {
      const { status, body } = await harness.request('POST', config, { name: 'odd', cipher });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'unsupported-cipher' });
      expect(body.detail).toContain('aes256-gcm96');
    }
  });

  test('a cipher no token offers is 400 naming the mechanism (api 16)', async () => {
    const { status, body } = await harness.request('POST', config, { name: 'quantum', cipher: 'ml-dsa-65' });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'unsupported-cipher' });
    expect(body.detail).toContain('CKM_ML_DSA');
  });

  test('read-only fields and unknown fields are refused (api 10)', async () => {
    expect(await codeOf(harness.request('POST', config, { name: 'x', 'latest-version': 3 }))).toEqual({
      status: 400,
      code: 'read-only-field',
    });
    expect(await codeOf(harness.request('POST', config, { name: 'x', colour: 'red' }))).toEqual({ status: 400, code: 'unknown-field' });
  });

  test('a name in use is 409 already-exists', async () => {
    await harness.create('twice');
    expect(await codeOf(harness.request('POST', config, { name: 'twice' }))).toEqual({ status: 409, code: 'already-exists' });
  });

  test('custody token keeps the key in the token, and it works the same (design hsm 2)', async () => {
    await harness.create('resident', { custody: 'token', 'deletion-allowed': true });
    const { ciphertext } = await harness.do('resident', 'encrypt', { plaintext: base64('in the slot') });
    expect((await harness.do('resident', 'decrypt', { ciphertext })).plaintext).toBe(base64('in the slot'));
    expect((await harness.config('resident')).custody).toBe('token');
    await ok(204, harness.remove('resident'));
  });

  test('validate=true checks all and stores nothing (api 6)', async () => {
    const asked = await ok(201, harness.request('POST', `${config}?validate=true`, { name: 'never' }));
    expect((await harness.request('GET', `${config}/never`)).status).toBe(404);
    expect(await ok(201, harness.request('POST', config, { name: 'never' }))).toEqual(asked);
    expect(asked.custody).toBe('wrapped');
  });

  test('the state list has every key', async () => {
    const names = (await ok(200, harness.request('GET', stateList))).map((one: { name: string }) => one.name);
    expect(names).toContain('plain');
  });
});

describe('flags that do not go together (GHSA-8w8f-r2xv-4q4j: every wrong pair is 400 and the daemon lives)', () => {
  const wrong: readonly [string, object, string][] = [
    ['convergent without derived', { 'convergent-encryption': true }, 'invalid-value'],
    ['derived rsa', { cipher: 'rsa-2048', derived: true }, 'invalid-value'],
    ['derived ed25519', { cipher: 'ed25519', derived: true }, 'invalid-value'],
    ['derived ecdsa', { cipher: 'ecdsa-p256', derived: true }, 'invalid-value'],
    ['convergent derived ecdsa', { cipher: 'ecdsa-p256', derived: true, 'convergent-encryption': true }, 'invalid-value'],
    ['public key of a symmetric cipher', { 'public-key': 'x' }, 'invalid-key-data'],
    ['distribute to nowhere', { distribute: { to: 'moon' } }, 'invalid-value'],
    ['custody elsewhere', { custody: 'cloud' }, 'invalid-value'],
    ['min-encryption-version above latest', { 'min-encryption-version': 2 }, 'invalid-value'],
    ['min-decryption-version above latest', { 'min-decryption-version': 2 }, 'invalid-value'],
    ['openpgp-key-usage encrypt', { cipher: 'ed25519', 'openpgp-key-usage': ['encrypt'] }, 'invalid-value'],
    ['openpgp-user-id with a newline', { cipher: 'ed25519', 'openpgp-user-id': 'a\nb' }, 'invalid-value'],
    ['auto-rotate without rotate-after', { 'auto-rotate': { 'activate-after': '1d' } }, 'missing-field'],
    ['rotate-after below 1h', { 'auto-rotate': { 'rotate-after': '59m' } }, 'invalid-value'],
    ['activate-after not below rotate-after', { 'auto-rotate': { 'rotate-after': '1d', 'activate-after': '1d' } }, 'invalid-value'],
    [
      'deprecate-after not above activate-after',
      { 'auto-rotate': { 'rotate-after': '9d', 'activate-after': '1d', 'deprecate-after': '1d' } },
      'invalid-value',
    ],
    [
      'invalidate-after below deprecate-after',
      { 'auto-rotate': { 'rotate-after': '9d', 'deprecate-after': '2d', 'invalidate-after': '1d' } },
      'invalid-value',
    ],
    ['a duration in weeks', { 'auto-rotate': { 'rotate-after': '2w' } }, 'invalid-value'],
  ];
  test.each(wrong)('%s', async (_title, fields, code) => {
    expect(await codeOf(harness.request('POST', config, { name: 'wrong', ...fields }))).toEqual({ status: 400, code });
    expect((await harness.request('GET', `${config}/wrong`)).status).toBe(404);
  });
});

describe('change', () => {
  test.each(['exportable', 'allow-plaintext-backup'])(
    '%s is one-way (spec): 409 one-way-flag, and a PUT may leave it out',
    async (flag) => {
      const name = `one-way-${flag}`;
      await harness.create(name);
      await ok(204, harness.patch(name, { [flag]: true }));
      expect(await codeOf(harness.patch(name, { [flag]: false }))).toEqual({ status: 409, code: 'one-way-flag' });
      await ok(204, harness.put(name, {}));
      expect((await harness.config(name))[flag]).toBe(true);
    },
  );

  test('deletion-allowed goes both ways', async () => {
    await harness.create('both-ways');
    await ok(204, harness.patch('both-ways', { 'deletion-allowed': true }));
    await ok(204, harness.patch('both-ways', { 'deletion-allowed': false }));
  });

  const changes: readonly [string, object][] = [
    ['cipher', { cipher: 'aes128-gcm96' }],
    ['derived', { derived: true }],
    ['convergent-encryption', { 'convergent-encryption': true }],
    ['public-key', { 'public-key': 'x' }],
    ['openpgp-primary', { 'openpgp-primary': 'other' }],
    ['custody', { custody: 'token' }],
  ];
  test.each(changes)('%s is set at creation only (api 21): 409 immutable-field', async (field, change) => {
    const name = `fixed-${field}`;
    await harness.create(name);
    expect(await codeOf(harness.patch(name, change))).toEqual({ status: 409, code: 'immutable-field' });
    expect(await harness.config(name)).toEqual({ name, ...defaults });
  });

  test('PUT returns absent optional fields to their defaults (api 4)', async () => {
    await harness.create('whole', { 'deletion-allowed': true, distribute: { to: 'none' }, 'auto-rotate': { 'rotate-after': '90d' } });
    expect((await harness.state('whole'))['distribution-status']).toEqual({ to: 'none' });
    await ok(204, harness.put('whole', {}));
    expect(await harness.config('whole')).toEqual({ name: 'whole', ...defaults });
  });

  test('auto-rotate: a merge cannot remove it, a replace without it does (spec)', async () => {
    await harness.create('timed', { 'auto-rotate': { 'rotate-after': '90d', 'activate-after': '1d' } });
    expect((await harness.patch('timed', { 'auto-rotate': null })).status).toBe(400);
    await ok(204, harness.patch('timed', { 'auto-rotate': { 'rotate-after': '1y' } }));
    expect((await harness.config('timed'))['auto-rotate']).toEqual({ 'rotate-after': '1y', 'activate-after': '1d' });
    await ok(204, harness.put('timed', {}));
    expect((await harness.config('timed'))['auto-rotate']).toBeUndefined();
  });

  test('minimum versions: 0 to latest, encryption not below decryption (api 23)', async () => {
    await harness.create('minima');
    await harness.do('minima', 'rotate');
    await harness.do('minima', 'rotate');
    await ok(204, harness.patch('minima', { 'min-encryption-version': 3, 'min-decryption-version': 2 }));
    expect(await codeOf(harness.patch('minima', { 'min-encryption-version': 1 }))).toEqual({ status: 400, code: 'invalid-value' });
    expect(await codeOf(harness.patch('minima', { 'min-encryption-version': 4 }))).toEqual({ status: 400, code: 'invalid-value' });
    await ok(204, harness.patch('minima', { 'min-encryption-version': 0, 'min-decryption-version': 3 }));
  });

  test('a minimum version below the oldest version is 409; 0 and the present value stay allowed (api 23)', async () => {
    await harness.create('floored');
    for (let n = 0; n < 3; n += 1) await harness.do('floored', 'rotate');
    await ok(204, harness.patch('floored', { 'min-decryption-version': 2 }));
    await harness.do('floored', 'trim', { version: 3 });
    expect(await codeOf(harness.patch('floored', { 'min-decryption-version': 1 }))).toEqual({ status: 409, code: 'version-trimmed' });
    await ok(204, harness.patch('floored', { 'min-decryption-version': 2, exportable: true }));
    await ok(204, harness.patch('floored', { 'min-decryption-version': 0 }));
  });
});

describe('deletion', () => {
  test('is refused while deletion-allowed is false (spec): 409 deletion-not-allowed', async () => {
    await harness.create('kept');
    expect(await codeOf(harness.remove('kept'))).toEqual({ status: 409, code: 'deletion-not-allowed' });
    await harness.state('kept');
  });

  test('removes the key with all its versions; the name can be used again, and old ciphertexts stay closed', async () => {
    await harness.create('gone', { 'deletion-allowed': true });
    await harness.do('gone', 'rotate');
    const { ciphertext } = await harness.do('gone', 'encrypt', { plaintext: base64('old') });
    await ok(204, harness.remove('gone'));
    expect((await harness.act('gone', 'decrypt', { ciphertext })).status).toBe(404);
    await harness.create('gone', { 'deletion-allowed': true });
    await harness.do('gone', 'rotate');
    await harness.refused(400, 'decryption-failed', 'gone', 'decrypt', { ciphertext });
    await ok(204, harness.remove('gone'));
    expect((await harness.remove('gone')).status).toBe(404);
  });
});

describe('verification-only keys (api 20)', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = publicKey.export({ type: 'spki', format: 'pem' });

  test('public-key makes one; the state shows it and no signing', async () => {
    await harness.create('verifier', { cipher: 'rsa-2048', 'public-key': spki });
    const state = await harness.state('verifier');
    expect(state.keys['1']).toBe(spki);
    expect(state['supports-signing']).toBe(false);
    expect(state['public-key']).toBe(spki);
  });

  test('a PKCS#1 public key, and newlines written as two characters, are accepted', async () => {
    await harness.create('verifier-pkcs1', { cipher: 'rsa-2048', 'public-key': publicKey.export({ type: 'pkcs1', format: 'pem' }) });
    expect((await harness.state('verifier-pkcs1')).keys['1']).toBe(spki);
    await harness.create('verifier-line', { cipher: 'rsa-2048', 'public-key': spki.replaceAll('\n', '\\n') });
    expect((await harness.state('verifier-line')).keys['1']).toBe(spki);
  });

  test('the cipher must match the key type (spec): 400 key-type-mismatch names what was seen', async () => {
    for (const cipher of ['rsa-4096', 'ed25519', 'ecdsa-p256', 'aes256-gcm96']) {
      const { status, body } = await harness.request('POST', config, { name: 'mismatch', cipher, 'public-key': spki });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'key-type-mismatch' });
      expect(body.detail).toContain('rsa-2048');
    }
  });

  const unusable: readonly [string, string][] = [
    ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['two blocks', spki + spki],
    ['no PEM', 'MFkwEwYHKoZIzj0CAQ'],
    ['a broken block', spki.replace(/\n[A-Za-z0-9+/]{10}/, '\nAAAAAAAAAA')],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'],
  ];
  test.each(unusable)('%s is 400 invalid-key-data', async (_title, pem) => {
    expect(await codeOf(harness.request('POST', config, { name: 'unusable', cipher: 'rsa-2048', 'public-key': pem }))).toEqual({
      status: 400,
      code: 'invalid-key-data',
    });
  });

  test('sign, hmac, rotate, export and backup are 400 operation-not-supported', async () => {
    await harness.create('halfkey', { cipher: 'rsa-2048', 'public-key': spki, exportable: true, 'allow-plaintext-backup': true });
    await harness.refused(400, 'operation-not-supported', 'halfkey', 'sign', { text: base64('x') });
    await harness.refused(400, 'operation-not-supported', 'halfkey', 'hmac', { plaintext: base64('x') });
    await harness.refused(400, 'operation-not-supported', 'halfkey', 'rotate');
    await harness.refused(400, 'operation-not-supported', 'halfkey', 'export', {});
    await harness.refused(400, 'operation-not-supported', 'halfkey', 'backup');
    expect(await codeOf(harness.patch('halfkey', { 'auto-rotate': { 'rotate-after': '1d' } }))).toEqual({
      status: 400,
      code: 'operation-not-supported',
    });
  });

  test('importing the matching private key adds a version that signs; another key does not match', async () => {
    await harness.create('completed', { cipher: 'rsa-2048', 'public-key': spki });
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    await harness.refused(400, 'key-type-mismatch', 'completed', 'import', { data: other });
    await harness.do('completed', 'import', { data: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    const { signature } = await harness.do('completed', 'sign', { text: base64('now it signs') });
    expect(signature).toMatch(/^store:v2:/);
    for (const version of [1, 2]) {
      const value = signature.replace('v2', `v${version}`);
      expect((await harness.do('completed', 'verify', { text: base64('now it signs'), signature: value })).valid).toBe(true);
    }
    await harness.refused(400, 'operation-not-supported', 'completed', 'sign', { text: base64('x'), 'key-version': 1 });
    expect((await harness.state('completed'))['supports-signing']).toBe(true);
  });
});
