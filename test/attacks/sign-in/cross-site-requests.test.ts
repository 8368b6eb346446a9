// Eviden: cookies with SameSite=Strict broke the redirect from the provider, with None other sites could act. Lax, and never as the only protection.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldOf, startOidcHarness, type Browser, type OidcHarness } from '../../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(at(), { startsPerMinute: 1_000 });
  await harness.setService();
  await harness.setRole('g1');
  harness.provider.script = { person: { groups: ['g1'] } };
});
afterAll(() => harness.close());

async function signedIn(): Promise<Browser> {
  const browser = harness.browser();
  expect((await browser.login(harness.provider)).status).toBe(303);
  return browser;
}

test('every cookie is __Host-, Secure, HttpOnly and SameSite=Lax', async () => {
  const browser = harness.browser();
  const begun = await browser.get('/login/system/corp');
  const { pathname, search } = new URL(harness.provider.authorize(String(begun.headers['location'])));
  const ended = await browser.get(pathname + search);
  const lines = [begun, ended].flatMap(({ headers }) => [headers['set-cookie'] ?? []].flat());
  expect(lines.length).toBeGreaterThanOrEqual(2);
  for (const line of lines) {
    expect(line).toMatch(/^__Host-[a-z-]+=/);
    expect(line).toMatch(/; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
  }
});

test('a cookie is no credential on /v1, whatever else is sent', async () => {
  const browser = await signedIn();
  for (const headers of [{}, { origin: harness.appliance.url }, { 'x-requested-with': 'XMLHttpRequest' }]) {
    for (const [method, path] of [
      ['GET', '/v1/config/tenants'],
      ['POST', '/v1/state/keystore/token/create'],
    ] as const) {
      // prettier-ignore
      expect((await browser.send(method, path, headers)).status).toBe(401);
    }
  }
});

test('forms of other sites, without the page’s own value, or with one of another session, are refused and end no session', async () => {
  const [browser, other] = [await signedIn(), await signedIn()];
  const own = fieldOf(String((await browser.get('/ui')).body), 'form-token');
  const foreign = fieldOf(String((await other.get('/ui')).body), 'form-token');
  expect(own).not.toBe('');
  for (const [form, headers] of [
    [{}, {}],
    [{ 'form-token': '' }, {}],
    [{ 'form-token': foreign }, {}],
    [{ 'form-token': own }, { 'sec-fetch-site': 'cross-site' }],
    [{ 'form-token': own }, { 'sec-fetch-site': 'same-site' }],
  ] as const) {
    for (const path of ['/ui/token', '/ui/sign-out']) {
      const { status, body } = await browser.post(path, form, headers);
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
      // The value that looks like a token is the reference of the refusal.
      for (const [token] of String(body).matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)) {
        expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status).toBe(401);
      }
    }
  }
  expect((await browser.get('/ui')).status).toBe(200);
});

test('no answer allows other sites to read it', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
  for (const [method, path] of [
    ['OPTIONS', '/v1/config/tenants'],
    ['GET', '/v1/state/system/health'],
    ['GET', '/ui'],
    ['GET', '/login'],
  ] as const) {
    // prettier-ignore
    const answer = await (await signedIn()).send(method, path, headers);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});
