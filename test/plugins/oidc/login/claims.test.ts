// UserInfo, claims and roles over the wire: R49 to R58.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../../harness/appliance.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, textOf, without, type Browser, type OidcHarness, shownToken } from '../harness.ts';
import { makeKey, sendJson, signToken, type Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = {};
  await harness.appliance.request('DELETE', '/v1/config/keystore/authentication/oidc/corp');
  await harness.setService();
  harness.takeLog();
});

async function login(script: Script): Promise<Answer & { readonly browser: Browser; readonly page: string }> {
  harness.provider.script = script;
  const browser = harness.browser();
  const answer = await browser.login(harness.provider);
  const page = answer.status === 303 ? textOf((await browser.get('/ui')).body) : textOf(answer.body);
  return { ...answer, browser, page };
}

const userInfoCalls = (): number => harness.provider.requestsTo('/userinfo').length;

describe('R49: UserInfo is called only when a needed claim is missing', () => {
  test('everything in the ID token: not called', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'required-claims': ['email'] });
    const before = userInfoCalls();
    expect((await login({ person: { groups: ['g1'], email: 'e@x.test' } })).status).toBe(303);
    expect(userInfoCalls()).toBe(before);
  });

  test.each<[string, Record<string, unknown>]>([
    ['the role claim', {}],
    ['a required claim', { 'required-claims': ['email'] }],
    ['a mapped claim', { 'claim-mappings': { email: 'username' } }],
  ])('%s missing there: called once, with the token in the header, and used', async (name, fields) => {
    await harness.setRole('g1', fields);
    const before = userInfoCalls();
    const answer = await login({
      claims: (claims) => without(claims, 'email', name === 'the role claim' ? 'groups' : ''),
      person: { groups: ['g1'], email: 'e@x.test' },
    });
    expect(answer.status).toBe(303);
    expect(userInfoCalls()).toBe(before + 1);
    expect(harness.provider.requestsTo('/userinfo').at(-1)).toMatchObject({
      method: 'GET',
      headers: { authorization: expect.stringMatching(/^Bearer at-/) },
    });
  });

  test('a provider without the endpoint is not called', async () => {
    const script: Script = { metadata: (metadata) => without(metadata, 'userinfo_endpoint'), person: {} };
    harness.provider.script = script;
    await harness.setService();
    await harness.setRole('g1');
    const before = userInfoCalls();
    expect((await login(script)).status).toBe(403);
    expect(userInfoCalls()).toBe(before);
  });
});

const asJwt = (compact: (claims: Record<string, unknown>) => string): Script => ({
  person: {},
  respond: {
    '/userinfo': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/jwt' }).end(compact({ sub: 'subject-1', groups: ['g1'] })),
  },
  metadata: (metadata) => ({ ...metadata, userinfo_signing_alg_values_supported: ['RS256', 'none'] }),
});

describe('R50: the subject of UserInfo', () => {
  test.each([
    ['another', 'admin'],
    ['missing', undefined],
    ['a number', 7],
  ])('%s ends the login', async (_, sub) => {
    await harness.setRole('g1');
    const answer = await login({ person: {}, userinfo: () => ({ sub, groups: ['g1'] }) });
    expect(answer.status).toBe(502);
    expect(answer.browser.cookies.has('__Host-keystored-session')).toBe(false);
  });

  test('signed as a JWT it is used with the provider’s signature, and ends the login with another', async () => {
    await harness.setRole('g1');
    const key = harness.provider.rotate();
    const header = { alg: 'RS256', kid: key.kid };
    expect((await login(asJwt((claims) => signToken(header, claims, key)))).status).toBe(303);
    expect((await login(asJwt((claims) => signToken(header, claims, makeKey('RS256', key.kid))))).status).toBe(502);
    expect((await login(asJwt((claims) => signToken({ alg: 'none' }, claims, key)))).status).toBe(502);
  });

  test('claims of the ID token win', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'required-claims': ['extra'] });
    const { page } = await login({
      person: { groups: ['g1'], email: 'id@x.test' },
      userinfo: (claims) => ({ ...claims, email: 'info@x.test', extra: 1, groups: ['root'], iss: 'x' }),
    });
    expect(page).toContain('id@x.test');
    expect(page).not.toContain('info@x.test');
  });
});

describe('R51: UserInfo that fails', () => {
  const failing: Script['respond'] = { '/userinfo': (_request, response) => void response.writeHead(500).end() };
  test('is ignored and logged when the role does not need it', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
    const answer = await login({ person: { groups: ['g1'] }, respond: failing });
    expect(answer.status).toBe(303);
    expect(answer.page).toContain('subject-1');
    expect(harness.takeLog()).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/UserInfo/), fields: { stage: 'userinfo', service: 'corp' } },
    ]);
  });
  test.each([
    ['500', failing],
    [
      '401 with a challenge',
      {
        '/userinfo': (_request: unknown, response: ServerResponse) =>
          void response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end(),
      },
    ],
    [
      'HTML',
      {
        '/userinfo': (_request: unknown, response: ServerResponse) =>
          void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      },
    ],
  ])('%s is fatal when the role claim is only there', async (_, respond) => {
    await harness.setRole('g1');
    expect((await login({ person: {}, respond })).status).toBe(403);
    expect(harness.takeLog().map(({ fields }) => fields['code'] ?? fields['stage'])).toEqual(['userinfo', 'no-role']);
  });
});

describe('R52 to R55: roles', () => {
  test('R52: one group as a string', async () => {
    await harness.setRole('g1');
    expect((await login({ person: { groups: 'g1' } })).status).toBe(303);
  });

  test('R52: 10,001 values are refused', async () => {
    await harness.setRole('g1');
    const groups = Array.from({ length: 10_001 }, (_, index) => `g${index}`);
    expect((await login({ person: { groups } })).status).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ fields: { reason: 'too-many-role-values' } }]);
  });

  test('R53: several roles are combined', async () => {
    await harness.setRole('g1', { 'token-policies': ['user'] });
    await harness.setRole('g2', { 'token-policies': ['default', 'user'] });
    const { page } = await login({ person: { groups: ['g2', 'g1', 'g3'] } });
    expect(page).toMatch(/Roles g1 g2 Policies user default/);
  });

  test('R54: a role whose required claim is absent is skipped; alone it is 403 and in the audit trail', async () => {
    await harness.setRole('g1', { 'required-claims': ['mfa'], 'token-policies': ['root'] });
    const alone = await login({ person: { groups: ['g1'] } });
    expect(alone).toMatchObject({ status: 403, page: expect.stringContaining('A detail of your account is missing') });
    expect(harness.loginRecords().at(-1)).toMatchObject({ status: 403, code: 'claim-missing', user: 'subject-1' });
    expect(harness.takeLog()).toMatchObject([{ fields: { 'missing-claims': ['mfa'], hint: expect.stringContaining('mfa') } }]);
    await harness.setRole('g2', { 'token-policies': ['user'] });
    expect((await login({ person: { groups: ['g1', 'g2'] } })).page).toMatch(/Role g2 Policies user/);
  });

  test('the page of a refusal shows the account’s display name; log and audit have only the subject', async () => {
    const pageFor = async (person: Record<string, unknown>): Promise<string> =>
      (await login({ person: { groups: ['other'], ...person } })).page;
    expect(await pageFor({ email: 'eve@x.test', name: 'Eve' })).toContain('Account eve@x.test Tenant system Provider Corp sign-in Time');
    expect(await pageFor({ preferred_username: 'eve' })).toContain('Account eve Tenant');
    expect(await pageFor({})).toContain('Account subject-1 Tenant');
    await harness.setRole('g1', { 'claim-mappings': { employee: 'username' } });
    expect(await pageFor({ email: 'eve@x.test', employee: 'E-4711' })).toContain('Account E-4711 Tenant');
    expect(await pageFor({ name: 'a\u202e<b>' })).toContain('Account a&lt;b&gt; Tenant');
    expect(harness.auditText() + JSON.stringify(harness.takeLog())).not.toMatch(/eve@x|E-4711/);
    expect(harness.loginRecords().at(-1)).toMatchObject({ user: 'subject-1' });
  });

  test('the page of a refused account links to another account, and to the provider’s sign-out if it has one', async () => {
    const page = String((await login({ person: { groups: [] } })).body);
    expect(page).toContain('href="/login/system/corp?prompt=select_account"');
    expect(page).not.toContain('Sign out at');
    const metadata = (own: Record<string, unknown>) => ({ ...own, end_session_endpoint: `${harness.provider.issuer}/out?x=1` });
    await harness.setService();
    const other = String((await login({ person: { groups: [] }, metadata })).body);
    expect(other).toContain(`href="${harness.provider.issuer}/out?x=1&amp;client_id=${harness.provider.clientId}"`);
  });

  test('R55: no groups means no role and is no fault; the page shows the account and not the groups', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
    const answer = await login({ person: { email: 'eve@x.test', 'other-groups': ['secret-project'] } });
    expect(answer).toMatchObject({ status: 403, page: expect.stringContaining('You have no role here') });
    expect(harness.takeLog()).toMatchObject([
      { fields: { reason: 'role-claim-missing', hint: expect.stringContaining('role-select claim groups is missing') } },
    ]);
    const unmatched = await login({ person: { groups: ['secret-project'] } });
    expect(unmatched.page).not.toContain('secret-project');
    expect(JSON.stringify(harness.takeLog())).not.toContain('secret-project');
  });

  test('a JSON pointer as role claim', async () => {
    await harness.setService({ 'role-select': { 'role-claim': '/realm_access/roles' } });
    await harness.setRole('operator');
    expect((await login({ person: { realm_access: { roles: ['operator'] } } })).status).toBe(303);
  });
});

describe('R56, R57: names', () => {
  test('R56: email becomes username and name fullname, on the page and in the audit trail', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username', name: 'fullname' } });
    const { page } = await login({ person: { groups: ['g1'], email: 'eve@x.test', name: 'Eve Adams' } });
    expect(page).toMatch(/Eve Adams You are signed in\. Account eve@x\.test/);
    expect(harness.loginRecords().at(-1)).toMatchObject({ user: 'eve@x.test' });
  });

  test('R56: names are cleaned before they are shown or recorded', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username', name: 'fullname' } });
    const attack = ' <script>alert(1)</script>\u202e\r\nroot\u0000 ';
    const { browser } = await login({ person: { groups: ['g1'], email: attack, name: attack } });
    expect(String((await browser.get('/ui')).body)).not.toContain('<script>alert');
    expect(harness.loginRecords().at(-1)).toMatchObject({ user: '<script>alert(1)</script>root' });
  });

  test.each(['root', ' Root ', 'r\u200boot', 'ｒｏｏｔ'])('nobody is called %j by a claim: the subject is used', async (name) => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
    await login({ person: { groups: ['g1'], email: name } });
    const record = harness.loginRecords().at(-1);
    expect(record).toMatchObject({ status: 303, 'user-kind': 'sign-in', 'user-source': 'corp' });
    expect(record?.['user']).not.toBe(name.trim());
    await harness.setRole('g1', {});
    const refused = await login({ person: { groups: ['g1'], sub: name } });
    expect(refused.status).toBe(502);
    expect(harness.loginRecords().at(-1)).toMatchObject({ code: 'id-token-refused', status: 502 });
    expect(harness.loginRecords().at(-1)).not.toHaveProperty('user');
  });

  test('R56: without a mapping the subject is used', async () => {
    await harness.setRole('g1');
    expect((await login({ person: { groups: ['g1'], email: 'eve@x.test' } })).page).toContain('Account subject-1');
  });

  test('R57: issuer and subject are recorded, and two people with one address stay distinct', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
    for (const sub of ['one', 'two']) {
      await login({ person: { groups: ['g1'], email: 'same@x.test', sub } });
      expect(harness.loginRecords().at(-1)).toMatchObject({
        user: 'same@x.test',
        'request-parameters': { issuer: harness.provider.issuer, subject: sub, service: 'corp', roles: ['g1'], 'token-policies': ['root'] },
      });
    }
  });
});

describe('R58: policies', () => {
  test('an unknown one grants nothing and breaks nothing', async () => {
    await harness.setRole('g1', { 'token-policies': ['no-such-policy'] });
    const { status, browser } = await login({ person: { groups: ['g1'] } });
    expect(status).toBe(303);
    const token = await shownToken(browser);
    expect((await harness.appliance.request('GET', '/v1/config/tenants', undefined, { token })).status).toBe(403);
  });

  test('a role of one tenant grants policies of that tenant only', async () => {
    await harness.appliance.request('POST', '/v1/config/tenants', { name: 'acme' });
    const { body } = await harness.appliance.request('POST', '/v1/state/keystore/token/create-root', { name: 'acme' });
    const asAcme = { token: String(body.token) };
    const rule = { path: '/**', operations: { all: 'allow' } };
    await harness.appliance.request('POST', '/v1/config/policy/policies', { name: 'everything', 'rest-api': { rules: [rule] } });
    const service = '/v1/config/keystore/authentication/oidc';
    const own = (await harness.appliance.request('GET', `${service}/corp`)).body;
    const made = await harness.appliance.request(
      'POST',
      service,
      { ...own, name: 'corp', 'client-secret': harness.provider.clientSecret },
      asAcme,
    );
    expect(made.status).toBe(201);
    const role = { name: 'g1', 'token-policies': ['everything', 'root'] };
    await harness.appliance.request('POST', `${service}/corp/roles`, role, asAcme);
    harness.provider.script = { person: { groups: ['g1'] } };
    const browser = harness.browser();
    expect((await browser.login(harness.provider, 'acme')).status).toBe(303);
    const token = await shownToken(browser);
    expect(textOf((await browser.get('/ui')).body)).toContain('Tenant acme');
    expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).body).toMatchObject({
      tenant: 'acme',
    });
    expect((await harness.appliance.request('GET', '/v1/config/tenants', undefined, { token })).status).toBeGreaterThanOrEqual(400);
  });
});

test('aggregated and distributed claims in UserInfo are ignored', async () => {
  await harness.setRole('g1');
  const before = harness.provider.requests.length;
  const answer = await login({
    person: {},
    userinfo: (claims) => ({
      ...claims,
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: `${harness.provider.origin}/groups`, access_token: 'x' } },
      hasgroups: true,
    }),
    respond: { '/groups': (_request, response) => sendJson(response, { groups: ['g1'] }) },
  });
  expect(answer.status).toBe(403);
  expect(harness.provider.requests.slice(before).map((request) => request.path)).not.toContain('/groups');
});
