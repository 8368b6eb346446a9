// OIDC services and roles through the management API: R1, R2, R4, R6 to R9, R64, R68.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { pathOf, startOidcHarness, type OidcHarness, shownToken } from './harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path());
});
afterAll(() => harness.close());

const list = '/v1/config/keystore/authentication/oidc';
const state = '/v1/state/keystore/authentication/oidc';
const request = (method: string, to: string, body?: unknown): Promise<Answer> => harness.appliance.request(method, to, body);

/** As the specification shows it: no optional extras. */
const plain = (name: string): Record<string, unknown> => ({
  name,
  'display-name': 'Sign in with Entra',
  'discovery-url': 'https://login.microsoftonline.com/0c3bd4f5-0000-4000-8000-000000000001/v2.0/.well-known/openid-configuration',
  'use-root-ca-certs': true,
  'client-id': '7c1f8c1e-0000-4000-8000-000000000002',
  'client-secret': 'S3CRET~value',
  'verbose-logging': true,
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://keys.example.com/oidc-callback'],
});

describe('the service as the specification shows it', () => {
  test('is created, read back with defaults, and listed', async () => {
    const made = await request('POST', list, plain('entra'));
    expect(made).toMatchObject({ status: 201, headers: { location: `${list}/entra` } });
    const { 'client-secret': _secret, ...shown } = plain('entra');
    const read = await request('GET', `${list}/entra`);
    expect(read.body).toEqual({
      ...shown,
      'role-select': { 'role-claim': 'groups', 'keys-of-object': false },
      ...{ 'clock-tolerance': '60s', 'provider-hosts': [], 'session-ttl': '8h' },
    });
    expect((await request('GET', list)).body).toContainEqual(read.body);
  });

  test('defaults: use-root-ca-certs true, verbose-logging false', async () => {
    const { 'use-root-ca-certs': _roots, 'verbose-logging': _verbose, ...least } = plain('least');
    await request('POST', list, least);
    expect((await request('GET', `${list}/least`)).body).toMatchObject({ 'use-root-ca-certs': true, 'verbose-logging': false });
  });

  test('R68: the state marks a service that was left verbose', async () => {
    expect((await request('GET', `${state}/entra`)).body.notices.join()).toMatch(/verbose-logging is on/);
    expect((await request('PATCH', `${list}/entra`, { 'verbose-logging': false })).status).toBe(204);
    expect((await request('GET', `${state}/entra`)).body.notices.join()).not.toMatch(/verbose-logging/);
  });
});

describe('notices', () => {
  test('tell nothing of fields and roles that the caller may not read', async () => {
    const { 'use-root-ca-certs': _roots, ...rest } = plain('noticed');
    expect((await request('POST', list, { ...rest, 'use-root-ca-certs': false })).status).toBe(201);
    const fields = ['verbose-logging', 'use-root-ca-certs', 'ca-certs'];
    const rules = [
      { path: `${state}/noticed`, operations: { read: 'allow' }, 'hide-fields': fields },
      { path: `${list}/noticed/roles/**`, operations: { all: 'reject' } },
    ];
    await request('POST', '/v1/config/policy/policies', { name: 'notices', 'rest-api': { rules } });
    const { body } = await request('POST', '/v1/state/keystore/token/create', { policies: ['notices'] });
    const notices = async (token?: string): Promise<string[]> =>
      (await harness.appliance.request('GET', `${state}/noticed`, undefined, token === undefined ? {} : { token })).body.notices;
    expect(await notices()).toHaveLength(3);
    expect(await notices(body.token)).toEqual([]);
  });
});

describe('R6: client-secret', () => {
  test('is in no read, list or audit record; the state says that it is set', async () => {
    for (const to of [`${list}/entra`, list, `${state}/entra`, state]) {
      const answer = await request('GET', to);
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain('S3CRET');
    }
    expect((await request('GET', `${state}/entra`)).body['client-secret-set']).toBe(true);
    expect(harness.auditText()).not.toContain('S3CRET');
    expect(JSON.stringify(harness.appliance.logged)).not.toContain('S3CRET');
  });

  test('a replace without it keeps it, creation without it is refused', async () => {
    const { 'client-secret': _secret, ...rest } = plain('entra');
    expect((await request('PUT', `${list}/entra`, rest)).status).toBe(204);
    expect((await request('GET', `${state}/entra`)).body['client-secret-set']).toBe(true);
    expect(await request('POST', list, { ...rest, name: 'secretless' })).toMatchObject({ status: 400, body: { code: 'missing-field' } });
  });

  test.each([
    ['another provider', { 'discovery-url': 'https://mine.example/' }],
    ['other CAs', { 'ca-certs': null }],
    ['the public CAs', { 'use-root-ca-certs': true }],
    ['another host of the provider', { 'provider-hosts': ['mine.example'] }],
  ])('is not sent to %s unless it is given again', async (_, change) => {
    await harness.setService();
    const { 'client-secret': secret, ...whole } = {
      'client-secret': harness.provider.clientSecret,
      ...(await request('GET', `${list}/corp`)).body,
    };
    const put = Object.fromEntries(Object.entries({ ...whole, ...change }).filter(([, value]) => value !== null));
    const refused = { status: 400, body: { code: 'missing-field' } };
    for (const query of ['', '?validate=true']) {
      expect(await request('PATCH', `${list}/corp${query}`, change)).toMatchObject(refused);
      expect(await request('PUT', `${list}/corp${query}`, put)).toMatchObject(refused);
    }
    expect((await request('PATCH', `${list}/corp`, change)).body.detail).toMatch(
      /"client-secret" must be given again where "[a-z-]+" changes/,
    );
    for (const none of [{ ...change, 'client-secret': null }, { 'client-secret': null }]) {
      const answer = await request('PATCH', `${list}/corp`, none);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
      expect(answer.body.detail).toContain('leave it out to keep the present one');
    }
    expect((await request('PUT', `${list}/corp`, { ...put, 'client-secret': null })).status).toBe(400);
    expect((await request('PATCH', `${list}/corp`, { 'display-name': 'Other' })).status).toBe(204);
    expect((await request('PATCH', `${list}/corp`, { ...change, 'client-secret': secret })).status).toBe(204);
  });

  test('a new one is used at the next login', async () => {
    await harness.setService({ 'client-secret': 'wrong' });
    await harness.setRole('g1');
    harness.provider.script = { person: { groups: ['g1'] } };
    const browser = harness.browser();
    expect((await browser.login(harness.provider)).status).toBe(502);
    await request('PATCH', `${list}/corp`, { 'client-secret': harness.provider.clientSecret });
    expect((await browser.login(harness.provider)).status).toBe(303);
  });
});

describe('what cannot be a service', () => {
  test.each([
    ['R1: http', { 'discovery-url': 'http://idp.example.com/' }, 'discovery-url'],
    ['R1: http to a loopback host, unless configured', { 'discovery-url': 'http://127.0.0.1:8080/' }, 'discovery-url'],
    ['R1: credentials in the URL', { 'discovery-url': 'https://a:b@idp.example.com/' }, 'discovery-url'],
    ['R4: any directory', { 'discovery-url': 'https://login.microsoftonline.com/common/v2.0' }, 'discovery-url'],
    ['R7: no redirect URI', { 'allowed-redirect-uris': [] }, 'allowed-redirect-uris'],
    ['R7: another path', { 'allowed-redirect-uris': ['https://keys.example.com/callback'] }, 'allowed-redirect-uris/0'],
    ['R8: junk instead of PEM', { 'ca-certs': 'not a certificate' }, 'ca-certs'],
    ['R8: a private key in ca-certs', { 'ca-certs': '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' }, 'ca-certs'],
    ['R45: a tolerance over 300 s', { 'clock-tolerance': '301s' }, 'clock-tolerance'],
    ['R31: another way to authenticate', { 'token-endpoint-auth-method': 'none' }, 'token-endpoint-auth-method'],
    ['a display name with control characters', { 'display-name': 'a\u0007b' }, 'display-name'],
    ['a display name that turns the text around it', { 'display-name': 'a\u202eb' }, 'display-name'],
  ])('%s', async (_, fields, info) => {
    const answer = await request('POST', list, { ...plain('bad'), ...fields });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-value', errors: [{ 'error-info': info }] } });
    expect((await request('GET', `${list}/bad`)).status).toBe(404);
  });

  test('R9: unknown fields', async () => {
    expect((await request('POST', list, { ...plain('bad'), issuer: 'x' })).body.code).toBe('unknown-field');
    expect((await request('POST', list, { ...plain('bad'), 'role-select': { 'role-claim': 'groups', mode: 'x' } })).body.code).toBe(
      'unknown-field',
    );
    expect((await request('POST', list, { ...plain('bad'), notices: [] })).body.code).toBe('read-only-field');
  });
});

describe('R9: role names', () => {
  const roles = `${list}/entra/roles`;
  test.each([
    '0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10',
    '/parent/child',
    'https://acme.auth0.com/roles/admin',
    'Domain Admins',
    'Betriebsführung 😀',
    'a%2Fb',
    "o'brien;--",
    '..x',
  ])('%s can be made, read under its percent-encoded name, and deleted', async (name) => {
    const made = await request('POST', roles, { name, 'token-policies': ['user'] });
    expect(made).toMatchObject({ status: 201, headers: { location: `${roles}/${encodeURIComponent(name)}` } });
    expect(await request('GET', `${roles}/${encodeURIComponent(name)}`)).toMatchObject({
      status: 200,
      body: { name, 'token-policies': ['user'] },
    });
    expect((await request('GET', `${state}/entra/roles/${encodeURIComponent(name)}`)).status).toBe(200);
    expect((await request('DELETE', `${roles}/${encodeURIComponent(name)}`)).status).toBe(204);
  });

  test('names that differ in case are two roles', async () => {
    await request('POST', roles, { name: 'Admins' });
    expect((await request('POST', roles, { name: 'admins' })).status).toBe(201);
    expect((await request('GET', `${roles}?keys=true`)).body).toEqual(['Admins', 'admins']);
  });

  test.each(['', '.', '..', 'a\u0000b', 'line\nbreak', 'x'.repeat(257)])(
    '%j cannot be one, and the refusal says in words what can',
    async (name) => {
      expect(await request('POST', roles, { name })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('printable text') },
      });
    },
  );

  test('all fields are returned; a missing service has no roles', async () => {
    const role = {
      name: 'full',
      'required-claims': ['email'],
      'claim-mappings': { email: 'username', 'https://x.test/Full-Name': 'fullname' },
      'oidc-scopes': ['profile', 'email'],
      'token-policies': ['root', 'user'],
    };
    expect((await request('POST', roles, role)).body).toEqual(role);
    expect((await request('POST', `${list}/nothing/roles`, role)).status).toBe(404);
  });

  test.each([
    ['R13: a scope with a space', { 'oidc-scopes': ['profile email'] }],
    ['R13: a scope with a control character', { 'oidc-scopes': ['a\u0007'] }],
    ['R64: offline_access', { 'oidc-scopes': ['offline_access'] }],
    ['R56: another attribute', { 'claim-mappings': { email: 'policies' } }],
  ])('%s is refused', async (_, fields) => {
    expect(await request('POST', roles, { name: 'bad', ...fields })).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
  });

  test('deleting a service deletes its roles', async () => {
    expect((await request('DELETE', `${list}/entra`)).status).toBe(204);
    await request('POST', list, plain('entra'));
    expect((await request('GET', `${roles}?keys=true`)).body).toEqual([]);
  });
});

describe('R8: trust belongs to the service', () => {
  test.each([
    ['use-root-ca-certs false and no ca-certs: nobody is trusted', { 'use-root-ca-certs': false, 'ca-certs': undefined }],
    ['roots alone do not know the provider', { 'use-root-ca-certs': true, 'ca-certs': undefined }],
  ])('%s', async (_, fields) => {
    await harness.setService(fields);
    harness.takeLog();
    const answer = await harness.browser().get('/login/system/corp');
    expect(answer.status).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ fields: { stage: 'discovery', reason: 'tls', hint: expect.stringMatching(/ca-certs/) } }]);
  });

  test('ca-certs are trusted with and without the roots', async () => {
    for (const roots of [false, true]) {
      await harness.setService({ 'use-root-ca-certs': roots });
      expect(pathOf(await harness.browser().start())).toMatch(/^\/authorize/);
    }
  });
});

describe('setting up a service gives nobody policies that the caller does not hold', () => {
  let token: string | undefined;

  beforeAll(async () => {
    const paths = ['/v1/config/keystore/authentication/oidc/**', '/v1/config/keystore/authentication/oidc'];
    const rules = paths.map((path) => ({ path, operations: { all: 'allow' } }));
    await request('POST', '/v1/config/policy/policies', { name: 'oidc-admin', 'rest-api': { rules } });
    await harness.setService();
    await harness.setRole('strong', { 'token-policies': ['root'] });
    await harness.setRole('weak', { 'token-policies': ['oidc-admin'] });
    harness.provider.script = { person: { groups: ['weak'] } };
    const browser = harness.browser();
    await browser.login(harness.provider);
    token = await shownToken(browser);
  });

  const asWeak = (method: string, to: string, body: unknown): Promise<Answer> => harness.appliance.request(method, to, body, { token });

  test.each([
    ['another provider', { 'discovery-url': 'https://mine.example/' }],
    ['another application', { 'client-id': 'mine' }],
    ['another CA', { 'use-root-ca-certs': true }],
    ['another claim', { 'role-select': { 'role-claim': 'email' } }],
  ])('%s under roles with more policies is refused', async (_, fields) => {
    expect(await asWeak('PATCH', `${list}/corp`, fields)).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
  });

  test('a role with more policies cannot be made, other settings can be changed', async () => {
    expect((await asWeak('POST', `${list}/corp/roles`, { name: 'weaker', 'token-policies': ['root'] })).status).toBe(403);
    expect((await asWeak('POST', `${list}/corp/roles`, { name: 'weaker', 'token-policies': ['oidc-admin'] })).status).toBe(201);
    expect((await asWeak('PATCH', `${list}/corp`, { 'display-name': 'Other' })).status).toBe(204);
  });
});
