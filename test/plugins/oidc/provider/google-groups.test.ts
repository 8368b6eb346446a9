// Groups of Google by its directory API, in the shapes of its answers: who may set it up, what is signed and asked, and that no failure counts as
// "no groups".
import { createServer, type Server } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { selfSignedIdentity } from '../../../harness/tls.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { shownToken, startOidcHarness, textOf, type OidcHarness } from '../harness.ts';
import { sendJson, type Responder, type Script, type SeenRequest } from '../scripted-provider.ts';

const path = temporaryDirectory();
const service = '/v1/config/keystore/authentication/oidc/corp';
const keys = '/v1/config/keystore/transit-keys';
const directory = '/admin/directory/v1/groups';
let harness: OidcHarness;
let google: Awaited<ReturnType<typeof startDirectory>>;
let groupsSettings: Record<string, unknown> = {};

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  google = await startDirectory(path('google'));
  groupsSettings = {
    'transit-key': 'google',
    'client-email': 'keystore@project.iam.gserviceaccount.com',
    'admin-email': 'reader@example.com',
    'directory-host': google.host,
  };
  await made('POST', keys, { name: 'google', cipher: 'rsa-2048' });
  await made('POST', keys, { name: 'other', cipher: 'rsa-2048' });
  await made('POST', keys, { name: 'opens', cipher: 'rsa-2048', use: 'encrypt' });
  await made('POST', keys, { name: 'ec', cipher: 'ecdsa-p256' });
  await harness.setService({ 'google-groups': groupsSettings, 'ca-certs': harness.provider.ca + google.ca });
  for (const name of ['admins@example.com', 'g9999@example.com', 'guest']) await harness.setRole(name);
});
afterAll(async () => {
  google.server.close();
  await harness.close();
});
beforeEach(() => {
  harness.takeLog();
  google.seen.length = 0;
});

async function made(method: string, to: string, body?: unknown): Promise<void> {
  const answer = await harness.appliance.request(method, to, body);
  expect([201, 204], JSON.stringify(answer.body)).toContain(answer.status);
}

/** A group as groups.list answers it. */
const group = (email: string) => ({
  ...{ kind: 'admin#directory#group', id: `id of ${email}`, etag: '"etag"', email, name: 'A group', directMembersCount: '3' },
  ...{ description: '', adminCreated: true, nonEditableAliases: [`${email}.test-google-a.com`] },
});
const listed = (emails: readonly string[], more = {}) => ({
  ...{ kind: 'admin#directory#groups', etag: '"etag"' },
  ...(emails.length === 0 ? {} : { groups: emails.map(group) }),
  ...more,
});
/** An error of Google's APIs. */
const refusal = (code: number, reason: string, message: string) => ({
  error: { code, message, errors: [{ message, domain: 'global', reason }] },
});

type Answering = { readonly directory: Responder; readonly token?: Responder; readonly script?: Script };

/** A sign-in. The token endpoint answers an access token to the service account, unless `token` does. */
async function login({ directory: answer, token, script = {} }: Answering) {
  google.answer = answer;
  const assertions: string[] = [];
  const { provider } = harness;
  provider.script = {
    ...script,
    respondToToken: (form, response) => {
      if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return false;
      assertions.push(form.get('assertion') ?? '');
      if (token === undefined) sendJson(response, { access_token: 'ya29.directory', expires_in: 3599, token_type: 'Bearer' });
      else void token({ method: 'POST', path: '/token', query: '', headers: {}, body: '' }, response);
      return true;
    },
  };
  harness.takeLog();
  const browser = harness.browser();
  const { status, body } = await browser.login(provider);
  return { status, text: textOf(body), log: harness.takeLog(), assertions, browser };
}

describe('R69: the groups of the account are the values of the role claim', () => {
  test('asked by its subject, as a service account whose request the token has signed', async () => {
    const answer = await login({ directory: (_request, response) => sendJson(response, listed(['Admins@Example.com', 'x@example.com'])) });
    expect(answer).toMatchObject({ status: 303, log: [] });
    const [header = '', payload = '', signature = ''] = String(answer.assertions).split('.');
    const state = await harness.appliance.request('GET', '/v1/state/keystore/transit-keys/google');
    const publicKey = createPublicKey(state.body.keys[1]);
    expect(verify('sha256', Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(decode(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
    const { iat, exp, ...claims } = decode(payload);
    expect(claims).toEqual({
      iss: 'keystore@project.iam.gserviceaccount.com',
      sub: 'reader@example.com',
      scope: 'https://www.googleapis.com/auth/admin.directory.group.readonly',
      aud: `${harness.provider.origin}/token`,
    });
    expect(Number(exp) - Number(iat)).toBe(300);
    expect(google.seen).toHaveLength(1);
    expect(google.seen[0]).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer ya29.directory' } });
    expect(google.seen.map((one) => queryOf(one).get('userKey'))).toEqual(['subject-1']);
    const record = harness.loginRecords().at(-1);
    expect(record).toMatchObject({
      'request-parameters': {
        roles: ['admins@example.com'],
        'transit-key': 'google',
        'key-version': 1,
        'signed-digest': digestOf(header, payload),
      },
    });
    expect(JSON.stringify(record)).not.toContain('ya29');
    expect(await shownToken(answer.browser)).not.toBe('');
  });

  test('over 50 pages with 10,000 groups', async () => {
    const answer = await login({ directory: pages(50, 200) });
    expect(answer.status).toBe(303);
    expect(harness.loginRecords().at(-1)).toMatchObject({ 'request-parameters': { roles: ['g9999@example.com'] } });
    expect(google.seen.map((one) => queryOf(one).get('pageToken'))).toEqual([
      null,
      ...Array.from({ length: 49 }, (_, page) => `p${page + 1}/=`),
    ]);
  });

  test('a busy directory that asks for a second gets it, once', async () => {
    let asked = 0;
    const answer = await login({
      directory: (_request, response) => {
        asked += 1;
        if (asked === 1) sendJson(response, refusal(429, 'rateLimitExceeded', 'Too many'), 429, { 'retry-after': '1' });
        else sendJson(response, listed(['admins@example.com']));
      },
    });
    expect(answer.status).toBe(303);
    expect(asked).toBe(2);
  });

  test('what the ID token says of them does not count', async () => {
    const answer = await login({
      directory: (_request, response) => sendJson(response, listed(['x@example.com'])),
      script: { person: { groups: ['admins@example.com'] } },
    });
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('You have no role here') });
  });

  test('an account in no group gets role-without-groups, if there is one', async () => {
    const none: Responder = (_request, response) => sendJson(response, listed([]));
    expect((await login({ directory: none })).status).toBe(403);
    await made('PATCH', service, { 'role-select': { 'role-without-groups': 'guest' } });
    expect((await login({ directory: none })).status).toBe(303);
    expect(harness.loginRecords().at(-1)).toMatchObject({ 'request-parameters': { roles: ['guest'] } });
  });
});

describe('groups that cannot be read refuse the sign-in, also of people who would get role-without-groups', () => {
  const good = listed(['admins@example.com']);
  const html = (status: number) => (_request: SeenRequest, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'text/html; charset=UTF-8' }).end('<!DOCTYPE html><title>Error</title>');
  const json =
    (body: unknown, status = 200, headers = {}): Responder =>
    (_request, response) =>
      sendJson(response, body, status, headers);

  test.each<[string, Partial<Answering>, Record<string, unknown>, number?]>([
    [
      '403: the administrator may not read groups',
      { directory: json(refusal(403, 'forbidden', 'Not Authorized to access this resource/api'), 403) },
      { reason: 'directory-refused', 'provider-status': 403, 'provider-error': 'forbidden', hint: expect.stringContaining('Groups: Read') },
    ],
    [
      '403: the API is not enabled',
      { directory: json(refusal(403, 'accessNotConfigured', 'Admin SDK API has not been used in project 1 before'), 403) },
      { reason: 'directory-refused', hint: expect.stringContaining('Enable the Admin SDK API') },
    ],
    ['403: the quota', { directory: json(refusal(403, 'quotaExceeded', 'Quota exceeded'), 403) }, { reason: 'directory-busy' }],
    [
      '429 twice',
      { directory: json(refusal(429, 'rateLimitExceeded', 'x'), 429, { 'retry-after': '0' }) },
      { reason: 'directory-busy', 'provider-status': 429 },
    ],
    ['401', { directory: json(refusal(401, 'authError', 'Invalid Credentials'), 401) }, { reason: 'directory-refused' }],
    [
      '404: an account of another domain',
      { directory: json(refusal(404, 'notFound', 'Resource Not Found: userKey'), 404) },
      { reason: 'not-of-this-directory' },
      403,
    ],
    ['500 in HTML', { directory: html(500) }, { reason: 'directory-refused', 'provider-status': 500 }],
    ['a page of HTML', { directory: html(200) }, { reason: 'directory-malformed' }],
    [
      'groups as text/plain',
      { directory: (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(JSON.stringify(good)) },
      { reason: 'directory-malformed' },
    ],
    ['a list instead of an object', { directory: json([group('admins@example.com')]) }, { reason: 'directory-malformed' }],
    ['groups that are no list', { directory: json({ groups: { email: 'admins@example.com' } }) }, { reason: 'directory-malformed' }],
    [
      'a group without an address',
      { directory: json({ groups: [group('admins@example.com'), { id: 'x' }] }) },
      { reason: 'directory-malformed' },
    ],
    ['a page token that is no text', { directory: json({ ...good, nextPageToken: { a: 1 } }) }, { reason: 'directory-malformed' }],
    ['pages without end', { directory: json({ ...good, nextPageToken: 'again' }) }, { reason: 'too-many-groups' }],
    ['more than 10,000 groups', { directory: (...sent) => pages(50, 201)(...sent) }, { reason: 'too-many-groups' }],
    ['more than 1 MiB', { directory: json({ ...good, description: 'x'.repeat(1_100_000) }) }, { reason: 'too-large' }],
    [
      'a redirect',
      { directory: (_request, response) => void response.writeHead(302, { location: `https://${google.host}/elsewhere` }).end() },
      { reason: 'directory-refused', 'provider-status': 302 },
    ],
    ['a connection that breaks', { directory: (_request, response) => void response.destroy() }, { reason: 'unreachable' }],
    [
      'the token endpoint: not delegated',
      {
        token: json(
          {
            error: 'unauthorized_client',
            error_description:
              'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.',
          },
          401,
        ),
      },
      {
        reason: 'service-account-refused',
        'provider-error': 'unauthorized_client',
        hint: expect.stringContaining('Domain-wide delegation'),
      },
    ],
    [
      'the token endpoint: another key',
      { token: json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400) },
      { reason: 'service-account-refused', 'provider-description': 'Invalid JWT Signature.', hint: expect.stringContaining('upload') },
    ],
    ['the token endpoint: an ID token alone', { token: json({ id_token: 'x.y.z' }) }, { reason: 'token-answer-malformed' }],
    ['the token endpoint: HTML', { token: html(200) }, { reason: 'token-answer-malformed' }],
  ])('%s', async (_, { directory: answer = json(good), token }, fields, status = 502) => {
    const { log, ...refused } = await login({ directory: answer, ...(token === undefined ? {} : { token }) });
    expect(refused.status).toBe(status);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatchObject({ level: 'warn', fields: { stage: 'directory', ...fields } });
    expect(log[0]?.fields['hint']).toMatch(/(?:\S+ ){5}/);
    expect(refused.text).toMatch(/Your groups could not be read|The identity provider is not working|You have no role here/);
    expect(harness.loginRecords().at(-1)).toMatchObject({ 'request-parameters': { 'transit-key': 'google' } });
    expect(JSON.stringify(log)).not.toContain('ya29');
  });

  test('a slow directory ends after five seconds in all', async () => {
    let page = 0;
    const answer = await login({
      directory: (_request, response) => {
        page += 1;
        setTimeout(() => sendJson(response, listed([`x${page}@example.com`], { nextPageToken: `p${page}` })), 1_200);
      },
    });
    expect(answer.status).toBe(504);
    expect(page).toBeLessThanOrEqual(5);
    expect(answer.log[0]).toMatchObject({ fields: { stage: 'directory', reason: 'timeout' } });
  });

  test('a key that is disabled, and one that is gone, say so', async () => {
    const directoryAnswer = json(good);
    await made('PATCH', `${keys}/google`, { disabled: true });
    const disabled = await login({ directory: directoryAnswer });
    await made('PATCH', `${keys}/google`, { disabled: false });
    expect(disabled).toMatchObject({ status: 502, log: [{ fields: { reason: 'key-unusable', 'key-error': 'key-disabled' } }] });
    expect(disabled.assertions).toEqual([]);
    await made('PATCH', service, { 'google-groups': { 'transit-key': 'other' } });
    await made('PATCH', `${keys}/other`, { 'deletion-allowed': true });
    await made('DELETE', `${keys}/other`);
    expect(await login({ directory: directoryAnswer })).toMatchObject({
      status: 502,
      log: [{ fields: { reason: 'key-unusable', 'key-error': 'not-found', hint: expect.stringContaining('no transit key "other"') } }],
    });
    await made('PATCH', service, { 'google-groups': groupsSettings });
    expect((await login({ directory: directoryAnswer })).status).toBe(303);
  });
});

describe('the settings', () => {
  const attempt = (method: string, body: unknown, token?: string, query = '') =>
    harness.appliance.request(method, service + query, body, token === undefined ? {} : { token });

  /** A token that may change the service, and sign with the keys under these rules. */
  async function holder(rules: readonly unknown[]): Promise<string> {
    const name = `setter-${Math.random().toString(36).slice(2)}`;
    const all = ['config', 'state'].map((tree) => ({ path: `/v1/${tree}/keystore/authentication/**`, operations: { all: 'allow' } }));
    await made('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules: [...all, ...rules] } });
    return (await harness.appliance.request('POST', '/v1/state/keystore/token/create', { policies: [name] })).body.token;
  }

  const signing = (more = {}) => ({ path: '/v1/state/keystore/transit-keys/*/sign', operations: { execute: 'allow' }, ...more });

  test.each([
    ['opens', 'that decrypts'],
    ['ec', 'of another kind'],
    ['nowhere', 'that is not there'],
  ])('a key %s (%s) is refused', async (name) => {
    const answer = await attempt('PATCH', { 'google-groups': { 'transit-key': name } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-value', errors: [{ 'error-info': 'google-groups/transit-key' }] } });
  });

  test('a nested role claim is refused, as are addresses and hosts that are none', async () => {
    for (const [change, info] of [
      [{ 'role-select': { 'role-claim': '/a/b' } }, 'role-select/role-claim'],
      [{ 'google-groups': { 'client-email': 'nobody' } }, 'google-groups/client-email'],
      [{ 'google-groups': { 'directory-host': 'https://admin.googleapis.com' } }, 'google-groups/directory-host'],
    ] as const)
      expect(await attempt('PATCH', change)).toMatchObject({ status: 400, body: { errors: [{ 'error-info': info }] } });
  });

  test('who sets them, or where its tokens go, must be allowed to sign anything with the key', async () => {
    // Without roles nothing but the key is given.
    const roles = ['admins@example.com', 'g9999@example.com', 'guest'];
    for (const name of roles) await made('DELETE', `${service}/roles/${encodeURIComponent(name)}`);
    const secret = { 'client-secret': harness.provider.clientSecret };
    const changes = [
      { 'google-groups': { 'admin-email': 'other@example.com' } },
      { 'google-groups': { 'directory-host': 'mine.example' } },
      { ...secret, 'discovery-url': 'https://mine.example/' },
      { ...secret, 'provider-hosts': ['mine.example'] },
    ];
    const denied = { status: 403, body: { code: 'policy-denied' } };
    for (const rules of [
      [],
      [signing({ 'allowed-values': { 'hash-algorithm': ['sha512'] } })],
      [signing({ 'allowed-values': { text: ['aGk='] } })],
    ]) {
      const token = await holder(rules);
      for (const change of changes) expect(await attempt('PATCH', change, token, '?validate=true')).toMatchObject(denied);
      expect(await attempt('PATCH', { 'display-name': 'Corp' }, token)).toMatchObject({ status: 204 });
    }
    const token = await holder([signing()]);
    for (const change of changes)
      expect(await attempt('PATCH', change, token, '?validate=true'), JSON.stringify(change)).toMatchObject({ status: 204 });
    for (const name of roles) await harness.setRole(name);
  });

  test('a change needs all policies of the roles', async () => {
    const token = await holder([signing()]);
    const answer = await attempt('PATCH', { 'google-groups': { 'admin-email': 'other@example.com' } }, token);
    expect(answer).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
    expect(answer.body.detail).toContain('google-groups');
  });

  test('`test` reads the groups of the administrator, and says what is missing', async () => {
    const run = async () => (await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {})).body;
    await login({ directory: (_request, response) => sendJson(response, listed([])) });
    google.seen.length = 0;
    const good = await run();
    expect(good).toMatchObject({ 'directory-host': google.host });
    expect(JSON.stringify(good.findings)).not.toContain('directory');
    expect(google.seen.map((one) => queryOf(one).get('userKey'))).toEqual(['reader@example.com']);
    google.answer = (_request, response) =>
      sendJson(response, refusal(403, 'forbidden', 'Not Authorized to access this resource/api'), 403);
    expect((await run()).findings).toContainEqual({
      level: 'error',
      message: expect.stringMatching(/^directory: directory-refused; .*403.*Not Authorized/),
      fix: expect.stringContaining('Groups: Read'),
    });
  });
});

const digestOf = (...parts: readonly string[]): string => `sha256:${createHash('sha256').update(parts.join('.')).digest('hex')}`;
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;

/** A directory of `count` pages with `size` groups each: g0, g1 … */
function pages(count: number, size: number): Responder {
  return (request, response) => {
    const page = Number(/^p(\d+)/.exec(queryOf(request).get('pageToken') ?? 'p0')?.[1]);
    const emails = Array.from({ length: size }, (_, index) => `g${page * size + index}@example.com`);
    sendJson(response, listed(emails, page + 1 < count ? { nextPageToken: `p${page + 1}/=` } : {}));
  };
}

const queryOf = ({ query }: SeenRequest): URLSearchParams => new URLSearchParams(query);

/** The directory API, at a host of its own as Google's is. */
async function startDirectory(at: string) {
  mkdirSync(at);
  const identity = selfSignedIdentity(at);
  const seen: SeenRequest[] = [];
  const state = { answer: ((_request, response) => void response.writeHead(404).end()) as Responder };
  const server: Server = createServer({ key: identity.key, cert: identity.cert }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://directory');
    const asked = { method: request.method ?? '', path: url.pathname, query: url.search, headers: request.headers, body: '' };
    seen.push(asked);
    if (url.pathname === directory) void state.answer(asked, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, { server, seen, ca: identity.cert, host: `127.0.0.1:${(server.address() as AddressInfo).port}` });
}
