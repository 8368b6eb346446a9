// Approles through the API of Vault: role-ids and secret-ids, by those who set up programs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown) => appliance.request(method, `/v1/${path}`, body);
const dataOf = ({ status, body }: Answer) => {
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
};

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('vault'), configuration: { vault: { tenants: { system: {} } } } });
  await ours('POST', 'config/keystore/authentication/approles', { name: 'shop', 'token-policies': ['user'], 'secret-id-ttl': '2h' });
});
afterAll(() => appliance.close());

describe('secret-ids', () => {
  test('are made, log in, are looked up, and end', async () => {
    const { role_id } = dataOf(await ask('GET', 'auth/approle/role/shop/role-id'));
    const made = dataOf(await ask('POST', 'auth/approle/role/shop/secret-id', { ttl: '1h', num_uses: '2', metadata: '{}' }));
    expect(made).toEqual({
      secret_id: expect.any(String),
      secret_id_accessor: expect.any(String),
      secret_id_ttl: 3_600,
      secret_id_num_uses: 2,
    });
    const login = () => ask('PUT', 'auth/approle/login', { role_id, secret_id: made.secret_id }, null);
    expect((await login()).status).toBe(200);
    const accessor = { secret_id_accessor: made.secret_id_accessor };
    expect(dataOf(await ask('LIST', 'auth/approle/role/shop/secret-id')).keys).toContain(made.secret_id_accessor);
    expect(dataOf(await ask('POST', 'auth/approle/role/shop/secret-id-accessor/lookup', accessor))).toMatchObject({
      ...accessor,
      secret_id_num_uses: 1,
    });
    expect((await ask('POST', 'auth/approle/role/shop/secret-id-accessor/destroy', accessor)).status).toBe(204);
    expect((await login()).status).toBe(400);
    expect((await ask('POST', 'auth/approle/role/shop/secret-id-accessor/lookup', accessor)).status).toBe(404);
  });

  test('end by themselves, too', async () => {
    const { secret_id } = dataOf(await ask('PUT', 'auth/approle/role/shop/secret-id'));
    expect((await ask('PUT', 'auth/approle/role/shop/secret-id/destroy', { secret_id })).status).toBe(204);
    expect((await ask('PUT', 'auth/approle/role/shop/secret-id/destroy', { secret_id })).status).toBe(400);
  });

  test.each([
    ['role/none/secret-id', {}, 400],
    ['role/shop/secret-id', { ttl: '3h' }, 400],
    ['role/shop/secret-id', { cidr_list: ['everywhere'] }, 400],
    ['role/shop/secret-id', { token_bound_cidrs: '10.0.0.0/8' }, 400],
    ['role/shop/secret-id-accessor/destroy', {}, 400],
  ])('%s with %j is %i', async (path, body, status) => {
    const answer = await ask('POST', `auth/approle/${path}`, body);
    expect([answer.status, answer.body.errors]).toEqual([status, [expect.stringMatching(/\w/)]]);
  });

  test('are made only by tokens that may make them', async () => {
    const { token } = (await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '1h' })).body;
    expect((await ask('POST', 'auth/approle/role/shop/secret-id', {}, token)).status).toBe(403);
  });
});

test('capabilities are the decisions of the policies about approles, and about keys that come and go', async () => {
  const rules = ['generate-secret-id', 'secret-ids'].map((act) => ({
    path: `/v1/state/keystore/authentication/approles/shop/${act}`,
    operations: { all: 'allow' },
  }));
  const key = { path: '/v1/state/keystore/transit-keys/k/export', operations: { execute: 'allow' } };
  await ours('POST', 'config/policy/policies', { name: 'capable', 'rest-api': { rules: [...rules, key] } });
  const { token } = (await ours('POST', 'state/keystore/token/create', { policies: ['capable'], ttl: '1h' })).body;
  const wanted = {
    'auth/approle/role': ['deny'],
    'auth/approle/role/shop/secret-id': ['update', 'list'],
    'auth/approle/role/shop/secret-id/destroy': ['deny'],
    'auth/approle/role/shop/secret-id-accessor/lookup': ['update'],
    'auth/approle/role/shop/role-id': ['deny'],
    'auth/approle/role/other/secret-id': ['deny'],
    'transit/export/encryption-key/k': ['read'],
    'transit/export/encryption-key/k/1': ['read'],
    'transit/export/signing-key/j': ['deny'],
    'transit/export/k': ['deny'],
    'transit/backup/k': ['deny'],
    'transit/keys/k/import_version': ['deny'],
    'transit/keys/k/import': ['deny'],
    'transit/wrapping_key': ['deny'],
    'transit/export/public-key/k': ['deny'],
    'transit/byok-export/d/k': ['deny'],
    'auth/approle/login': ['update'],
    'auth/token/lookup-accessor': ['update'],
    'sys/wrapping/wrap': ['deny'],
    'sys/wrapping/unwrap': ['update'],
    'sys/mounts': ['read'],
  };
  expect(dataOf(await ask('POST', 'sys/capabilities-self', { paths: Object.keys(wanted) }, token))).toEqual(wanted);
  const ofRoot = {
    'transit/keys/k/import': ['update'],
    'transit/export/public-key/k/1': ['read'],
    'transit/byok-export/d/k/2': ['read'],
    'transit/byok-export/d': ['deny'],
  };
  expect(dataOf(await ask('POST', 'sys/capabilities-self', { paths: Object.keys(ofRoot) }))).toEqual(ofRoot);
});

test('approles are listed', async () => {
  expect(dataOf(await ask('LIST', 'auth/approle/role')).keys).toEqual(['shop']);
  expect((await ask('GET', 'auth/approle/role/none/role-id')).status).toBe(404);
});
