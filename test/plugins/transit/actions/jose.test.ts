// JOSE: signatures as JWS, the JWKS of a tenant, and keys as JWK, as the library jose reads and makes them.
import { compactVerify, createLocalJWKSet, importJWK, type JSONWebKeySet, jwtVerify, CompactSign } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import ca from '../../../../plugins/ca/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [ca] });
  await harness.create('first', { cipher: 'ed25519', publish: true });
  path = (await harness.state('first'))['jwks-path'];
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

let path = '';
const jwks = (): Promise<JSONWebKeySet> => ok(200, harness.request('GET', path, undefined, { token: null }));
const claims = { sub: 'device 17', exp: 4_102_444_800 };
const payload = base64(JSON.stringify(claims));

describe('sign with format jws', () => {
  const ways: readonly (readonly [string, object, string])[] = [
    ['ecdsa-p256', {}, 'ES256'],
    ['ecdsa-p384', {}, 'ES384'],
    ['ecdsa-p521', {}, 'ES512'],
    ['ed25519', {}, 'EdDSA'],
    ['rsa-2048', {}, 'RS256'],
    ['rsa-2048', { 'hash-algorithm': 'sha512' }, 'RS512'],
    ['rsa-2048', { 'signature-algorithm': 'pss', 'hash-algorithm': 'sha384' }, 'PS384'],
  ];

  test.each(ways)('%s with %j is a token that the JWKS verifies', async (cipher, options, alg) => {
    const name = `jws-${ways.findIndex((way) => way[0] === cipher && way[1] === options)}`;
    await harness.create(name, { cipher, publish: true });
    const { signature } = await harness.do(name, 'sign', { text: payload, format: 'jws', 'jws-type': 'JWT', ...options });
    const found = await jwtVerify(signature, createLocalJWKSet(await jwks()), { typ: 'JWT' });
    expect(found.payload).toEqual(claims);
    expect(found.protectedHeader).toEqual({ alg, typ: 'JWT', kid: (await harness.state(name)).versions['1'].kid });
    // In a batch, and with a payload of any octets.
    const items = [{ text: base64(Uint8Array.of(0, 255)), format: 'jws', ...options }];
    const { 'batch-results': results } = await harness.do(name, 'sign-batch', { 'batch-input': items });
    expect([...(await compactVerify(results[0].signature, createLocalJWKSet(await jwks()))).payload]).toEqual([0, 255]);
  });

  test('refuses options that a JWS does not leave open, and its own without it', async () => {
    await harness.create('strict', { cipher: 'ecdsa-p384' });
    const refuse = (body: object) => harness.refused(400, 'invalid-value', 'strict', 'sign', { text: payload, ...body });
    await refuse({ format: 'jws', 'hash-algorithm': 'sha256' });
    await refuse({ format: 'jws', prehashed: true });
    await refuse({ format: 'jws', marshaling: 'jws' });
    await refuse({ format: 'jws', 'signature-algorithm': 'pss' });
    await refuse({ format: 'jws', 'jws-type': 'no type' });
    await refuse({ 'jws-type': 'JWT' });
  });
});

describe('the JWKS of a tenant', () => {
  const named = async (name: string): Promise<readonly string[]> => {
    const { versions } = await harness.state(name);
    const published = (await jwks()).keys.map(({ kid }) => kid);
    return Object.entries<{ kid: string }>(versions).flatMap(([number, { kid }]) => (published.includes(kid) ? [number] : []));
  };

  test('has the keys that are published, and the next version before it signs', async () => {
    await harness.create('turning', { cipher: 'ecdsa-p256', 'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' } });
    expect(await named('turning')).toEqual([]);
    await ok(204, harness.patch('turning', { publish: true }));
    await harness.do('turning', 'rotate');
    expect(await named('turning')).toEqual(['1', '2']);
    expect((await harness.do('turning', 'sign', { text: payload, format: 'jws' }))['key-version']).toBe(1);
    await ok(204, harness.patch('turning', { 'disabled-versions': [1] }));
    expect(await named('turning')).toEqual(['2']);
    await ok(204, harness.patch('turning', { 'disabled-versions': [], 'min-decryption-version': 2, 'min-encryption-version': 2 }));
    expect(await named('turning')).toEqual(['2']);
    await ok(204, harness.patch('turning', { disabled: true }));
    expect(await named('turning')).toEqual([]);
    await ok(204, harness.patch('turning', { publish: false, 'deletion-allowed': true }));
    await ok(204, harness.remove('turning'));
    expect((await jwks()).keys.length).toBeGreaterThan(0);
  });

  test('has what a key is for, and its certificates', async () => {
    await harness.create('sealed-to', { cipher: 'rsa-2048', use: 'encrypt', publish: true });
    await harness.create('certified', { cipher: 'ecdsa-p256', publish: true });
    await ok(201, harness.request('POST', '/v1/config/keystore/tls/ca', { name: 'root', subject: 'CN=Root', ttl: '5y', est: {} }));
    const { csr } = await harness.do('certified', 'generate-csr', { subject: 'CN=a' });
    const { certificate, chain } = await ok(200, harness.request('POST', '/v1/state/keystore/tls/ca/root/sign-csr', { csr, ttl: '1d' }));
    await ok(204, harness.act('certified', 'set-certificate-chain', { 'certificate-chain': certificate + chain }));
    const find = async (name: string) => {
      const { kid } = (await harness.state(name)).versions['1'];
      return (await jwks()).keys.find((key) => key.kid === kid);
    };
    expect(await find('sealed-to')).toMatchObject({ kty: 'RSA', use: 'enc' });
    // Nothing but what verifies or encrypts.
    const members = new Set((await jwks()).keys.flatMap((key) => Object.keys(key)));
    expect([...members].filter((one) => ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'priv'].includes(one))).toEqual([]);
    const certified = await find('certified');
    expect(certified).toMatchObject({ alg: 'ES256', use: 'sig', 'x5t#S256': expect.any(String) });
    expect(certified?.x5c).toHaveLength(2);
    expect(certified?.x5c?.[0]).toBe(certificate.replaceAll(/-----[^-]*-----|\s/g, ''));
  });

  test('has the version that signs, however many newer ones wait', async () => {
    await harness.create('waiting', { cipher: 'ed25519', publish: true, 'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' } });
    for (let time = 0; time < 33; time++) await harness.do('waiting', 'rotate');
    const versions = await named('waiting');
    expect([versions.length, versions.includes('1'), versions.includes('34')]).toEqual([32, true, true]);
    await ok(204, harness.patch('waiting', { publish: false }));
  });

  test('is no resource of a tenant that publishes nothing, and takes no symmetric key', async () => {
    const unknown = await harness.request('GET', '/v1/jwks/00000000-0000-4000-8000-000000000000', undefined, { token: null });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not-found']);
    const refused = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'aes', publish: true });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid-value']);
    await harness.create('aes');
    expect((await harness.patch('aes', { publish: true })).body.code).toBe('invalid-value');
  });

  test('has a hundred keys at most', async () => {
    const { body } = await harness.request('GET', '/v1/config/keystore/transit-keys?fields=name,publish&limit=1000');
    const published = body.filter((one: { publish?: boolean }) => one.publish).length ?? 0;
    const made = Array.from({ length: 100 - published }, (_, index) => ({ name: `many-${index}`, cipher: 'ed25519', publish: true }));
    await ok(200, harness.request('POST', '/v1/config/keystore/transit-keys-batch', { 'batch-input': made }));
    const beyond = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'beyond', cipher: 'ed25519', publish: true });
    expect([beyond.status, beyond.body.code]).toEqual([409, 'publish-limit']);
  });
});

describe('JWK', () => {
  test('an exported key signs elsewhere what is verified here, and comes in again', async () => {
    for (const [name, cipher, alg] of [
      ['out-ec', 'ecdsa-p256', 'ES256'],
      ['out-rsa', 'rsa-2048', 'RS256'],
      ['out-ed', 'ed25519', 'EdDSA'],
    ] as const) {
      await harness.create(name, { cipher, exportable: true });
      const jwk = JSON.parse((await harness.do(name, 'export', { format: 'jwk' })).keys['1']);
      const key = await importJWK(jwk, alg);
      const jws = await new CompactSign(Buffer.from('hello')).setProtectedHeader({ alg }).sign(key);
      const [header, body, signature] = jws.split('.');
      const text = base64(`${header}.${body}`);
      const given = { text, signature: `store:v1:${signature}`, marshaling: 'jws' };
      expect((await harness.do(name, 'verify', given)).valid).toBe(true);
      await harness.create(`${name}-again`, { cipher });
      await harness.do(`${name}-again`, 'import', { data: JSON.stringify(jwk) });
      expect((await harness.state(`${name}-again`)).versions['2'].kid).toBe(jwk.kid);
    }
    await harness.create('out-aes', { exportable: true });
    const jwk = JSON.parse((await harness.do('out-aes', 'export', { format: 'jwk' })).keys['1']);
    expect(jwk).toEqual({ kty: 'oct', k: expect.stringMatching(/^[\w-]{43}$/) });
  });
});
