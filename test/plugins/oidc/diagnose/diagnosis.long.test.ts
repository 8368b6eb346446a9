// `explain` and `test`: what an administrator learns without anybody signing in (issue "be told why").
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../../harness/appliance.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { referenceOf, startOidcHarness, without, type OidcHarness } from '../harness.ts';
import { sendJson, type Script } from '../scripted-provider.ts';

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
});

const action = (name: string, body: unknown = {}): Promise<Answer> =>
  harness.appliance.request('POST', `/v1/state/keystore/authentication/oidc/corp/${name}`, body);

describe('explain with claims', () => {
  beforeEach(async () => {
    await harness.setRole('admins', {
      'token-policies': ['root', 'typo'],
      'required-claims': ['email'],
      'claim-mappings': { email: 'username', name: 'fullname' },
    });
    await harness.setRole('readers', { 'token-policies': ['user'] });
  });

  test('a match: roles, policies, names, and policies that do not exist', async () => {
    const { status, body } = await action('explain', { claims: { sub: 's', groups: ['admins', 'x'], email: 'e@x.test', name: 'Eve' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      outcome: 'signed-in',
      explanation: 'admins matches; the session gets root, typo.',
      'role-claim': 'groups',
      'role-claim-values': 2,
      roles: [
        { name: 'admins', matches: true, grants: true, 'missing-claims': [], reason: 'A value of groups is admins.' },
        { name: 'readers', matches: false, grants: false, 'missing-claims': [], reason: 'No value of groups is readers.' },
      ],
      policies: ['root', 'typo'],
      'unknown-policies': ['typo'],
      username: 'e@x.test',
      fullname: 'Eve',
      notes: [],
    });
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a required claim is missing', { groups: ['admins'] }, { outcome: 'claim-missing', explanation: expect.stringContaining('email') }],
    ['nothing matches', { groups: ['x'] }, { outcome: 'no-role', explanation: expect.stringContaining('No value of groups') }],
    [
      'only the case differs',
      { groups: ['Readers'] },
      {
        outcome: 'no-role',
        roles: expect.arrayContaining([
          expect.objectContaining({ name: 'readers', reason: expect.stringContaining('upper and lower case') }),
        ]),
      },
    ],
    ['the role claim is missing', {}, { outcome: 'no-role', explanation: expect.stringContaining('role-select claim groups is missing') }],
    [
      'a mapped claim that is nested',
      { groups: ['readers'], person: { email: 'e@x.test' } },
      { outcome: 'signed-in', notes: expect.arrayContaining([expect.stringContaining('The provider sends /person/email')]) },
    ],
    ['overage', { _claim_names: { groups: 'src1' } }, { outcome: 'no-role', notes: [expect.stringContaining('directory API')] }],
    [
      'values that are no texts',
      { groups: [1, 'readers'] },
      { outcome: 'signed-in', notes: expect.arrayContaining([expect.stringContaining('not strings')]) },
    ],
    [
      'a role claim that is an object',
      { groups: { a: 1 } },
      { outcome: 'no-role', notes: [expect.stringContaining('neither a string nor a list')] },
    ],
    [
      'several roles',
      { groups: ['readers', 'admins'], email: 'e' },
      { outcome: 'signed-in', policies: ['root', 'typo', 'user'], notes: expect.arrayContaining([expect.stringContaining('combined')]) },
    ],
    ['no username', { sub: 's-1', groups: ['readers'] }, { username: 's-1', notes: [expect.stringContaining('subject (sub) is used')] }],
    ['names of claims are taken as they are', { groups: ['readers'], 'Some-Claim/x': { 'a-b': 1 } }, { outcome: 'signed-in' }],
  ])('%s', async (_, claims, expected) => {
    const { status, body } = await action('explain', { claims });
    expect(status).toBe(200);
    expect(body).toMatchObject(expected);
  });

  test('claims are in no log and no audit record', async () => {
    await action('explain', { claims: { groups: ['secret-project'], email: 'private@x.test' } });
    expect(harness.auditText() + JSON.stringify(harness.appliance.logged)).not.toMatch(/secret-project|private@x/);
  });

  test.each([
    ['neither claims nor login', {}],
    ['both', { claims: {}, login: 'x' }],
    ['claims that are a list', { claims: [] }],
    ['an unknown field', { claim: {} }],
  ])('%s is refused', async (_, body) => {
    expect((await action('explain', body)).status).toBe(400);
  });

  test('an unknown service is 404, and needs a token', async () => {
    const url = '/v1/state/keystore/authentication/oidc/nothing/explain';
    expect((await harness.appliance.request('POST', url, { claims: {} })).status).toBe(404);
    expect((await harness.appliance.request('POST', url, { claims: {} }, { token: undefined })).status).toBe(401);
  });
});

async function failedLogin(script: Script): Promise<string> {
  harness.provider.script = script;
  const answer = await harness.browser().login(harness.provider);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  return referenceOf(answer.body);
}

describe('explain with the reference of a failed sign-in', () => {
  test('judges its claims by the roles of now: what was mended is seen', async () => {
    const login = await failedLogin({ person: { groups: ['g1'] } });
    expect((await action('explain', { login })).body).toMatchObject({
      outcome: 'no-role',
      roles: [],
      login: { stage: 'role', code: 'no-role', reason: 'no-role-matches', 'occurred-at': expect.any(String) },
    });
    await harness.setRole('g1');
    expect((await action('explain', { login })).body).toMatchObject({
      outcome: 'signed-in',
      policies: ['root'],
      login: { code: 'no-role' },
    });
  });

  test('of one that ended before there were claims tells where, and what to do', async () => {
    const login = await failedLogin({
      respond: { '/token': (_request, response) => sendJson(response, { error: 'invalid_client' }, 401) },
    });
    expect((await action('explain', { login })).body).toMatchObject({
      outcome: 'provider-refused-system',
      explanation: expect.stringContaining('update client-secret'),
      login: { stage: 'token', reason: 'invalid_client' },
    });
  });

  test('of another service, of nobody, or of the day before yesterday is 404', async () => {
    const login = await failedLogin({ person: { groups: ['g1'] } });
    expect((await action('explain', { login: 'nothing' })).status).toBe(404);
    await harness.setService({}, harness.provider, 'other');
    expect((await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/other/explain', { login })).status).toBe(404);
    harness.clock.advance(86_400);
    expect((await action('explain', { login })).status).toBe(404);
    for (const job of harness.appliance.jobs) await job.run(new AbortController().signal);
    harness.appliance.store.refresh();
    expect(harness.appliance.store.prefixed('oidc').table('failed-logins').count([])).toBe(0);
  });

  test('no more than a hundred are kept per service, and those without claims go first', async () => {
    await harness.setRole('g1');
    const first = await failedLogin({ person: { groups: ['nobody'] } });
    for (let count = 0; count < 103; count += 1) {
      harness.clock.advance(1);
      await failedLogin({ callback: (query) => query.set('error', 'access_denied') });
    }
    harness.appliance.store.refresh();
    expect(harness.appliance.store.prefixed('oidc').table('failed-logins').count([])).toBe(100);
    expect((await action('explain', { login: first })).body).toMatchObject({ outcome: 'no-role', login: { code: 'no-role' } });
  });
});

describe('test', () => {
  test('a provider in order', async () => {
    await harness.setRole('g1');
    harness.provider.script = {
      metadata: (metadata) => ({ ...metadata, code_challenge_methods_supported: ['S256'], msgraph_host: 'graph.microsoft.com' }),
      respond: {
        '/authorize': (_request, response) =>
          void response.writeHead(303, { location: `${harness.redirectUri}?error=login_required` }).end(),
      },
    };
    const behind = (): number => Temporal.Now.instant().since(harness.clock.now()).total('seconds');
    const least = behind();
    const { status, body } = await action('test');
    const most = behind();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      usable: true,
      issuer: harness.provider.issuer,
      'authorization-endpoint': `${harness.provider.origin}/authorize`,
      algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'],
      pkce: { method: 'S256', listed: true },
      'iss-parameter': true,
      'token-endpoint-auth-method': 'client_secret_basic',
      'client-credentials': 'accepted',
      'redirect-uris': [{ uri: harness.redirectUri, registered: 'yes' }],
      keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }],
      'directory-host': 'graph.microsoft.com',
      'clock-difference-seconds': expect.any(Number),
      'certificate-chain': [{ subject: 'CN=localhost', issuer: 'CN=localhost', 'not-after': expect.any(String) }],
      scopes: ['openid', 'profile', 'email'],
    });
    // The provider tells its time in whole seconds.
    const difference = Math.abs(body['clock-difference-seconds']);
    expect(difference).toBeGreaterThanOrEqual(Math.abs(least) - 2);
    expect(difference).toBeLessThanOrEqual(Math.abs(most) + 2);
  });

  test.each<[string, Record<string, unknown>, Script, RegExp]>([
    ['a wrong client secret', { 'client-secret': 'wrong' }, {}, /provider-refused-system|invalid_client/],
    ['a CA that is not trusted, and the chain is shown all the same', { 'ca-certs': undefined }, {}, /tls/],
    ['another issuer', {}, { metadata: (metadata) => ({ ...metadata, issuer: 'https://evil.test' }) }, /issuer-mismatch/],
    ['no metadata', {}, { respond: { '/metadata': (_request, response) => void response.writeHead(404).end() } }, /metadata-not-found/],
    ['no keys', {}, { jwks: () => [] }, /key list/],
    [
      'no algorithm in common',
      {},
      { metadata: (metadata) => ({ ...metadata, id_token_signing_alg_values_supported: ['HS256'] }) },
      /No signature algorithm/,
    ],
    [
      'no way to authenticate',
      {},
      { metadata: (metadata) => ({ ...metadata, token_endpoint_auth_methods_supported: ['tls_client_auth'] }) },
      /auth-method-not-supported/,
    ],
  ])('%s is not usable, and the finding says what to do', async (_, fields, script, message) => {
    await harness.setRole('g1');
    harness.provider.script = script;
    await harness.setService(fields);
    const { status, body } = await action('test');
    expect(status).toBe(200);
    expect(body.usable).toBe(false);
    const [finding] = (body.findings as { level: string; message: string; fix?: string }[]).filter(({ level }) => level === 'error');
    expect(finding?.message).toMatch(message);
    expect(body['certificate-chain']).toHaveLength(1);
  });

  test('no role, missing scopes and an unregistered redirect URI are found', async () => {
    const { body } = await action('test');
    expect(body.findings).toEqual(
      expect.arrayContaining([expect.objectContaining({ level: 'error', message: expect.stringContaining('no role') })]),
    );
    await harness.setRole('g1', { 'oidc-scopes': [] });
    expect((await action('test')).body.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 'warning', message: expect.stringContaining('profile and email') }),
        expect.objectContaining({ level: 'warning', message: expect.stringContaining(harness.redirectUri) }),
      ]),
    );
  });

  test('a clock that differs is found', async () => {
    await harness.setRole('g1');
    harness.provider.script = {
      respond: {
        '/jwks': (_request, response) =>
          sendJson(response, { keys: [harness.provider.rotate().publicJwk] }, 200, {
            date: new Date(harness.clock.now().epochMilliseconds + 120_000).toUTCString(),
          }),
      },
    };
    const { body } = await action('test');
    expect(body['clock-difference-seconds']).toBeGreaterThan(100);
    expect(body.findings).toEqual(
      expect.arrayContaining([expect.objectContaining({ message: expect.stringMatching(/clock differs by 1[12]\d s/) })]),
    );
  });

  test('a provider that is gone', async () => {
    await harness.setService({ 'discovery-url': 'https://127.0.0.1:9/' });
    const { status, body } = await action('test');
    expect(status).toBe(200);
    expect(without(body, 'findings')).toEqual({ usable: false });
    expect(body.findings).toMatchObject([{ level: 'error', message: expect.stringContaining('ECONNREFUSED'), fix: expect.any(String) }]);
  });

  test('asks the provider afresh and tells neither secret nor token', async () => {
    await harness.setRole('g1');
    await harness.browser().start();
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, token_endpoint: `${harness.provider.origin}/token-2` }) };
    const { body } = await action('test');
    expect(body['token-endpoint']).toBe(`${harness.provider.origin}/token-2`);
    expect(JSON.stringify(body)).not.toContain(harness.provider.clientSecret);
  });
});
