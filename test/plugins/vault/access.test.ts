// Who may use the API of Vault, and for what: exactly what the same token may do at our own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
let acme: string;
let other: string;

const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown, token: string = appliance.rootToken) =>
  appliance.request(method, `/v1/${path}`, body, { token });

async function makeTenant(name: string): Promise<string> {
  await ours('POST', 'config/tenants', { name });
  return (await ours('POST', 'state/keystore/token/create-root', { name })).body.token;
}

async function tokenWith(name: string, rules: readonly object[], root: string): Promise<string> {
  expect((await ours('POST', 'config/policy/policies', { name, 'rest-api': { rules } }, root)).status).toBe(201);
  const { body } = await ours('POST', 'state/keystore/token/create', { policies: [name], ttl: '1h' }, root);
  expect(body.token).toMatch(/^[0-9a-f-]{36}$/);
  return body.token;
}

beforeAll(async () => {
  appliance = await startTestAppliance({
    directory: at('vault'),
    configuration: {
      vault: { tenants: { system: {}, acme: { upsert: true, strictContext: true } }, transitMounts: ['transit', 'team/keys'] },
    },
  });
  [acme, other] = [await makeTenant('acme'), await makeTenant('other')];
});
afterAll(() => appliance.close());

describe('tenants', () => {
  test('one without this API gets what an unknown path gets, one with it its own keys', async () => {
    const { status } = await ask('GET', 'transit/keys/k', undefined, other);
    expect(status).toBe(404);
    expect((await ask('PUT', 'transit/keys/k', {}, other)).status).toBe(400);
    expect((await ask('PUT', 'transit/keys/k', {}, acme)).status).toBe(200);
    expect((await ours('GET', 'config/keystore/transit-keys/k', undefined, acme)).status).toBe(200);
    expect((await ours('GET', 'config/keystore/transit-keys/k')).status).toBe(404);
  });

  test.each([
    ['', 200],
    ['/', 200],
    ['root', 200],
    ['acme', 200],
    ['acme/', 200],
    ['/acme', 200],
    ['system', 403],
    ['other', 403],
    ['no-such', 403],
    ['acme/child', 403],
    ['ACME', 403],
  ])('the namespace "%s" is answered %i', async (namespace, status) => {
    const answer = await ask('GET', 'transit/keys/k', undefined, acme, { 'x-vault-namespace': namespace });
    expect(answer.status).toBe(status);
  });

  test('without a token everything but the state of the service is 403', async () => {
    for (const path of ['transit/keys/k', 'auth/token/lookup-self', 'sys/mounts', 'sys/auth'])
      expect((await ask('GET', path, undefined, null)).status).toBe(403);
    expect((await ask('GET', 'transit/keys/k', undefined, 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6')).body).toEqual({
      errors: ['permission denied'],
    });
    for (const path of ['sys/health', 'sys/seal-status', 'sys/leader', 'sys/init'])
      expect((await ask('GET', path, undefined, null)).status).toBe(200);
  });

  test('a mount of several segments has the same keys', async () => {
    expect((await ask('GET', 'team/keys/keys/k', undefined, acme)).status).toBe(200);
  });
});

describe('upsert', () => {
  test('makes a key where tenant and token allow it, and is on record as a creation', async () => {
    const { status, body } = await ask('PUT', 'transit/encrypt/made-so', { plaintext: 'eA==' }, acme);
    expect([status, body.data.ciphertext.slice(0, 9)]).toEqual([200, 'vault:v1:']);
    expect((await ours('GET', 'config/keystore/transit-keys/made-so', undefined, acme)).status).toBe(200);
  });

  test('is off unless the tenant has it', async () => {
    const { status } = await ask('PUT', 'transit/encrypt/not-made', { plaintext: 'eA==' });
    expect(status).toBe(400);
    expect((await ours('GET', 'config/keystore/transit-keys/not-made')).status).toBe(404);
  });

  test('needs the right to create', async () => {
    const token = await tokenWith(
      'encrypts',
      [{ path: '/v1/state/keystore/transit-keys/*/encrypt', operations: { execute: 'allow' } }],
      acme,
    );
    const { status } = await ask('PUT', 'transit/encrypt/not-mine', { plaintext: 'eA==' }, token);
    expect(status).toBe(403);
    expect((await ours('GET', 'config/keystore/transit-keys/not-mine', undefined, acme)).status).toBe(404);
  });

  test('makes a derived key where a context is given, for one or in a batch: nobody believes it authenticated who is wrong', async () => {
    const [plaintext, context, other] = ['eA==', 'Y3R4', 'b3RoZXI='];
    const { body } = await ask('PUT', 'transit/encrypt/made-derived', { plaintext, context }, acme);
    const { body: key } = await ours('GET', 'config/keystore/transit-keys/made-derived', undefined, acme);
    expect([key.derived, body.warnings ?? null]).toEqual([true, null]);
    const decrypt = (more: object) => ask('PUT', 'transit/decrypt/made-derived', { ciphertext: body.data.ciphertext, ...more }, acme);
    expect((await decrypt({ context })).body.data.plaintext).toBe(plaintext);
    expect([(await decrypt({ context: other })).status, (await decrypt({})).status]).toEqual([400, 400]);
    const batch = [context, other].map((one) => ({ plaintext, context: one }));
    const made = await ask('PUT', 'transit/encrypt/made-convergent', { batch_input: batch, convergent_encryption: true }, acme);
    expect(made.body.data.batch_results.map((one: object) => Object.keys(one).sort())).toEqual(
      batch.map(() => ['ciphertext', 'key_version', 'reference']),
    );
    const convergent = (await ours('GET', 'config/keystore/transit-keys/made-convergent', undefined, acme)).body;
    expect([convergent.derived, convergent['convergent-encryption']]).toEqual([true, true]);
  });

  test('takes a first body of any size', async () => {
    const plaintext = Buffer.alloc(600 * 1024).toString('base64');
    const { status, body } = await ask('PUT', 'transit/encrypt/made-large', { plaintext }, acme);
    expect([status, body.errors]).toEqual([200, undefined]);
  });

  test.each([
    [{ derived: true }, 'missing context'],
    [{ derived: true, batch_input: [{ plaintext: 'eA==' }] }, 'missing context'],
    [{ derived: false, context: 'eA==' }, 'not derived'],
    [{ batch_input: [{ plaintext: 'eA==', context: 'eA==' }, { plaintext: 'eA==' }] }, 'all items of the batch'],
    [{ convergent_encryption: true }, 'derived'],
    [{ context: '?' }, 'base64'],
    [{ type: 'ed25519' }, 'does not encrypt'],
    [{ key_version: 2 }, 'version 1'],
    [{ plaintext: '?' }, 'base64'],
  ])('leaves no key behind for %j', async (more, words) => {
    const { status, body } = await ask('PUT', 'transit/encrypt/left-behind', { plaintext: 'eA==', ...more }, acme);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(words)]);
    expect((await ours('GET', 'config/keystore/transit-keys/left-behind', undefined, acme)).status).toBe(404);
  });

  test('leaves no key behind where rules do not allow the values of the encryption', async () => {
    const token = await tokenWith(
      'limited',
      [
        { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } },
        { path: '/v1/state/keystore/transit-keys/*/encrypt', operations: { execute: 'allow' }, 'allowed-values': { 'key-version': [1] } },
      ],
      acme,
    );
    const encrypt = (more: object) => ask('PUT', 'transit/encrypt/limited', { plaintext: 'eA==', ...more }, token);
    const state = async () => (await ours('GET', 'config/keystore/transit-keys/limited', undefined, acme)).status;
    expect([(await encrypt({})).status, await state()]).toEqual([403, 404]);
    expect([(await encrypt({ key_version: 1 })).status, await state()]).toEqual([200, 200]);
  });

  test('a tenant may refuse a context that nothing authenticates', async () => {
    const { status, body } = await ask('PUT', 'transit/encrypt/made-so', { plaintext: 'eA==', context: 'eA==' }, acme);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('not derived')]);
  });
});

describe('approles and tokens', () => {
  test('a login, what the token knows of itself, renewal, end', async () => {
    await ours('POST', 'config/keystore/authentication/approles', { name: 'shop', 'token-policies': ['user'] }, acme);
    const { body: role } = await ours('GET', 'state/keystore/authentication/approles/shop', undefined, acme);
    const { body: secret } = await ours('POST', 'state/keystore/authentication/approles/shop/generate-secret-id', {}, acme);
    const login = await ask('PUT', 'auth/approle/login', { role_id: role['role-id'], secret_id: secret['secret-id'] }, null);
    expect(login.body.auth).toMatchObject({
      metadata: { role_name: 'shop' },
      renewable: true,
      token_type: 'service',
      policies: ['user'],
    });
    const { client_token: token, lease_duration: seconds } = login.body.auth;
    expect(Number.isInteger(seconds)).toBe(true);
    const self = await ask('GET', 'auth/token/lookup-self', undefined, token);
    expect(self.body.data).toMatchObject({ id: token, accessor: login.body.auth.accessor, display_name: 'shop', renewable: true });
    expect(self.body.data.ttl).toBeGreaterThan(0);
    const renewed = await ask('PUT', 'auth/token/renew-self', { increment: '30m' }, token);
    expect(renewed.body.auth).toMatchObject({ client_token: token, renewable: true });
    expect((await ask('PUT', 'auth/token/revoke-self', {}, token)).status).toBe(204);
    expect((await ask('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
  });

  test('a token with a number of uses tells how many are left', async () => {
    const { body } = await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h', uses: 5 }, acme);
    expect((await ask('GET', 'auth/token/lookup-self', undefined, body.token)).body.data.num_uses).toBe(4);
    expect((await ask('PUT', 'auth/token/renew-self', {}, body.token)).body.auth.num_uses).toBe(3);
    const { body: free } = await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h' }, acme);
    expect((await ask('GET', 'auth/token/lookup-self', undefined, free.token)).body.data.num_uses).toBe(0);
  });

  test('wrong credentials are 400, and a login of a tenant without this API leaves no token', async () => {
    expect((await ask('PUT', 'auth/approle/login', { role_id: 'x', secret_id: 'y' }, null)).body).toEqual({
      errors: ['invalid role or secret ID'],
    });
    await ours('POST', 'config/keystore/authentication/approles', { name: 'foreign', 'token-policies': ['user'] }, other);
    const { body: role } = await ours('GET', 'state/keystore/authentication/approles/foreign', undefined, other);
    const { body: secret } = await ours('POST', 'state/keystore/authentication/approles/foreign/generate-secret-id', {}, other);
    const login = await ask('PUT', 'auth/approle/login', { role_id: role['role-id'], secret_id: secret['secret-id'] }, null);
    expect([login.status, login.body]).toEqual([400, { errors: ['invalid role or secret ID'] }]);
    const { body: tokens } = await ours('GET', 'state/keystore/tokens?count=true', undefined, other);
    expect(JSON.stringify(tokens)).not.toContain('foreign');
  });

  test.each(['1'.repeat(80_000), `${'1'.repeat(80_000)}x`, '1h1h', '1s1h', 'h', ' 1h', '99999999999'])(
    'an increment of "%.20s" is refused',
    async (increment) => {
      const { body } = await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h' }, acme);
      const { status, body: refused } = await ask('PUT', 'auth/token/renew-self', { increment }, body.token);
      expect([status, refused.errors[0]]).toEqual([400, expect.stringContaining('increment')]);
    },
  );

  test.each([
    ['acme', 200],
    ['root', 200],
    ['system', 403],
    ['no-such', 403],
  ])('a login into the namespace "%s" is answered %i', async (namespace, status) => {
    const name = `in-${namespace}`;
    await ours('POST', 'config/keystore/authentication/approles', { name, 'token-policies': ['user'] }, acme);
    const { body: role } = await ours('GET', `state/keystore/authentication/approles/${name}`, undefined, acme);
    const { body: secret } = await ours('POST', `state/keystore/authentication/approles/${name}/generate-secret-id`, {}, acme);
    const credentials = { role_id: role['role-id'], secret_id: secret['secret-id'] };
    const login = await ask('PUT', 'auth/approle/login', credentials, null, { 'x-vault-namespace': namespace });
    expect(login.status, JSON.stringify(login.body)).toBe(status);
    const { body: tokens } = await ours('GET', 'state/keystore/tokens', undefined, acme);
    expect(JSON.stringify(tokens).includes(name)).toBe(status === 200);
  });

  test('what policies hide of another token is left out, and no default stands for it', async () => {
    const hidden = ['expires', 'latest-expires', 'parent', 'policies', 'user', 'creation-time'];
    const token = await tokenWith(
      'veiled',
      [{ path: '/v1/state/keystore/tokens/*', operations: { read: 'allow' }, 'hide-fields': hidden }],
      acme,
    );
    const { accessor } = (await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h' }, acme)).body;
    const { status, body } = await ask('POST', 'auth/token/lookup-accessor', { accessor }, token);
    expect([status, body.data.accessor, body.data.meta]).toEqual([200, accessor, {}]);
    const told = ['ttl', 'creation_ttl', 'explicit_max_ttl', 'expire_time', 'issue_time', 'creation_time', 'renewable', 'orphan'];
    for (const name of [...told, 'policies', 'display_name']) expect(body.data).not.toHaveProperty(name);
    const seen = (await ask('POST', 'auth/token/lookup-accessor', { accessor }, acme)).body.data;
    for (const name of told) expect(seen).toHaveProperty(name);
  });

  test('a root token does not end and is not renewed', async () => {
    expect((await ask('GET', 'auth/token/lookup-self')).body.data).toMatchObject({ ttl: 0, expire_time: null, renewable: false });
    expect((await ask('PUT', 'auth/token/renew-self', { increment: 0 })).status).toBe(400);
  });
});

describe('capabilities', () => {
  test('are the decisions of the policies', async () => {
    const token = await tokenWith(
      'some',
      [
        { path: '/v1/state/keystore/transit-keys/k/encrypt', operations: { execute: 'allow' } },
        { path: '/v1/state/keystore/transit-keys/k', operations: { read: 'allow' } },
        { path: '/v1/state/policy/check', operations: { execute: 'allow' } },
      ],
      acme,
    );
    const paths = ['transit/encrypt/k', 'transit/decrypt/k', '/v1/transit/keys/k', 'transit/keys/', 'nothing/at/all', 'transit/../sys'];
    const { body } = await ask('POST', 'sys/capabilities-self', { paths }, token);
    const wanted = {
      ...{ 'transit/encrypt/k': ['update'], 'transit/decrypt/k': ['deny'], '/v1/transit/keys/k': ['read'] },
      ...{ 'transit/keys/': ['deny'], 'nothing/at/all': ['deny'], 'transit/../sys': ['deny'] },
    };
    expect(body.data).toEqual(wanted);
    expect(body).toMatchObject(wanted);
    const one = await ask('PUT', 'sys/capabilities-self', { path: 'transit/encrypt/k', token }, token);
    expect(one.body.capabilities).toEqual(['update']);
  });

  test('a name that rules refuse cannot be created, and what is no name is denied alone', async () => {
    const token = await tokenWith(
      'creates-some',
      [
        { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } },
        { path: '/v1/config/keystore/transit-keys/payroll', operations: { all: 'reject' } },
        { path: '/v1/config/keystore/transit-keys/once', operations: { create: 'allow', update: 'reject' } },
        { path: '/v1/state/policy/check', operations: { execute: 'allow' } },
      ],
      acme,
    );
    const paths = [
      'transit/keys/payroll',
      'transit/keys/mine',
      'transit/keys/once',
      'transit/keys/..',
      'transit/encrypt/..',
      'transit/datakey/plaintext/.',
    ];
    const { status, body } = await ask('POST', 'sys/capabilities-self', { paths }, token);
    const deny = Object.fromEntries(paths.map((path) => [path, ['deny']]));
    expect([status, body.data]).toEqual([200, { ...deny, 'transit/keys/mine': ['create'], 'transit/keys/once': ['create'] }]);
    expect((await ask('PUT', 'transit/keys/once', {}, token)).status).toBe(204);
    expect((await ask('PUT', 'transit/keys/payroll', {}, token)).status).toBe(403);
  });

  test('encrypt creates where it makes keys, the token may create that one, and may encrypt', async () => {
    const may = (path: string, operation: string) => ({ path: `/v1/${path}`, operations: { [operation]: 'allow' } });
    const token = await tokenWith(
      'upserts',
      [
        ...['new', 'refused'].map((name) => may(`state/keystore/transit-keys/${name}/encrypt`, 'execute')),
        may('config/keystore/transit-keys', 'create'),
        { path: '/v1/config/keystore/transit-keys/refused', operations: { create: 'reject' } },
        may('state/policy/check', 'execute'),
      ],
      acme,
    );
    const paths = ['new', 'refused', 'not-encrypted'].map((name) => `transit/encrypt/${name}`);
    const { body } = await ask('POST', 'sys/capabilities-self', { paths }, token);
    expect(paths.map((path) => body.data[path])).toEqual([['update', 'create'], ['update'], ['deny']]);
    for (const [index, status] of [200, 403, 403].entries())
      expect((await ask('PUT', paths[index] ?? '', { plaintext: 'eA==' }, token)).status).toBe(status);
    const system = await ask('POST', 'sys/capabilities-self', { path: 'transit/encrypt/new' });
    expect(system.body.capabilities).toEqual(['update']);
  });

  test('the policy check names the path that one of this API stands for', async () => {
    const { body } = await ours('POST', 'state/policy/check', { path: '/v1/transit/encrypt/k', operation: 'execute' }, acme);
    expect(body).toMatchObject({ allowed: false, exists: false });
    expect(body.why).toContain('POST /v1/state/keystore/transit-keys/{name}/encrypt');
  });
});

describe('fields that policies hide', () => {
  const key = 'transit/keys/hiding';
  let hidden: string;
  let ciphertext: string;
  let signature: string;
  beforeAll(async () => {
    const hide = ['ciphertext', 'plaintext', 'signature', 'hmac', 'valid', 'bytes', 'exportable', 'latest-version', 'code'];
    const nested = hide.map((field) => `batch-results/${field}`);
    await ask('PUT', key, {});
    await ask('PUT', `${key}-signs`, { type: 'ed25519' });
    ciphertext = (await ask('PUT', 'transit/encrypt/hiding', { plaintext: 'eA==' })).body.data.ciphertext;
    signature = (await ask('PUT', 'transit/sign/hiding-signs', { input: 'eA==' })).body.data.signature;
    const rule = { path: '/v1/**', operations: { all: 'allow' }, 'hide-fields': [...hide, ...nested] };
    hidden = await tokenWith('hides', [rule], appliance.rootToken);
  });

  test.each([
    ['encrypt/hiding', () => ({ plaintext: 'eA==' }), 'ciphertext'],
    ['decrypt/hiding', () => ({ ciphertext }), 'plaintext'],
    ['rewrap/hiding', () => ({ ciphertext }), 'ciphertext'],
    ['hmac/hiding', () => ({ input: 'eA==' }), 'hmac'],
    ['sign/hiding-signs', () => ({ input: 'eA==' }), 'signature'],
    ['verify/hiding-signs', () => ({ input: 'eA==', signature }), 'valid'],
    ['random/8', () => ({}), 'random_bytes'],
  ])('%s leaves them out and says nothing else', async (path, body, field) => {
    const answer = await ask('PUT', `transit/${path}`, body(), hidden);
    expect([answer.status, answer.body.data?.[field]]).toEqual([200, undefined]);
    if (path.startsWith('random')) return;
    const batch = await ask('PUT', `transit/${path}`, { batch_input: [body()] }, hidden);
    expect([batch.status, batch.body.data.batch_results[0][field]]).toEqual([200, undefined]);
  });

  test('an item of a batch that fails is a failed one whatever is hidden', async () => {
    const batch = await ask('PUT', 'transit/decrypt/hiding', { batch_input: [{ ciphertext: 'vault:v1:eA==' }] }, hidden);
    expect([batch.status, batch.body.data.batch_results[0].error]).toEqual([400, expect.any(String)]);
  });

  test('a key is shown without them', async () => {
    const { body } = await ask('GET', key, undefined, hidden);
    expect(body.data).toMatchObject({ name: 'hiding', derived: false });
    expect(Object.keys(body.data)).not.toEqual(expect.arrayContaining(['exportable']));
    expect(Object.keys(body.data)).not.toEqual(expect.arrayContaining(['latest_version']));
  });
});

describe('the service itself', () => {
  test('is up, unsealed, and says where things are', async () => {
    expect((await ask('GET', 'sys/health?activecode=299', undefined, null)).status).toBe(299);
    expect((await ask('GET', 'sys/health?activecode=204', undefined, null)).status).toBe(200);
    expect((await ask('HEAD', 'sys/health', undefined, null)).status).toBe(200);
    expect((await ask('GET', 'sys/seal-status', undefined, null)).body).toMatchObject({
      sealed: false,
      t: 1,
      n: 1,
      progress: 0,
      initialized: true,
    });
    const mounts = await ask('GET', 'sys/mounts');
    expect([mounts.body['transit/'].type, mounts.body.data['team/keys/'].type]).toEqual(['transit', 'transit']);
    expect((await ask('GET', 'sys/internal/ui/mounts/transit/keys/k')).body.data).toMatchObject({ type: 'transit', path: 'transit/' });
  });
});
