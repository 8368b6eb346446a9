// What the API of Vault tells of a token: at its login, and when it is looked up.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;

const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown, token: string = appliance.rootToken) =>
  appliance.request(method, `/v1/${path}`, body, { token });

const tenants = { system: {}, 'knows-nothing': {}, 'knows-its-policies': {}, 'knows-everything': {} };
beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('vault'), configuration: { vault: { tenants } } });
});
afterAll(() => appliance.close());

/** Path and protocol of what the trail has of a user. */
function recordsOf(user: string): readonly string[] {
  return readdirSync(at('vault/audit'))
    .flatMap((name) => readFileSync(at('vault/audit', name), 'utf8').split('\n'))
    .filter((line) => line.includes(`"user":"${user}"`))
    .map((line) => JSON.parse(line) as { readonly path: string; readonly via: string })
    .map(({ path, via }) => `${path} ${via}`);
}

const info = '/v1/state/keystore/token/info';
test.each([
  ['nothing', []],
  ['its policies', [{ path: info, operations: { execute: 'allow' }, 'hide-fields': ['policies'] }]],
  ['everything', [{ path: info, operations: { execute: 'reject' } }]],
] as const)(
  'a login is one request, and tells what the token may ask itself, where the policies of its tenant hide %s',
  async (hidden, rules) => {
    const name = `knows-${hidden.replace(' ', '-')}`;
    const all = { path: '/v1/**', operations: { all: 'allow' } };
    await ours('POST', 'config/policy/policies', { name, 'rest-api': { rules: [all, ...rules] } });
    await ours('POST', 'config/tenants', { name, policies: [name] });
    const root = (await ours('POST', 'state/keystore/token/create-root', { name })).body.token;
    const ranges = { 'token-bound-cidrs': ['127.0.0.0/8', '::1/128'] };
    await ours('POST', 'config/keystore/authentication/approles', { name, 'token-policies': ['user'], ...ranges }, root);
    const { body: role } = await ours('GET', `state/keystore/authentication/approles/${name}`, undefined, root);
    const { body: secret } = await ours('POST', `state/keystore/authentication/approles/${name}/generate-secret-id`, {}, root);
    const { status, body } = await ask('PUT', 'auth/approle/login', { role_id: role['role-id'], secret_id: secret['secret-id'] }, null);
    const { client_token: token, ...told } = body.auth;
    expect(recordsOf(name)).toEqual(['/v1/approle-login vault']);
    const known = (await ours('POST', 'state/keystore/token/info', {}, token)).body;
    expect([status, told]).toEqual([
      200,
      {
        ...{ accessor: known.accessor, policies: known.policies, token_policies: known.policies },
        ...{ metadata: { role_name: known.user }, lease_duration: 86_400, renewable: true, orphan: true },
        ...{ entity_id: '', token_type: 'service', mfa_requirement: null, num_uses: 0 },
      },
    ]);
  },
);

test('a token with a period shows it, by every lookup', async () => {
  const { token, accessor } = (await ours('POST', 'state/keystore/token/create', { policies: ['user'], period: '25h' })).body;
  const shown = { period: 90_000, creation_ttl: 90_000, renewable: true };
  expect((await ask('GET', 'auth/token/lookup-self', undefined, token)).body.data).toMatchObject(shown);
  expect((await ask('PUT', 'auth/token/lookup-accessor', { accessor })).body.data).toMatchObject(shown);
  const { body: other } = await ours('POST', 'state/keystore/token/create', { policies: ['user'], ttl: '25h' });
  expect((await ask('GET', 'auth/token/lookup-self', undefined, other.token)).body.data).not.toHaveProperty('period');
});
