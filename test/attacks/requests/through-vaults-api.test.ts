// Advisories of Vault and OpenBao about the paths that the API of Vault has here too: upsert without create, v0, HMAC none, derived RSA
// (GHSA-8w8f-r2xv-4q4j), a namespace named root (GHSA-mwr2-wmgp-crj6), lists past a refusal (GHSA-xp3c-3jw3-4vcr), `..` (CVE-2026-3605),
// accessors of others (CVE-2026-40264), JSON bombs (CVE-2025-6203), octets in the audit trail (CVE-2025-62705), addresses of a request
// (GHSA-g892-p242-8g86). Names of policies in capitals (CVE-2025-5999): access/policy-name-case.test.ts; paths in other spellings: here. Wrapped
// answers: once, bound, with an end.
import { beforeAll, describe, expect, test } from 'vitest';
import { asVaultClient } from '../../plugins/vault/vault-client.ts';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let tenant: string;
let outsider: string;
let spellings = 0;
const ask = asVaultClient(() => victim);

beforeAll(async () => {
  victim = await startVictim({
    configuration: {
      vault: { tenants: { system: {}, mine: { upsert: true }, root: {} }, pkiMounts: { pki: { tenant: 'mine', ca: 'web' } } },
    },
  });
  [tenant, outsider] = [await victim.makeTenant('mine'), await victim.makeTenant('root')];
  for (const token of [tenant, outsider]) await ask('PUT', 'transit/keys/k', {}, token);
});

const rule = (path: string, operations: object): object => ({ path, operations });
const statusOf = async (...args: Parameters<typeof ask>): Promise<number> => (await ask(...args)).status;

/** A token of the tenant with these rules. */
async function limited(name: string, ...rules: readonly object[]): Promise<string> {
  await victim.makePolicy(name, rules, tenant);
  return victim.makeToken([name], tenant);
}

describe('keys', () => {
  test('upsert without the right to create makes no key', async () => {
    const token = await limited('encrypts', rule('/v1/state/keystore/transit-keys/*/encrypt', { execute: 'allow' }));
    expect(await statusOf('PUT', 'transit/encrypt/made', { plaintext: 'eA==' }, token)).toBe(403);
    expect(await statusOf('GET', 'transit/keys/made', undefined, tenant)).toBe(404);
  });

  test('version 0 is not version 1, and other spellings of 1 are not 1', async () => {
    const { ciphertext } = (await ask('PUT', 'transit/encrypt/k', { plaintext: 'eA==' }, tenant)).body.data;
    for (const version of ['v0', 'v00', 'v01', 'v+1', 'v 1', 'v1.0', 'V1', 'v-1', 'v4294967297'])
      expect(await statusOf('PUT', 'transit/decrypt/k', { ciphertext: ciphertext.replace('v1', version) }, tenant), version).toBe(400);
  });

  test('the HMAC "none" is refused in path and body, and the service goes on', async () => {
    expect(await statusOf('PUT', 'transit/hmac/k/none', { input: 'eA==' }, tenant)).toBe(400);
    expect(await statusOf('PUT', 'transit/hmac/k', { input: 'eA==', algorithm: 'none' }, tenant)).toBe(400);
    expect(await statusOf('PUT', 'transit/verify/k/none', { input: 'eA==', hmac: 'vault:v1:eA==' }, tenant)).toBe(400);
    expect(await statusOf('PUT', 'transit/hmac/k', { input: 'eA==' }, tenant)).toBe(200);
  });

  test.each(['rsa-2048', 'ecdsa-p256', 'ed25519'])('a derived key of the type %s is not made', async (type) => {
    expect(await statusOf('PUT', `transit/keys/derived-${type}`, { type, derived: true }, tenant)).toBe(400);
    expect(await statusOf('GET', `transit/keys/derived-${type}`, undefined, tenant)).toBe(404);
  });

  test('more items than a batch may have are refused whole, of every action', async () => {
    const batchOf = (length: number, item: object) => ({ batch_input: Array.from({ length }, () => item) });
    for (const [path, item] of Object.entries({
      'encrypt/k': { plaintext: 'eA==' },
      'decrypt/k': { ciphertext: 'vault:v1:eA==' },
      'rewrap/k': { ciphertext: 'vault:v1:eA==' },
      'hmac/k': { input: 'eA==' },
      'verify/k': { input: 'eA==', hmac: 'vault:v1:eA==' },
    })) {
      const refused = await ask('PUT', `transit/${path}`, batchOf(1_001, item), tenant);
      expect([path, refused.status, refused.body]).toEqual([path, 400, { errors: [expect.stringContaining('1000')] }]);
    }
    const most = await ask('PUT', 'transit/encrypt/k', batchOf(1_000, { plaintext: 'eA==' }), tenant);
    expect([most.status, most.body.data.batch_results.length]).toEqual([200, 1_000]);
  });
});

describe('namespaces', () => {
  test('the name root stands for the own tenant, also where another tenant has that name', async () => {
    const { ciphertext } = (await ask('PUT', 'transit/encrypt/k', { plaintext: 'eA==' }, outsider)).body.data;
    const opened = await ask('PUT', 'transit/decrypt/k', { ciphertext }, tenant, { 'x-vault-namespace': 'root' });
    expect([opened.status, JSON.stringify(opened.body)]).toEqual([400, expect.not.stringContaining('eA==')]);
    expect(await statusOf('GET', 'transit/keys/k', undefined, outsider, { 'x-vault-namespace': 'mine' })).toBe(403);
    expect(await statusOf('GET', 'transit/keys/k', undefined, outsider, { 'x-vault-namespace': 'root' })).toBe(200);
  });

  test.each([
    'root/mine',
    '//mine',
    'mine//',
    '%6dine',
    'mine%2f',
    'MINE',
    '../mine',
    'mine,root',
    '.',
    'system',
    'ｍｉｎｅ',
    'mine\u00a0',
  ])('the form "%s" reaches no tenant', async (namespace) => {
    const headers = { 'x-vault-namespace': Buffer.from(namespace).toString('latin1') };
    expect(await statusOf('GET', 'transit/keys/k', undefined, outsider, headers)).toBe(403);
  });

  test.each(['/v1/mine/transit/keys/k', '/v1/root/transit/keys/k', '/v1/transit/../mine/transit/keys/k'])(
    'the path %s has no namespace',
    async (path) => {
      const { status } = await victim.request('GET', path, undefined, { token: null, headers: { 'x-vault-token': outsider } });
      expect(status).toBe(404);
    },
  );
});

describe('paths', () => {
  test('a list goes past no refusal, whatever its form', async () => {
    const token = await limited(
      'no-lists',
      rule('/v1/config/keystore/**', { read: 'allow' }),
      rule('/v1/config/keystore/transit-keys', { read: 'reject' }),
      rule('/v1/state/keystore/tls/ca/**', { read: 'allow' }),
      rule('/v1/state/keystore/tls/ca/web/certificates', { read: 'reject' }),
    );
    for (const [method, path] of [
      ['LIST', 'transit/keys'],
      ['LIST', 'transit/keys/'],
      ['GET', 'transit/keys?list=true'],
      ['GET', 'transit/keys/?list=1'],
      ['LIST', 'pki/certs'],
      ['LIST', 'pki/certs/'],
    ] as const)
      expect(await statusOf(method, path, undefined, token), `${method} ${path}`).toBe(403);
  });

  test.each([
    ...[
      'transit/encrypt/k',
      'transit/encrypt/K',
      'transit/encrypt/%6b',
      'transit/encrypt/k%00',
      'transit/encrypt/k%20',
      'transit/encrypt/k/',
    ],
    ...[
      'transit/encrypt//k',
      'transit/encrypt/./k',
      'transit/encrypt/other/../k',
      'transit/ENCRYPT/k',
      'TRANSIT/encrypt/k',
      '/transit/encrypt/k',
    ],
    ...['transit/encrypt/k;a', 'transit/encrypt/k?x=/other', 'transit/encrypt/k.', 'transit/encrypt/ｋ'],
  ])('no spelling of a path goes past a refusal: %s', async (path) => {
    const all = rule('/v1/**', { all: 'allow' });
    const token = await limited(`not-k-${(spellings += 1)}`, all, rule('/v1/state/keystore/transit-keys/k/encrypt', { execute: 'reject' }));
    expect(await statusOf('PUT', 'transit/encrypt/other', { plaintext: 'eA==' }, token)).toBe(200);
    const { status, body } = await ask('PUT', encodeURI(path).replaceAll('%25', '%'), { plaintext: 'eA==' }, token);
    expect([400, 403, 404, 405]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('vault:v1:');
  });

  test.each([
    'transit/keys/..',
    'transit/keys/.',
    'transit/keys/%2e%2e/k',
    'transit/keys/..%2fk',
    'transit/./keys/k',
    'transit/encrypt/../keys/k',
    'transit//keys/k',
    'pki/cert/..',
    'pki/sign/..',
  ])('%s is read as no other path', async (path) => {
    const { status, body } = await victim.raw('GET', `/v1/${path}`, { token: null, headers: { 'x-vault-token': tenant } });
    // A segment of dots is in no path: it is not even judged as a name, which would be 400.
    expect(/(^|\/)(\.|%2e){1,2}(\/|$)/.test(path) ? [404] : [400, 404, 405]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('latest_version');
  });
});

describe('tokens', () => {
  test('those of other tenants are neither looked up, nor ended, by accessor or by value', async () => {
    const { accessor } = (await ask('GET', 'auth/token/lookup-self', undefined, outsider)).body.data;
    for (const [path, body] of [
      ['lookup-accessor', { accessor }],
      ['revoke-accessor', { accessor }],
      ['lookup', { token: outsider }],
      ['revoke', { token: outsider }],
    ] as const) {
      const answer = await ask('POST', `auth/token/${path}`, body, tenant);
      expect([answer.status, JSON.stringify(answer.body)], path).toEqual([
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
        expect.not.stringContaining('root'),
      ]);
    }
    expect(await statusOf('GET', 'auth/token/lookup-self', undefined, outsider)).toBe(200);
  });

  test('those of the own tenant are, by who may', async () => {
    const other = await victim.makeToken(['user'], tenant);
    const { accessor } = (await ask('POST', 'auth/token/lookup', { token: other }, tenant)).body.data;
    const without = await limited('nothing-of-tokens');
    for (const path of ['lookup-accessor', 'revoke-accessor'])
      expect(await statusOf('POST', `auth/token/${path}`, { accessor }, without), path).toBe(403);
    expect(await statusOf('POST', 'auth/token/revoke-accessor', { accessor }, tenant)).toBe(204);
    expect(await statusOf('GET', 'auth/token/lookup-self', undefined, other)).toBe(403);
    const gone = await ask('POST', 'auth/token/lookup-accessor', { accessor }, tenant);
    expect([gone.status, gone.body]).toEqual([403, { errors: ['bad token'] }]);
  });

  test('a wrong X-Vault-Token is not made good by a right bearer token', async () => {
    const headers = { authorization: `Bearer ${tenant}` };
    expect(await statusOf('GET', 'transit/keys/k', undefined, 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', headers)).toBe(403);
    expect(await statusOf('GET', 'transit/keys/k', undefined, null, headers)).toBe(200);
  });

  test('a client that sends a wrong login three times, as the one in Go does, locks nobody out', async () => {
    await victim.request(
      'POST',
      '/v1/config/keystore/authentication/approles',
      { name: 'shop', 'token-policies': ['user'] },
      { token: tenant },
    );
    const { role_id } = (await ask('GET', 'auth/approle/role/shop/role-id', undefined, tenant)).body.data;
    const { secret_id } = (await ask('POST', 'auth/approle/role/shop/secret-id', {}, tenant)).body.data;
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await statusOf('PUT', 'auth/approle/login', { role_id, secret_id: 'wrong' }, null)).toBe(400);
    expect(await statusOf('PUT', 'auth/approle/login', { role_id, secret_id }, null)).toBe(200);
  });
});

describe('wrapped answers', () => {
  const wrapFor = (ttl: string) => ({ 'x-vault-wrap-ttl': ttl });
  const wrap = async (ttl = '60', token = tenant): Promise<string> =>
    (await ask('POST', 'sys/wrapping/wrap', { a: 'geheim-91c2' }, token, wrapFor(ttl))).body.wrap_info.token;
  const unwrap = (token: string, headers?: Record<string, string>) => ask('PUT', 'sys/wrapping/unwrap', undefined, token, headers);

  test('come out once, however many ask at the same time, and the trail of the tenant says who asked', async () => {
    const token = await wrap();
    const answers = await Promise.all(Array.from({ length: 20 }, () => unwrap(token)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 400),
    ]);
    expect(answers.filter(({ body }) => JSON.stringify(body).includes('geheim-91c2'))).toHaveLength(1);
    expect(answers.filter(({ body }) => JSON.stringify(body).includes('This was opened at'))).toHaveLength(19);
    expect(victim.written()).not.toContain('geheim-91c2');
    expect(victim.written()).not.toContain(token);
    // The record of a refusal may come after its answer.
    await expect.poll(() => victim.written().includes('hand-over-opened'), { timeout: 60_000 }).toBe(true);
  });

  test('end', async () => {
    const token = await wrap('1');
    expect(await statusOf('POST', 'sys/wrapping/lookup', { token }, null)).toBe(200);
    victim.clock.advance(2);
    expect(await statusOf('POST', 'sys/wrapping/lookup', { token }, null)).toBe(400);
    expect((await unwrap(token)).status).toBe(400);
  });

  test('are bound to their tenant, and an attempt from another namespace leaves them whole', async () => {
    const token = await wrap();
    for (const namespace of ['root/mine', 'system', 'other'])
      expect((await unwrap(token, { 'x-vault-namespace': namespace })).status, namespace).toBe(403);
    const { accessor } = (await victim.request('POST', '/v1/state/keystore/hand-over/info', { token }, { token: null })).body;
    for (const [action, body] of [
      ['lookup-accessor', { accessor }],
      ['revoke-accessor', { accessor }],
      ['lookup', { token }],
    ] as const)
      expect(await statusOf('POST', `auth/token/${action}`, body, outsider), action).toBeGreaterThanOrEqual(400);
    expect((await unwrap(token, { 'x-vault-namespace': 'mine' })).body.data).toEqual({ a: 'geheim-91c2' });
  });

  test('a wrapping token is no token, and a token opens nothing', async () => {
    const token = await wrap();
    expect(await statusOf('GET', 'auth/token/lookup-self', undefined, token)).toBe(403);
    expect(await statusOf('GET', 'transit/keys/k', undefined, token)).toBe(403);
    expect((await unwrap(tenant)).status).toBe(400);
    expect((await unwrap(token)).status).toBe(200);
  });

  test('are bound to the route that wrapped them: what our API hands over is no login, whatever its maker says', async () => {
    const forged = { request_id: 'x', wrap_info: null, data: null, auth: { client_token: 'geheim-0a7f', policies: ['root'] } };
    const document = { text: JSON.stringify(forged), purpose: 'auth/approle/login' };
    const { token } = (await victim.request('POST', '/v1/state/keystore/hand-over/create', document, { token: tenant })).body;
    const told = await ask('POST', 'sys/wrapping/lookup', { token }, null);
    expect([told.status, told.body.data.creation_path]).toEqual([200, 'sys/wrapping/wrap']);
    const { status, body } = await unwrap(String(token));
    expect([status, body.auth, body.data]).toEqual([200, null, forged]);
  });

  test('those of a tenant without this API are unknown here', async () => {
    const apart = await victim.makeTenant('apart');
    const { body } = await victim.request('POST', '/v1/state/keystore/hand-over/create', { text: 'x' }, { token: apart });
    expect((await unwrap(String(body.token))).status).toBe(400);
    expect(await victim.verdict('POST', '/v1/state/keystore/hand-over/open', { token: body.token }, { token: null })).toBe('200 done');
  });
});

test('what goes out as octets, or as text of them, is in no record (CVE-2025-62705)', async () => {
  await ask('PUT', 'transit/keys/leaves', { exportable: true, type: 'aes256-gcm96' }, tenant);
  const { keys } = (await ask('GET', 'transit/export/encryption-key/leaves', undefined, tenant)).body.data;
  const plaintext = Buffer.from('geheim-5d10').toString('base64');
  const { ciphertext } = (await ask('PUT', 'transit/encrypt/leaves', { plaintext }, tenant)).body.data;
  expect((await ask('PUT', 'transit/decrypt/leaves', { batch_input: [{ ciphertext }] }, tenant)).status).toBe(200);
  const { random_bytes } = (await ask('PUT', 'transit/random/64', {}, tenant)).body.data;
  await ask('PUT', 'transit/keys/in-context', { derived: true }, tenant);
  const context = Buffer.from('geheim-c0c0').toString('base64');
  for (const [body, status] of [
    [{ plaintext, context }, 200],
    [{ batch_input: [{ plaintext, context }] }, 200],
    [{ plaintext, context, key_version: 9 }, 400],
    [{ batch_input: [{ plaintext, context, key_version: 9 }] }, 400],
  ] as const)
    expect(await statusOf('PUT', 'transit/encrypt/in-context', body, tenant)).toBe(status);
  for (const secret of [keys['1'], plaintext, 'geheim-5d10', random_bytes, context, 'geheim-c0c0']) {
    expect(secret).toMatch(/.{8}/);
    expect(victim.written()).not.toContain(secret);
  }
});

describe('bodies', () => {
  const deep = (open: string, close: string): string => `{"plaintext":${open.repeat(200_000)}${close.repeat(200_000)}}`;

  test.each([
    ['deep lists', deep('[', ']'), 'nested deeper'],
    ['deep objects', `{"plaintext":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}`, 'nested deeper'],
    ['many members', `{${Array.from({ length: 50_000 }, (_, at) => `"a${at}":1`).join(',')}}`, 'An object of the body has more'],
    ['many elements', `{"batch_input":[${'1,'.repeat(200_000)}1]}`, 'The body has more than'],
    ['a member twice', '{"plaintext":"eA==","plaintext":"eQ=="}', 'twice'],
    ['a prototype', '{"__proto__":{"plaintext":"eA=="}}', 'missing plaintext'],
    ['a huge number', `{"plaintext":"eA==","key_version":${'9'.repeat(100_000)}}`, 'an integer'],
  ])('%s are refused in short time, with a token and at the login', async (_, body, words) => {
    const before = performance.now();
    const refused = await ask('PUT', 'transit/encrypt/k', body, tenant);
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringContaining(words)]]);
    expect([400, 413]).toContain(await statusOf('PUT', 'auth/approle/login', body, null));
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await statusOf('GET', 'sys/health', undefined, null)).toBe(200);
  });
});

test('an address in a request for a certificate needs allow-ip-sans, as one in the fields does', async () => {
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await victim.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est }, { token: tenant });
  const token = await limited(
    'signs',
    rule('/v1/state/keystore/tls/ca/web/*', { execute: 'allow' }),
    rule('/v1/state/keystore/tls/ca/web/sign-freely', { execute: 'reject' }),
  );
  const names = [
    { type: 'dns', value: 'a.example.test' },
    { type: 'ip', value: '127.0.0.1' },
  ] as const;
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=a.example.test', names: [...names] });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  for (const path of ['pki/sign/web', 'pki/sign-verbatim'])
    expect((await ask('POST', path, { csr, exclude_cn_from_sans: true }, token)).body.errors[0], path).toContain('allow-ip-sans');
  const issued = await ask('POST', 'pki/issue/web', { common_name: 'a.example.test', ip_sans: '127.0.0.1' }, token);
  expect(issued.body.errors[0]).toContain('allow-ip-sans');
});
