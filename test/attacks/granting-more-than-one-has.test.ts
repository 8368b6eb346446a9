// A common mistake: who may create tokens, login roles or approles gives them policies that they do not have themselves.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from './victim.ts';

let victim: Victim;
const approles = '/v1/config/keystore/authentication/approles';
const oidc = '/v1/config/keystore/authentication/oidc';
const service = {
  name: 'idp',
  'discovery-url': 'https://idp.example/.well-known/openid-configuration',
  'client-id': 'c',
  'client-secret': 's',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
};

beforeAll(async () => {
  victim = await startVictim();
  await victim.makePolicy('login-admin', [
    { path: '/v1/config/keystore/authentication/**', operations: { all: 'allow' } },
    { path: '/v1/state/keystore/token/create', operations: { execute: 'allow' } },
  ]);
  await victim.makeTenant('small');
  await victim.request('POST', oidc, service);
  await victim.request('POST', approles, { name: 'powerful', 'token-policies': ['root'] });
});

test.each(['login-admin', 'user'])('a token with %s cannot make a way to root', async (policy) => {
  const token = await victim.makeToken([policy]);
  const tries: readonly (readonly [string, string, unknown])[] = [
    ['POST', '/v1/state/keystore/token/create', { policies: ['root'] }],
    ['POST', approles, { name: `own-${policy}`, 'token-policies': ['root'] }],
    ['PUT', `${approles}/own-${policy}`, { 'token-policies': ['root'] }],
    ['PUT', `${oidc}/idp/roles/everybody`, { 'token-policies': ['root'] }],
    ['POST', `${oidc}/idp/roles`, { name: 'everybody', 'token-policies': ['root'] }],
    ['POST', '/v1/state/keystore/token/create-root', { name: 'system' }],
    ['POST', '/v1/config/policy/policies', { name: 'mine', 'rest-api': { rules: [{ path: '/**', operations: { all: 'allow' } }] } }],
    ['PATCH', '/v1/config/policy/policies/login-admin', { 'rest-api': { rules: [{ path: '/**', operations: { all: 'allow' } }] } }],
    ['PATCH', '/v1/config/tenants/small', { policies: ['root'] }],
    ['POST', '/v1/config/tenants', { name: 'large', policies: ['root'] }],
    ['POST', '/v1/config/tenants', { name: 'large', kind: 'site-provider' }],
    ['POST', '/v1/state/keystore/authentication/approles/powerful/generate-secret-id', {}],
  ];
  for (const [method, path, body] of tries) {
    expect([path, await victim.verdict(method, path, body, { token })]).toEqual([path, '403 policy-denied']);
  }
});

test('in several steps: an approle with what one has, then more by merging into it', async () => {
  const token = await victim.makeToken(['login-admin']);
  expect(await victim.verdict('POST', approles, { name: 'stepwise', 'token-policies': ['login-admin'] }, { token })).toBe('201 done');
  expect(await victim.verdict('PATCH', `${approles}/stepwise`, { 'token-policies': ['root'] }, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('PATCH', `${approles}/stepwise`, { 'token-policies': ['user'] }, { token })).toBe('403 policy-denied');
  expect((await victim.request('GET', `${approles}/stepwise`)).body['token-policies']).toEqual(['login-admin']);
});

test('the policies of the tenant bound everything its root token hands out', async () => {
  const token = await victim.makeTenant('bounded', ['rewrap-only']);
  await victim.request('PATCH', '/v1/config/tenants/bounded', { policies: ['root'] });
  const child = await victim.makeToken(['root'], token);
  await victim.request('PUT', '/v1/config/tenants/bounded', { policies: ['rewrap-only'] });
  for (const one of [token, child]) {
    expect(await victim.verdict('POST', '/v1/config/keystore/transit-keys', { name: 'k' }, { token: one })).toBe('403 policy-denied');
    expect(await victim.verdict('GET', '/v1/config/tenants', undefined, { token: one })).toBe('403 policy-denied');
  }
});
