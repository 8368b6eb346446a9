// A common mistake: who may create tokens, login roles or approles gives them policies that they do not have themselves.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

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

test('by widening an existing approle: a caller without its policies cannot admit more addresses', async () => {
  const admin = await victim.makeToken(['login-admin']);
  const roles = `${oidc}/idp/roles`;
  const patch = (path: string, body: object, token = admin) => victim.verdict('PATCH', path, body, { token });
  const put = (path: string, body: object, token = admin) => victim.verdict('PUT', path, body, { token });
  const strict = { 'required-claims': ['mfa', 'employee'], 'token-policies': ['root'], 'oidc-scopes': ['profile'] };
  const bound = { 'token-policies': ['root'], 'secret-id-bound-cidrs': ['10.1.0.0/16'], 'token-bound-cidrs': ['10.1.0.0/16'] };
  await victim.request('POST', roles, { name: 'strict', ...strict });
  await victim.request('POST', approles, { name: 'bound', ...bound });
  for (const [path, body] of [
    [`${roles}/strict`, { ...strict, 'required-claims': [] }],
    [`${roles}/strict`, { ...strict, 'required-claims': ['mfa'] }],
    [`${roles}/strict`, { ...strict, 'required-claims': ['mfa', 'email'] }],
    [`${approles}/bound`, { ...bound, 'secret-id-bound-cidrs': [] }],
    [`${approles}/bound`, { ...bound, 'secret-id-bound-cidrs': ['10.1.0.0/16', '0.0.0.0/0'] }],
    [`${approles}/bound`, { ...bound, 'token-bound-cidrs': ['127.0.0.0/8'] }],
  ] as const) {
    expect([body, await put(path, body)]).toEqual([body, '403 policy-denied']);
  }
  expect(await patch(`${approles}/bound`, { 'token-bound-cidrs': ['127.0.0.0/8'] })).toBe('403 policy-denied');
  // Narrower, or otherwise: as before.
  expect(await put(`${roles}/strict`, { ...strict, 'required-claims': ['mfa', 'employee', 'email'], 'oidc-scopes': [] })).toBe('204 done');
  expect(await put(`${approles}/bound`, { ...bound, 'token-ttl': '1h' })).toBe('204 done');
  expect(await put(`${approles}/powerful`, { 'token-policies': ['root'], 'token-bound-cidrs': ['10.0.0.0/8'] })).toBe('204 done');
  // Who has what they give may.
  for (const [path, body] of [
    [`${roles}/strict`, { 'token-policies': ['root'] }],
    [`${approles}/bound`, { 'token-policies': ['root'] }],
  ] as const)
    // prettier-ignore
    expect(await put(path, body, victim.rootToken)).toBe('204 done');
});

test('by lives and names: a caller without its policies lengthens no life, and decides about no name, of what gives them', async () => {
  const admin = await victim.makeToken(['login-admin']);
  const change = (path: string, body: object, token = admin) => victim.verdict('PATCH', path, body, { token });
  const lives = { 'token-ttl': '1h', 'token-max-ttl': '1d', 'secret-id-ttl': '1d', 'secret-id-num-uses': 3 };
  const document = { 'token-policies': ['root'], ...lives };
  await victim.request('POST', approles, { name: 'brief', ...document });
  await victim.request('PATCH', `${oidc}/idp`, { 'session-ttl': '1h', 'clock-tolerance': '10s' });
  await victim.request('POST', `${oidc}/idp/roles`, { name: 'lords', 'token-policies': ['root'], 'claim-mappings': { sub: 'username' } });
  const longer: readonly (readonly [string, object])[] = [
    [`${approles}/brief`, { 'token-ttl': '2h' }],
    [`${approles}/brief`, { 'token-max-ttl': '10y' }],
    [`${approles}/brief`, { 'secret-id-ttl': '2d' }],
    [`${approles}/brief`, { 'secret-id-ttl': null }],
    [`${approles}/brief`, { 'secret-id-num-uses': 4 }],
    [`${approles}/brief`, { 'secret-id-num-uses': 0 }],
    [`${approles}/brief`, { 'fixed-role-id': 'known-to-me' }],
    [`${oidc}/idp`, { 'session-ttl': '8h' }],
    [`${oidc}/idp`, { 'clock-tolerance': '5m' }],
    [`${oidc}/idp`, { 'allowed-redirect-uris': ['https://elsewhere.example/oidc-callback'] }],
    [`${oidc}/idp/roles/lords`, { 'claim-mappings': { email: 'username' } }],
    [`${oidc}/idp/roles/lords`, { 'claim-mappings': { sub: null } }],
  ];
  for (const [path, body] of longer) expect([body, await change(path, body)]).toEqual([body, '403 policy-denied']);
  expect(await victim.verdict('PUT', `${approles}/brief`, { 'token-policies': ['root'] }, { token: admin })).toBe('403 policy-denied');
  // Shorter, or otherwise, as before; and who has what they give may.
  expect(
    await change(`${approles}/brief`, { 'token-ttl': '30m', 'token-max-ttl': '12h', 'secret-id-ttl': '1h', 'secret-id-num-uses': 1 }),
  ).toBe('204 done');
  expect(await change(`${oidc}/idp`, { 'session-ttl': '30m', 'clock-tolerance': '5s', 'display-name': 'Ours' })).toBe('204 done');
  for (const [path, body] of longer) expect([body, await change(path, body, victim.rootToken)]).toEqual([body, '204 done']);
});

test('by bounds: nobody but root of the tenant system changes what a tenant may do at most', async () => {
  const user = await victim.makeToken(['user']);
  await victim.makePolicy('no-export', [{ path: '/v1/state/keystore/transit-keys/*/export', operations: { all: 'reject' } }]);
  await victim.makeTenant('contained', ['rewrap-only', 'no-export']);
  const tenant = '/v1/config/tenants/contained';
  const change = (method: string, body: object, token = user) => victim.verdict(method, tenant, body, { token });
  for (const policies of [['app-owner-tenant'], ['user'], ['default'], ['root'], ['rewrap-only'], []])
    expect([policies, await change('PUT', { policies })]).toEqual([policies, '403 policy-denied']);
  expect(await change('PATCH', { policies: ['app-owner-tenant'] })).toBe('403 policy-denied');
  expect(await change('PATCH', { policies: null })).toBe('403 policy-denied');
  expect(await change('PATCH', { 'descriptive-name': 'Contained' })).toBe('204 done');
  expect(await change('PUT', { policies: ['no-export', 'rewrap-only'] })).toBe('204 done');
  expect(await change('PUT', { policies: ['app-owner-tenant'] }, victim.rootToken)).toBe('204 done');
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

test('bounds of a tenant do not fall by deleting it and making it again', async () => {
  const tenants = '/v1/config/tenants';
  await victim.makePolicy('narrow-bounds', [{ path: '/v1/state/keystore/random', operations: { execute: 'allow' } }]);
  for (const [name, bounds] of Object.entries({
    'few-requests': { 'requests-per-minute': 10 },
    'few-seconds': { 'token-seconds-per-minute': 1 },
    'few-rights': { policies: ['narrow-bounds'] },
    unbounded: {},
    provider: { kind: 'site-provider' },
  })) {
    await victim.request('POST', tenants, { name, ...bounds });
    const token = await victim.makeToken(['user']);
    const remove = (as: string, query = '') => victim.verdict('DELETE', `${tenants}/${name}${query}`, undefined, { token: as });
    const verdicts = [await remove(token, '?validate=true'), await remove(token), await remove(victim.rootToken)];
    expect([name, ...verdicts]).toEqual(
      name.startsWith('few')
        ? [name, '403 policy-denied', '403 policy-denied', '204 done']
        : [name, '204 done', '204 done', '404 not-found'],
    );
  }
});

test('a policy is not made again by others than root under a name that tokens, approles or roles still have', async () => {
  const policies = '/v1/config/policy/policies';
  const nothing = [{ path: '/v1/state/keystore/random', operations: { execute: 'allow' } }];
  await victim.makePolicy('makes-policies', [{ path: `${policies}/**`, operations: { create: 'allow', update: 'allow' } }]);
  const token = await victim.makeToken(['makes-policies']);
  const document = { 'rest-api': { rules: [{ path: '/v1/**', operations: { all: 'allow' } }] } };
  const holders: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    'of-a-token': (name) => victim.makeToken([name]),
    'of-an-approle': (name) => victim.request('POST', approles, { name: `has-${name}`, 'token-policies': [name] }),
    'of-a-role': (name) => victim.request('POST', `${oidc}/idp/roles`, { name: `has-${name}`, 'token-policies': [name] }),
    'of-nobody': () => Promise.resolve(),
  };
  for (const [name, give] of Object.entries(holders)) {
    await victim.makePolicy(name, nothing);
    await give(name);
    expect(await victim.verdict('DELETE', `${policies}/${name}`)).toBe('204 done');
    const make = (as: string, query = '') => victim.verdict('POST', `${policies}${query}`, { name, ...document }, { token: as });
    const free = name === 'of-nobody';
    expect([name, await make(token, '?validate=true')]).toEqual([name, free ? '201 done' : '403 policy-denied']);
    expect([name, await victim.verdict('PUT', `${policies}/${name}`, document, { token })]).toEqual([
      name,
      free ? '201 done' : '403 policy-denied',
    ]);
    expect([name, await make(victim.rootToken)]).toEqual([name, free ? '409 already-exists' : '201 done']);
  }
});

test('by the rules of a policy that bounds a tenant: they are changed by root of the tenant system alone', async () => {
  const policies = '/v1/config/policy/policies';
  const rules = (path: string) => ({ 'rest-api': { rules: [{ path, operations: { all: 'allow' } }] } });
  await victim.makePolicy('changes-policies', [{ path: `${policies}/*`, operations: { all: 'allow' } }]);
  await victim.makePolicy('holds-a-tenant', [{ path: '/v1/state/keystore/random', operations: { execute: 'allow' } }]);
  await victim.makePolicy('holds-nobody', [{ path: '/v1/state/keystore/random', operations: { execute: 'allow' } }]);
  const tenant = await victim.makeTenant('held', ['holds-a-tenant']);
  const token = await victim.makeToken(['changes-policies']);
  const change = (method: string, name: string, as = token) =>
    victim.verdict(method, `${policies}/${name}`, rules('/v1/**'), { token: as });
  for (const method of ['PATCH', 'PUT']) expect(await change(method, 'holds-a-tenant')).toBe('403 policy-denied');
  expect(await victim.verdict('PATCH', `${policies}/holds-a-tenant?validate=true`, rules('/v1/**'), { token })).toBe('403 policy-denied');
  expect(await change('PATCH', 'holds-nobody')).toBe('200 done');
  expect(await victim.verdict('GET', '/v1/config/keystore/transit-keys', undefined, { token: tenant })).toBe('403 policy-denied');
  expect(await change('PUT', 'holds-a-tenant', victim.rootToken)).toBe('204 done');
});

test('by addresses: a token that is bound to some makes no approle whose tokens work from others', async () => {
  const bind = async (ranges: readonly string[], parent?: string) =>
    String(
      (
        await victim.request(
          'POST',
          '/v1/state/keystore/token/create',
          { policies: ['login-admin'], ...(ranges.length === 0 ? {} : { 'bound-cidrs': ranges }) },
          { token: parent ?? victim.rootToken },
        )
      ).body.token,
    );
  const bound = await bind(['127.0.0.0/8', '::1']);
  const child = await bind([], bound);
  const make = (name: string, ranges: readonly string[], token: string) =>
    victim.verdict('POST', approles, { name, 'token-policies': ['login-admin'], 'token-bound-cidrs': ranges }, { token });
  for (const token of [bound, child])
    for (const ranges of [[], ['10.0.0.0/8'], ['127.0.0.1', '126.0.0.0/7'], ['::/0']])
      expect([ranges, await make('roams', ranges, token)]).toEqual([ranges, '403 policy-denied']);
  expect(await make('stays', ['127.0.0.1', '127.1.0.0/16', '::1/128'], child)).toBe('201 done');
  const change = (body: object, token = bound) => victim.verdict('PATCH', `${approles}/stays`, body, { token });
  expect(await change({ 'token-bound-cidrs': null })).toBe('403 policy-denied');
  expect(await change({ 'token-ttl': '1h' })).toBe('204 done');
  // What another caller has set stays; only more is refused.
  expect(await change({ 'token-bound-cidrs': null }, victim.rootToken)).toBe('204 done');
  expect(await change({ 'token-ttl': '30m' })).toBe('204 done');
  expect(await change({ 'token-ttl': '2h' })).toBe('403 policy-denied');
  expect(await make('from-anywhere', [], await bind([]))).toBe('201 done');
});
