// Custody statements of transit keys: what they say, of which key, to whom, and what is recorded of them.
import { execFileSync } from 'node:child_process';
import { createCipheriv, createHash, createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifyStatement } from '../../../../appliance/attestation/statement-jws.ts';
import { thumbprintOf } from '../../../../core/base/public-keys/jwk.ts';
import { cmacOutside } from '../../../../hsm/engine/operations/cmac.ts';
import { encodeEcdsaSignature } from '../../../../core/der/ecdsa-signature.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, ok, startTransitHarness } from '../harness.ts';
import { askStatement, claimsOf, custodyPath, publishedKeys, statementOf } from './statements.ts';

const path = temporaryDirectory();
const system = '/v1/state/system';
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(path('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** A token with one policy. */
async function tokenWith(name: string, rules: readonly object[]): Promise<string> {
  await ok(201, harness.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } }));
  return String((await ok(200, harness.request('POST', '/v1/state/keystore/token/create', { policies: [name] }))).token);
}

test('before the first statement no key is published, and a hundred first statements at once make one', async () => {
  expect(await publishedKeys(harness)).toEqual([]);
  await harness.create('first');
  const statements = await Promise.all(Array.from({ length: 100 }, () => statementOf(harness, 'first')));
  const keys = await publishedKeys(harness);
  expect(keys).toHaveLength(1);
  expect(new Set(statements).size).toBe(100);
  for (const statement of statements)
    expect(verifyStatement(statement, keys).payload['sub']).toBe(custodyPath('first').replace('/custody', ''));
});

describe('what a statement says', () => {
  test('of a wrapped key: the loaded object, and the key in the token that wraps it', async () => {
    await harness.create('wrapped', { cipher: 'ecdsa-p256', custody: 'wrapped' });
    const claims = await claimsOf(harness, 'wrapped');
    const [status] = harness.hsm.status();
    const { uuid } = await ok(200, harness.request('GET', '/v1/state/tenants/system'));
    expect(claims).toMatchObject({
      iss: `urn:uuid:${uuid}`,
      sub: '/v1/state/keystore/transit-keys/wrapped',
      iat: harness.clock.now().epochMilliseconds / 1_000,
      tenant: { name: 'system', uuid },
      key: { name: 'wrapped', version: 1, cipher: 'ecdsa-p256', status: 'active', origin: 'generated' },
      custody: {
        kept: 'wrapped',
        token: {
          name: status?.name,
          serial: status?.serial,
          model: status?.model,
          manufacturer: status?.manufacturer,
          firmware: expect.any(String),
        },
        object: { 'key-type': 'CKK_EC', parameters: 'prime256v1', token: false, sensitive: true, extractable: false, uses: ['sign'] },
        'wrapping-key': {
          number: 1,
          mechanism: 'CKM_AES_KEY_WRAP_PAD',
          object: {
            ...{ 'key-type': 'CKK_AES', bits: 256, token: true, local: true, sensitive: true, extractable: false },
            ...{ 'always-sensitive': true, 'never-extractable': true, 'key-gen-mechanism': 'CKM_AES_KEY_GEN', uses: ['wrap', 'unwrap'] },
          },
        },
      },
      history: { complete: true, exportable: false, 'plaintext-backup-allowed': false, exports: [], 'exports-not-listed': 0 },
    });
    // A loaded copy was not generated as it is, and nothing says otherwise.
    expect(claims['custody'].object.local).not.toBe(true);
    const { keys } = await harness.state('wrapped');
    expect(claims['key'].thumbprint).toBe(thumbprintOf(createPublicKey(String(keys['1']))));
    expect(claims).not.toHaveProperty('partial');
  });

  test('of an object in the token: its own attributes, which tell generated from imported', async () => {
    await harness.create('object', { cipher: 'ecdsa-p256', custody: 'token' });
    await harness.do('object', 'import', {
      data: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    });
    const generated = await claimsOf(harness, 'object', 1);
    expect(generated['key']).toMatchObject({ version: 1, origin: 'generated' });
    expect(generated['custody']).toMatchObject({
      kept: 'token',
      object: { token: true, local: true, sensitive: true, 'always-sensitive': true, 'key-gen-mechanism': 'CKM_ECDSA_KEY_PAIR_GEN' },
    });
    expect(generated['custody']).not.toHaveProperty('wrapping-key');
    const imported = await claimsOf(harness, 'object', 2);
    expect(imported['key']).toMatchObject({ version: 2, origin: 'imported' });
    expect(imported['custody'].object).toMatchObject({ token: true, local: false, 'always-sensitive': false, 'never-extractable': false });
    expect(imported['custody'].object).not.toHaveProperty('key-gen-mechanism');
  });

  test('after a rotation of the wrapping key: the new one', async () => {
    await harness.create('rewrapped', { cipher: 'ed25519' });
    expect((await claimsOf(harness, 'rewrapped'))['custody']['wrapping-key'].number).toBe(1);
    await ok(200, harness.request('POST', `${system}/rotate-wrapping-key`, {}));
    const number = async (): Promise<number> => {
      await harness.runJobs();
      return (await claimsOf(harness, 'rewrapped'))['custody']['wrapping-key'].number;
    };
    await expect.poll(number, { timeout: 120_000 }).toBe(2);
  });

  test.each(['aes128-gcm96', 'aes192-gcm96', 'aes256-gcm96'])('%s: a check value that a holder of the key can compute', async (cipher) => {
    await harness.create(`check-${cipher}`, { cipher, exportable: true });
    const { 'check-value': value } = (await claimsOf(harness, `check-${cipher}`))['key'];
    expect((await claimsOf(harness, `check-${cipher}`))['key']['check-value']).toEqual(value);
    const material = Buffer.from((await harness.do(`check-${cipher}`, 'export', {})).keys['1'], 'base64');
    const gcm = createCipheriv(`aes-${(material.length * 8) as 128 | 192 | 256}-gcm`, material, Buffer.from('keystored kc'));
    gcm.final();
    expect(value).toEqual({ method: 'aes-gcm', value: gcm.getAuthTag().toString('hex').slice(0, 16) });
    // The usual check value would be the start of the key that authenticates: AES of zeros.
    const ecb = createCipheriv(`aes-${material.length * 8}-ecb`, material, null).setAutoPadding(false);
    expect(value.value.slice(0, 6)).not.toBe(ecb.update(Buffer.alloc(16)).toString('hex').slice(0, 6));
  });

  test('a derived key: a check value of the secret that its keys derive from', async () => {
    await harness.create('derived', { derived: true, exportable: true });
    const { 'check-value': value } = (await claimsOf(harness, 'derived'))['key'];
    const material = Buffer.from((await harness.do('derived', 'export', {})).keys['1'], 'base64');
    const mac = createHmac('sha256', material).update('keystored custody check value').digest('hex').slice(0, 16);
    expect(value).toEqual({ method: 'hmac-sha256', value: mac });
  });

  test.each(['aes128-cmac', 'aes256-cmac'])('%s: a check value by the one thing that the key does', async (cipher) => {
    await harness.create(`check-${cipher}`, { cipher, exportable: true });
    const { 'check-value': value } = (await claimsOf(harness, `check-${cipher}`))['key'];
    const material = Buffer.from((await harness.do(`check-${cipher}`, 'export', {})).keys['1'], 'base64');
    const mac = cmacOutside(material, Buffer.from('keystored custody check value')).toString('hex').slice(0, 16);
    expect(value).toEqual({ method: 'aes-cmac', value: mac });
  });

  test.each([
    ['x25519', 'wrapped'],
    ['ecdsa-p256', 'wrapped'],
    ['ecdsa-p384', 'token'],
  ])('%s that agrees, in %s custody: its use, and the thumbprint of its public key', async (cipher, custody) => {
    await harness.create(`agrees-${cipher}`, { cipher, use: 'agree', custody });
    const { keys } = await harness.state(`agrees-${cipher}`);
    const { key, custody: kept } = await claimsOf(harness, `agrees-${cipher}`);
    expect(key).toMatchObject({ cipher, use: 'agree', thumbprint: thumbprintOf(createPublicKey(String(keys['1']))) });
    expect(kept.object.uses).toEqual(['derive']);
  });

  test.each(['rsa-2048', 'ed25519', 'ecdsa-p384', 'ecdsa-p521', 'ecdsa-secp256k1'])(
    '%s: the thumbprint of its public key',
    async (cipher) => {
      await harness.create(`print-${cipher}`, { cipher });
      const { keys } = await harness.state(`print-${cipher}`);
      expect((await claimsOf(harness, `print-${cipher}`))['key'].thumbprint).toBe(thumbprintOf(createPublicKey(String(keys['1']))));
    },
  );

  test('nothing counts as a use of the key, and a statement is no signature that anybody asked for', async () => {
    await harness.create('unused', { cipher: 'ecdsa-p256' });
    await claimsOf(harness, 'unused');
    expect((await harness.state('unused')).usage['1']).toMatchObject({ uses: 0 });
  });
});

describe('verified with other programs', () => {
  test('openssl, from the three parts and the published key', async () => {
    await harness.create('openssl', { cipher: 'ecdsa-p256' });
    const [head = '', body = '', signature = ''] = (await statementOf(harness, 'openssl')).split('.');
    const [key] = await publishedKeys(harness);
    writeFileSync(path('attestation.pem'), String(key?.export({ format: 'pem', type: 'spki' })));
    writeFileSync(path('input'), `${head}.${body}`);
    writeFileSync(path('signature'), encodeEcdsaSignature(Buffer.from(signature, 'base64url')));
    const verify = ['dgst', '-sha256', '-verify', path('attestation.pem'), '-signature', path('signature')];
    expect(execFileSync('openssl', [...verify, path('input')], { encoding: 'utf8' })).toBe('Verified OK\n');
    writeFileSync(path('forged'), `${head}.${body.slice(0, -2)}AA`);
    expect(() => execFileSync('openssl', [...verify, path('forged')], { stdio: 'ignore' })).toThrow('Command failed');
  });

  test('the published keys are a JWK Set whose kid are thumbprints', async () => {
    const { keys } = await ok(200, harness.request('GET', `${system}/attestation-keys`, undefined, { token: undefined }));
    const [published] = await publishedKeys(harness);
    expect(keys).toEqual([
      {
        ...{ kid: published && thumbprintOf(published), kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String) },
        ...{ alg: 'ES256', use: 'sig', since: expect.stringMatching(/^\d{4}-/) },
      },
    ]);
  });
});

describe('who gets one, and what is recorded', () => {
  test('the audit record of a statement has its id and its digest', async () => {
    await harness.create('recorded');
    const statement = await statementOf(harness, 'recorded');
    const { jti } = verifyStatement(statement, await publishedKeys(harness)).payload;
    const record = harness.records().find((one) => one['request-id'] === jti);
    expect(record).toMatchObject({
      method: 'GET',
      path: custodyPath('recorded'),
      status: 200,
      'key-version': 1,
      'signed-digest': `sha256:${createHash('sha256').update(statement).digest('hex')}`,
    });
  });

  test('a policy that reads keys does not read statements, and one for statements reads nothing else', async () => {
    await harness.create('guarded');
    const reader = await tokenWith('key-reader', [{ path: '/v1/state/keystore/transit-keys/*', operations: { read: 'allow' } }]);
    const auditor = await tokenWith('custody-reader', [
      { path: '/v1/state/keystore/transit-keys/*/custody', operations: { read: 'allow' } },
    ]);
    expect((await askStatement(harness, 'guarded', undefined, { token: reader })).status).toBe(403);
    expect((await askStatement(harness, 'guarded', undefined, { token: auditor })).status).toBe(200);
    expect((await harness.request('GET', '/v1/state/keystore/transit-keys/guarded', undefined, { token: auditor })).status).toBe(403);
  });

  test('what a policy hides is not in the statement, which says that it is not everything', async () => {
    await harness.create('hidden', { cipher: 'ecdsa-p256' });
    const hide = { path: '/v1/state/keystore/transit-keys/*/custody', operations: { read: 'allow' } };
    const token = await tokenWith('custody-without', [{ ...hide, 'hide-fields': ['history', 'custody/token/serial', 'audit', 'iss'] }]);
    const claims = await claimsOf(harness, 'hidden', undefined, { token });
    expect(claims).toMatchObject({ partial: true, iss: expect.stringMatching(/^urn:uuid:/), key: { name: 'hidden' } });
    expect(claims).not.toHaveProperty('history');
    expect(claims).not.toHaveProperty('audit');
    expect(claims['custody'].token).not.toHaveProperty('serial');
    const none = await tokenWith('custody-of-nothing', [{ ...hide, 'hide-fields': ['statement'] }]);
    expect((await askStatement(harness, 'hidden', undefined, { token: none })).body).toEqual({ 'key-version': 1 });
  });

  test('what a policy hides of the key itself is not in it either, nor what tells it', async () => {
    await harness.create('veiled', { cipher: 'ecdsa-p256', exportable: true });
    await ok(200, harness.request('POST', '/v1/state/keystore/transit-keys/veiled/export'));
    const path = '/v1/state/keystore/transit-keys';
    const custody = { path: `${path}/*/custody`, operations: { read: 'allow' } };
    const read = { path: `${path}/*`, operations: { read: 'allow' } };
    const flags = await tokenWith('custody-without-flags', [custody, { ...read, 'hide-fields': ['exportable'] }]);
    const { key, history, partial } = await claimsOf(harness, 'veiled', undefined, { token: flags });
    expect([key.cipher, partial]).toEqual(['ecdsa-p256', true]);
    expect(Object.keys(history as object).filter((claim) => claim.startsWith('export'))).toEqual([]);
    expect(history).toHaveProperty('plaintext-backup-allowed', false);
    const ciphers = await tokenWith('custody-without-ciphers', [custody, { ...read, 'hide-fields': ['cipher', 'versions'] }]);
    const others = await claimsOf(harness, 'veiled', undefined, { token: ciphers });
    // Without identifiers, whose digits may contain "ec-" by chance.
    const told = JSON.stringify([others['key'], others['custody']]).replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '');
    expect(told).not.toMatch(/ecdsa|ec-|p-?256|"status"|"created"/i);
    expect(others['history']).toHaveProperty('exports', [expect.objectContaining({ kind: 'export' })]);
    const numbers = await tokenWith('custody-without-numbers', [custody, { ...read, 'hide-fields': ['latest-version', 'creation-time'] }]);
    const unnumbered = await claimsOf(harness, 'veiled', undefined, { token: numbers });
    expect([Object.keys(unnumbered.key).filter((claim) => ['version', 'created'].includes(claim)), unnumbered.partial]).toEqual([[], true]);
    // Refused in both trees, all of it is hidden; where no rule speaks of the key, the right to the statement is enough.
    const refusing = ['config', 'state'].map((tree) => ({ path: `/v1/${tree}/keystore/transit-keys/*`, operations: { read: 'reject' } }));
    const nothing = await claimsOf(harness, 'veiled', undefined, {
      token: await tokenWith('custody-of-the-refused', [custody, ...refusing]),
    });
    expect(nothing).toMatchObject({ partial: true, key: { name: 'veiled' } });
    expect(nothing).not.toHaveProperty('custody');
    expect(nothing.key).not.toHaveProperty('cipher');
    expect(await claimsOf(harness, 'veiled', undefined, { token: await tokenWith('custody-alone', [custody]) })).not.toHaveProperty(
      'partial',
    );
    // Shown in the other tree, it is no secret.
    const shown = await tokenWith('custody-with-all', [
      custody,
      { ...read, 'hide-fields': ['exportable'] },
      { path: '/v1/config/keystore/transit-keys/*', operations: { read: 'allow' } },
    ]);
    expect(await claimsOf(harness, 'veiled', undefined, { token: shown })).not.toHaveProperty('partial');
  });

  test('another tenant sees its own keys alone, and nothing of the audit trail of the appliance', async () => {
    await ok(201, harness.request('POST', '/v1/config/tenants', { name: 'shop' }));
    const { token } = await ok(200, harness.request('POST', '/v1/state/keystore/token/create-root', { name: 'shop' }));
    const options = { token: String(token) };
    expect((await askStatement(harness, 'first', undefined, options)).status).toBe(404);
    await ok(201, harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'first' }, options));
    const claims = await claimsOf(harness, 'first', undefined, options);
    expect(claims['tenant'].name).toBe('shop');
    expect(claims).not.toHaveProperty('audit');
    expect(await claimsOf(harness, 'first')).toHaveProperty('audit.heads');
  });

  test('a version that is not there, or has no private key, has no statement', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    await harness.create('verifier', { cipher: 'ed25519', 'public-key': publicKey.export({ format: 'pem', type: 'spki' }) });
    expect((await askStatement(harness, 'verifier')).body).toMatchObject({ status: 400, code: 'operation-not-supported' });
    await harness.create('short');
    for (const version of ['2', '9999999999'])
      expect((await askStatement(harness, 'short', version)).body).toMatchObject({ status: 400, code: 'version-unknown' });
    for (const version of ['0', '-1', '1.5', 'newest', '01', '', '%00', '99999999999'])
      expect((await askStatement(harness, 'short', version)).body).toMatchObject({ status: 400, code: 'invalid-value' });
    expect((await askStatement(harness, 'short', 'latest')).status).toBe(200);
    await harness.do('short', 'rotate');
    await harness.do('short', 'trim', { version: 2 });
    expect((await askStatement(harness, 'short', '1')).body).toMatchObject({ status: 400, code: 'version-unknown' });
  });
});
