// Wrapped answers through the API of Vault: what comes out is what would have been answered, and a wrapped request is never answered in clear.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown, token?: string | null) =>
  appliance.request(method, `/v1/${path}`, body, token === undefined ? {} : { token });
const wrapFor = (ttl: string) => ({ 'x-vault-wrap-ttl': ttl });
const approles = 'config/keystore/authentication/approles';

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('vault'), configuration: { vault: { tenants: { system: {} } } } });
  const wraps = { path: '/v1/state/keystore/hand-over/create', operations: { execute: 'allow' } };
  await ours('POST', 'config/policy/policies', { name: 'wraps', 'rest-api': { rules: [wraps] } });
  for (const [name, policies] of Object.entries({ shop: ['user'], narrow: ['rewrap-only'], wraps: ['wraps'] }))
    await ours('POST', approles, { name, 'token-policies': policies });
  await ask('PUT', 'transit/keys/k');
});
afterAll(() => appliance.close());

const infoOf = ({ status, body }: Answer): { token: string; accessor: string; [field: string]: unknown } => {
  expect([status, body.errors, body.data, body.auth]).toEqual([200, undefined, null, null]);
  return body.wrap_info;
};
const unwrap = (token: string, headers = {}) => ask('PUT', 'sys/wrapping/unwrap', undefined, token, headers);

describe('a secret-id', () => {
  test('comes out once, and logs in', async () => {
    const wrapped = await ask('POST', 'auth/approle/role/shop/secret-id', { num_uses: 1 }, undefined, wrapFor('2m'));
    const info = infoOf(wrapped);
    expect(info).toEqual({
      ...{ token: expect.any(String), accessor: expect.any(String), ttl: 120, creation_time: expect.any(String) },
      ...{ creation_path: 'auth/approle/role/shop/secret-id', wrapped_accessor: expect.any(String) },
    });
    const { status, body } = await unwrap(info.token);
    expect([status, body.data.secret_id_accessor, body.wrap_info]).toEqual([200, info['wrapped_accessor'], null]);
    const { role_id } = (await ask('GET', 'auth/approle/role/shop/role-id')).body.data;
    expect((await ask('PUT', 'auth/approle/login', { role_id, secret_id: body.data.secret_id }, null)).status).toBe(200);
    const again = await unwrap(info.token);
    expect([again.status, again.body.errors[0]]).toEqual([
      400,
      expect.stringMatching(/not valid or does not exist: This was opened at .* from /),
    ]);
  });

  test.each(['soon', '-1', '8d', '1.5h'])('for %s is not made', async (ttl) => {
    const before = (await ours('GET', 'state/keystore/authentication/approles/shop')).body['secret-ids'];
    const refused = await ask('POST', 'auth/approle/role/shop/secret-id', {}, undefined, wrapFor(ttl));
    expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringContaining('X-Vault-Wrap-TTL')]);
    expect((await ours('GET', 'state/keystore/authentication/approles/shop')).body['secret-ids']).toBe(before);
  });

  test.each(['', '0', '0s'])('for "%s" is not to be wrapped', async (ttl) => {
    const { status, body } = await ask('GET', 'auth/token/lookup-self', undefined, undefined, wrapFor(ttl));
    expect([status, body.wrap_info]).toEqual([200, null]);
  });
});

async function logIn(approle: string, headers = {}): Promise<Answer> {
  const { role_id } = (await ask('GET', `auth/approle/role/${approle}/role-id`)).body.data;
  const { secret_id } = (await ask('POST', `auth/approle/role/${approle}/secret-id`)).body.data;
  return ask('PUT', 'auth/approle/login', { role_id, secret_id }, null, headers);
}

test('what our own API hands over is never taken for an answer of another route, whatever its maker says', async () => {
  const forged = { request_id: 'x', wrap_info: null, auth: { client_token: 'y' }, data: { secret_id: 'z' } };
  const document = { text: JSON.stringify(forged), purpose: 'auth/approle/role/shop/secret-id' };
  const { token } = (await ours('POST', 'state/keystore/hand-over/create', document)).body as { token: string };
  const seen = await ask('PUT', 'sys/wrapping/lookup', { token }, null);
  expect(seen.body.data.creation_path).toBe('sys/wrapping/wrap');
  const renewed = infoOf(await ask('PUT', 'sys/wrapping/rewrap', { token }, null));
  expect(renewed['creation_path']).toBe('sys/wrapping/wrap');
  const former = await unwrap(token);
  expect([former.status, former.body.errors[0]]).toEqual([
    400,
    expect.stringMatching(/not valid or does not exist: Another token was asked for/),
  ]);
  const { body } = await unwrap(renewed.token);
  expect([body.auth, body.data]).toEqual([null, forged]);
});

describe('a login', () => {
  test('is wrapped by its own token', async () => {
    const info = infoOf(await logIn('wraps', wrapFor('60')));
    const { auth } = (await unwrap(info.token)).body;
    expect([auth.accessor, auth.metadata]).toEqual([info['wrapped_accessor'], { role_name: 'wraps' }]);
    expect((await ask('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(200);
  });

  test('of an approle that may not hand over gives nothing, and its token ends', async () => {
    const count = async () => (await ours('GET', 'state/keystore/tokens?count=true')).body.count;
    const before = await count();
    const refused = await logIn('narrow', wrapFor('60'));
    expect([refused.status, refused.body.errors[0], refused.body.auth]).toEqual([
      403,
      expect.stringContaining('What was made has ended'),
      undefined,
    ]);
    expect(await count()).toBe(before);
  });
});

describe('other requests', () => {
  test('are wrapped, with what they warn of; those with nothing to tell, and refusals, stay as they are', async () => {
    const made = infoOf(await ask('PUT', 'transit/encrypt/k', { plaintext: 'eA==', nonce: 'x' }, undefined, wrapFor('1m0s')));
    expect((await unwrap(made.token)).body).toMatchObject({
      data: { ciphertext: expect.stringMatching(/^vault:v1:/) },
      warnings: [expect.any(String)],
    });
    expect((await ask('PUT', 'transit/encrypt/none', { plaintext: 'eA==' }, undefined, wrapFor('60'))).body.errors[0]).toContain(
      'not found',
    );
    const { token } = (await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h' })).body;
    expect((await ask('POST', 'auth/token/revoke-self', {}, token, wrapFor('60'))).status).toBe(204);
  });

  test('without the right to hand over are refused before anything is done', async () => {
    const rule = { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } };
    await ours('POST', 'config/policy/policies', { name: 'makes', 'rest-api': { rules: [rule] } });
    const { token } = (await ours('POST', 'state/keystore/token/create', { policies: ['makes'], ttl: '1h' })).body;
    expect((await ask('PUT', 'transit/keys/unmade', {}, token, wrapFor('60'))).status).toBe(403);
    expect((await ask('GET', 'transit/keys/unmade')).status).toBe(404);
  });

  test('that succeed in part show nothing', async () => {
    const { ciphertext } = (await ask('PUT', 'transit/encrypt/k', { plaintext: 'eA==' })).body.data;
    const batch = { batch_input: [{ ciphertext }, { ciphertext: 'vault:v1:eA==' }] };
    const refused = await ask('PUT', 'transit/decrypt/k', batch, undefined, wrapFor('60'));
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.not.stringContaining('eA==')]);
  });

  test('whose answer is too large say that it is lost', async () => {
    const batch = { batch_input: Array.from({ length: 900 }, () => ({ plaintext: 'eA==' })) };
    const refused = await ask('PUT', 'transit/encrypt/k', batch, undefined, wrapFor('60'));
    expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringContaining('its answer is lost')]);
  });

  test('whose answer is for everyone are not wrapped', async () => {
    const { status, body } = await ask('GET', 'sys/health', undefined, null, wrapFor('60'));
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('for everyone')]);
  });
});

describe('sys/wrapping', () => {
  test('wraps any document, looks at it, gives it another token, and opens it', async () => {
    const document = { a: 1, b: { c: ['d', null] } };
    const first = infoOf(await ask('POST', 'sys/wrapping/wrap', document, undefined, wrapFor('5m')));
    const seen = await ask('POST', 'sys/wrapping/lookup', { token: first.token }, null);
    expect(seen.body.data).toEqual({ creation_path: 'sys/wrapping/wrap', creation_time: first['creation_time'], creation_ttl: 300 });
    const second = infoOf(await ask('PUT', 'sys/wrapping/rewrap', { token: first.token }, null));
    expect(second).toMatchObject({ creation_path: 'sys/wrapping/wrap', ttl: 300 });
    for (const action of ['unwrap', 'lookup', 'rewrap'])
      expect((await ask('POST', `sys/wrapping/${action}`, { token: first.token })).status).toBe(400);
    expect((await ask('POST', 'sys/wrapping/unwrap', { token: second.token })).body.data).toEqual(document);
  });

  test('asks for a time, and for a token', async () => {
    expect((await ask('POST', 'sys/wrapping/wrap', { a: 1 })).body.errors[0]).toContain('requires response wrapping');
    expect((await ask('POST', 'sys/wrapping/unwrap', {}, null)).body.errors[0]).toContain('missing token');
    const { token } = infoOf(await ask('POST', 'sys/wrapping/wrap', { a: 1 }, undefined, wrapFor('60')));
    expect((await unwrap(token, wrapFor('60'))).status).toBe(400);
    expect((await unwrap(token)).status).toBe(200);
  });

  test('opens what was handed over at our API, and the other way', async () => {
    const made = await ours('POST', 'state/keystore/authentication/approles/shop/hand-over-secret-id', {});
    expect((await unwrap(String(made.body.token))).body.data).toEqual({ 'secret-id': expect.any(String), accessor: made.body.accessor });
    const { token } = infoOf(await ask('POST', 'sys/wrapping/wrap', { a: 1 }, undefined, wrapFor('60')));
    const opened = await ours('POST', 'state/keystore/hand-over/open', { token }, null);
    expect(JSON.parse(String(opened.body.text))).toMatchObject({ data: { a: 1 } });
  });
});
