// A common mistake: a caller who may not create tokens makes a provider, a role or a login that gives one, longer, from anywhere, and under the
// name of somebody else.
import { beforeAll, expect, test } from 'vitest';
import { judgedSegments } from '../../../core/http/judged-path.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let token: string;
const approles = '/v1/config/keystore/authentication/approles';
const oidc = '/v1/config/keystore/authentication/oidc';
const service = {
  'discovery-url': 'https://idp.example/.well-known/openid-configuration',
  'client-id': 'c',
  'client-secret': 's',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
};

beforeAll(async () => {
  victim = await startVictim();
  token = await victim.makeToken(['user']);
  await victim.request('POST', oidc, { name: 'idp', ...service });
  await victim.request('POST', `${oidc}/idp/roles`, { name: 'staff', 'token-policies': ['user'] });
  await victim.request('POST', approles, { name: 'job', 'token-policies': ['user'] });
});

test('the policy `user` changes nothing that makes tokens: neither providers, roles and approles, nor their secret-ids', async () => {
  const changes: readonly (readonly [string, string, unknown])[] = [
    ['POST', oidc, { name: 'own', ...service }],
    ['PATCH', `${oidc}/idp`, { 'session-ttl': '30d' }],
    ['PUT', `${oidc}/idp`, service],
    ['DELETE', `${oidc}/idp`, undefined],
    ['POST', `${oidc}/idp/roles`, { name: 'everybody', 'token-policies': ['user'] }],
    ['PATCH', `${oidc}/idp/roles/staff`, { 'claim-mappings': { nickname: 'username' } }],
    ['DELETE', `${oidc}/idp/roles/staff`, undefined],
    ['POST', approles, { name: 'own', 'token-policies': ['user'] }],
    ['PATCH', `${approles}/job`, { 'token-ttl': '30d' }],
    ['DELETE', `${approles}/job`, undefined],
    ['POST', `${approles.replace('config', 'state')}/job/generate-secret-id`, {}],
    ['POST', `${approles.replace('config', 'state')}/job/disable-secret-id`, { accessor: 'a' }],
  ];
  for (const [method, path, body] of changes)
    expect([method, path, await victim.verdict(method, path, body, { token })]).toEqual([method, path, '403 policy-denied']);
  for (const path of [oidc, `${oidc}/idp`, `${oidc}/idp/roles`, approles, `${approles}/job`, `${approles.replace('config', 'state')}/job`])
    expect([path, await victim.verdict('GET', path, undefined, { token })]).toEqual([path, '200 done']);
});

test('and so does every further operation of the API that changes how somebody logs in', async () => {
  const changing = victim.app.routes.filter(
    (endpoint) => endpoint.access === 'token' && endpoint.operation !== 'read' && endpoint.path.includes('/keystore/authentication/'),
  );
  expect(changing.length).toBeGreaterThan(10);
  for (const endpoint of changing) {
    if (endpoint.access !== 'token') continue;
    const path = `/${judgedSegments(endpoint, endpoint.path.slice(1).split('/'))
      .join('/')
      .replaceAll(/\{[^}]+\}/g, 'x')}`;
    const question = { path, operation: endpoint.operation, policies: ['user'] };
    const { allowed } = (await victim.request('POST', '/v1/state/policy/check', question)).body as { allowed: boolean };
    // These ask a provider or a claim, and change nothing.
    expect([path, allowed]).toEqual([path, /\/(?:jwt|oidc|certificate\/roles)\/x\/(?:explain|test)$/.test(path)]);
  }
});

test('no approle is made under the name `root`', async () => {
  const refused = { status: 400, body: { code: 'invalid-value' } };
  expect(await victim.request('POST', approles, { name: 'root', 'token-policies': ['user'] })).toMatchObject(refused);
  expect(await victim.request('PUT', `${approles}/root`, { 'token-policies': ['user'] })).toMatchObject(refused);
});

test('the trail says beside every name where it comes from, of children and failed logins too', async () => {
  const { 'role-id': roleId } = (await victim.request('GET', `${approles.replace('config', 'state')}/job`)).body;
  const state = `${approles.replace('config', 'state')}/job`;
  const { 'secret-id': secretId } = (await victim.request('POST', `${state}/generate-secret-id`, {})).body;
  const login = await victim.request('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId }, { token: undefined });
  await victim.request('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': 'wrong' }, { token: undefined });
  await victim.makePolicy('parent', [{ path: '/v1/state/keystore/token/create', operations: { execute: 'allow' } }]);
  await victim.request('PATCH', `${approles}/job`, { 'token-policies': ['parent'] });
  const parent = String(
    (await victim.request('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId }, { token: undefined })).body.token,
  );
  const child = await victim.makeToken(['parent'], parent);
  for (const one of [String(login.body.token), child, token, victim.rootToken])
    await victim.request('POST', '/v1/state/keystore/token/info', {}, { token: one });
  const records = victim
    .written()
    .split('\n')
    .flatMap((line) => (line.includes('"path":"/v1/') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const originOf = (record: Record<string, unknown>) => [record['user'], record['user-kind'], record['user-source']];
  const logins = records.filter(({ kind }) => kind === 'login').map(originOf);
  expect(logins).toEqual([1, 2, 3].map(() => ['job', 'approle', 'job']));
  const infos = records.filter(({ path }) => path === '/v1/state/keystore/token/info').map(originOf);
  expect(infos).toEqual([
    ['job', 'approle', 'job'],
    ['job', 'approle', 'job'],
    ['root', 'root-token', undefined],
    ['root', 'root-token', undefined],
  ]);
  const shown = (await victim.request('POST', '/v1/state/keystore/token/info', {}, { token: child })).body;
  expect(shown).toMatchObject({ user: 'job', 'user-kind': 'approle', 'user-source': 'job' });
});
