// Sessions of browsers: R59 to R63.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { fieldOf, startOidcHarness, textOf, type Browser, type OidcHarness, shownToken } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.provider.script = { person: { groups: ['g1'], email: 'eve@x.test' } };
});

const sessionCookie = '__Host-keystored-session';
const service = '/v1/config/keystore/authentication/oidc/corp';

async function signedIn(): Promise<Browser> {
  const browser = harness.browser();
  expect((await browser.login(harness.provider)).status).toBe(303);
  return browser;
}

/** Whether a token works on the management API. */
async function works(token: string | undefined): Promise<boolean> {
  return (await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status === 200;
}

async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/ui')).status === 200;
}

describe('R59: the token', () => {
  test('is new at every login, and there is none before it', async () => {
    const browser = harness.browser();
    await browser.get('/login?tenant=system');
    await browser.start();
    expect(browser.cookies.has(sessionCookie)).toBe(false);
    const [first, second] = [await signedIn(), await signedIn()];
    expect(first.cookies.get(sessionCookie)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(first.cookies.get(sessionCookie)).not.toBe(second.cookies.get(sessionCookie));
  });

  test('a value that the browser sends never becomes a session', async () => {
    const browser = harness.browser();
    const planted = '00000000-0000-4000-8000-000000000000';
    browser.cookies.set(sessionCookie, planted);
    expect((await browser.login(harness.provider)).status).toBe(303);
    expect(browser.cookies.get(sessionCookie)).not.toBe(planted);
    expect(await works(planted)).toBe(false);
  });

  test('the session before it ends at the next login', async () => {
    const browser = await signedIn();
    const before = browser.cookies.get(sessionCookie);
    expect((await browser.login(harness.provider)).status).toBe(303);
    expect(await works(before)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a token of another kind in the cookie is no session', async () => {
    const browser = harness.browser();
    browser.cookies.set(sessionCookie, harness.appliance.rootToken);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.login(harness.provider)).status).toBe(303);
    expect(await works(harness.appliance.rootToken)).toBe(true);
  });
});

describe('R60: the end', () => {
  test('the token is stored only as a hash', async () => {
    const token = (await signedIn()).cookies.get(sessionCookie) ?? '';
    expect(harness.auditText() + JSON.stringify(harness.appliance.logged)).not.toContain(token);
    for (const name of ['sessions', 'pending-logins', 'hand-offs', 'failed-logins']) {
      const records = [...harness.appliance.store.prefixed('oidc').table(name).entries([])];
      expect(JSON.stringify(records)).not.toContain(token);
    }
  });

  test('comes after eight hours of use', async () => {
    const browser = await signedIn();
    for (let passed = 0; passed < 8 * 60 - 20; passed += 20) {
      harness.clock.advance(20 * 60);
      expect(await isSignedIn(browser)).toBe(true);
    }
    const token = await shownToken(browser);
    harness.clock.advance(20 * 60);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await works(token)).toBe(false);
  });

  test('comes after half an hour without use', async () => {
    const browser = await signedIn();
    harness.clock.advance(29 * 60);
    expect(await isSignedIn(browser)).toBe(true);
    harness.clock.advance(30 * 60);
    expect(await isSignedIn(browser)).toBe(false);
    for (const job of harness.appliance.jobs) await job.run(new AbortController().signal);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('by idleness leaves shown tokens valid, which programs use; they end when the session expires', async () => {
    const browser = await signedIn();
    const shown = await shownToken(browser);
    harness.clock.advance(31 * 60);
    for (const job of harness.appliance.jobs) await job.run(new AbortController().signal);
    expect([await isSignedIn(browser), await works(shown)]).toEqual([false, true]);
    harness.clock.advance(8 * 3_600);
    expect(await works(shown)).toBe(false);
  });

  test('session-ttl of the service sets it', async () => {
    await harness.appliance.request('PATCH', service, { 'session-ttl': '10m' });
    const browser = harness.browser();
    const answer = await browser.login(harness.provider);
    expect(String(answer.headers['set-cookie'])).toContain('Max-Age=600');
    harness.clock.advance(601);
    expect(await isSignedIn(browser)).toBe(false);
    await harness.setService();
  });
});

describe('R61: the cookie', () => {
  test('is host-only, secure, HttpOnly, lax', async () => {
    const answer = await harness.browser().login(harness.provider);
    const [cookie] = [answer.headers['set-cookie'] ?? []].flat();
    expect(cookie).toMatch(/^__Host-keystored-session=[0-9a-f-]{36}; Path=\/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax$/);
  });

  test('is not accepted on /v1', async () => {
    const browser = await signedIn();
    expect((await browser.get('/v1/config/tenants', { accept: 'application/json' })).status).toBe(401);
    expect((await browser.send('POST', '/v1/logout', { accept: 'application/json' })).status).toBe(401);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe('the signed-in page', () => {
  test('shows name, tenant, provider, roles, policies and end; without a session it redirects to the login', async () => {
    const text = textOf((await (await signedIn()).get('/ui')).body);
    expect(text).toMatch(
      /eve@x\.test You are signed in\..*Tenant system Provider Corp sign-in Role g1 Policies root Ends .* UTC in 8 hours, or after 30 minutes/,
    );
    expect(await harness.browser().get('/ui')).toMatchObject({ status: 303, headers: { location: '/login' } });
    expect(await harness.browser().get('/')).toMatchObject({ status: 303, headers: { location: '/ui' } });
  });

  test('shows a token only on request, one that works and is not the cookie’s', async () => {
    const browser = await signedIn();
    const cookie = browser.cookies.get(sessionCookie) ?? '';
    expect(String((await browser.get('/ui')).body)).not.toContain(cookie);
    const token = await shownToken(browser);
    expect(await works(token)).toBe(true);
    expect(token).not.toBe(cookie);
    expect(harness.loginRecords().at(-1)).toMatchObject({ path: '/ui/token', user: 'eve@x.test', tenant: 'system' });
    expect(harness.auditText()).not.toContain(token);
  });

  test('shows none when the sign-in is older than five minutes: the provider asks for the credentials first, and leads back', async () => {
    const browser = await signedIn();
    harness.clock.advance(5 * 60 + 1);
    const form = { 'form-token': fieldOf(String((await browser.get('/ui')).body), 'form-token') };
    const answer = await browser.post('/ui/token', form);
    expect(answer.status).toBe(403);
    expect(String(answer.body)).toContain('href="/login/system/corp?prompt=login"');
    expect(browser.cookies.get('__Host-keystored-return')).toBe(encodeURIComponent('/ui/account'));
    expect(await works(await shownToken(await signedIn()))).toBe(true);
  });
});

describe('tokens that are shown', () => {
  const liveTokens = async (): Promise<number> => {
    const { body } = await harness.appliance.request('GET', '/v1/state/keystore/tokens');
    return Object.keys(body).length;
  };

  test('a form makes one token: a reload, and a hundred at once, redirect to the page', async () => {
    const browser = await signedIn();
    const before = await liveTokens();
    const form = { 'form-token': fieldOf(String((await browser.get('/ui')).body), 'form-token') };
    const answers = await Promise.all(Array.from({ length: 100 }, () => browser.post('/ui/token', form)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, headers } of [...answers.filter(({ status: one }) => one !== 200), await browser.post('/ui/token', form)])
      expect([status, headers['location']]).toEqual([303, '/ui']);
    expect(await liveTokens()).toBe(before + 1);
    // It is still a form of this session: a token shown in another tab does not block signing out.
    expect((await browser.post('/ui/sign-out', form)).status).toBe(200);
    expect(await liveTokens()).toBe(before - 1);
  });

  test('a session has the ten newest; ended ones do not count', async () => {
    const browser = await signedIn();
    const shown: string[] = [];
    for (let count = 0; count < 12; count += 1) shown.push(await shownToken(browser));
    expect(await Promise.all(shown.map(works))).toEqual([false, false, ...Array<boolean>(10).fill(true)]);
    await harness.appliance.request('POST', '/v1/logout', {}, { token: shown[7] });
    shown.push(await shownToken(browser));
    expect(await Promise.all(shown.slice(2).map(works))).toEqual([true, true, true, true, true, false, true, true, true, true, true]);
  });

  test.each(['1.', '-1.x', '9007199254740993.x', '1e3.x', 'NaN'])('%s is no form of the session', async (start) => {
    const browser = await signedIn();
    const right = fieldOf(String((await browser.get('/ui')).body), 'form-token');
    const answer = await browser.post('/ui/token', { 'form-token': start + right.slice(start.length) });
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('This form is out of date') });
  });
});

describe('R62: signing out', () => {
  test('ends the token and those shown, and clears the cookie', async () => {
    const browser = await signedIn();
    const tokens = [await shownToken(browser), await shownToken(browser)];
    const page = String((await browser.get('/ui')).body);
    const answer = await browser.post('/ui/sign-out', { 'form-token': fieldOf(page, 'form-token') });
    expect(textOf(answer.body)).toContain('You are signed out');
    expect(browser.cookies.has(sessionCookie)).toBe(false);
    for (const token of tokens) expect(await works(token)).toBe(false);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('links to the provider’s own sign-out when it has one', async () => {
    harness.provider.script = {
      ...harness.provider.script,
      metadata: (metadata) => ({ ...metadata, end_session_endpoint: `${harness.provider.origin}/end?x=1` }),
    };
    await harness.setService();
    const browser = await signedIn();
    const page = String((await browser.get('/ui')).body);
    const answer = await browser.post('/ui/sign-out', { 'form-token': fieldOf(page, 'form-token') });
    expect(String(answer.body)).toContain(`href="${harness.provider.origin}/end?x=1&amp;client_id=${harness.provider.clientId}"`);
    harness.provider.script = {};
    await harness.setService();
  });

  test.each([
    ['no form token', {}, {}],
    ['a wrong one', { 'form-token': 'A'.repeat(43) }, {}],
    ['the right one, sent by another site', undefined, { 'sec-fetch-site': 'cross-site' }],
    ['the right one, sent by a sister site', undefined, { 'sec-fetch-site': 'same-site' }],
    ['the right one, sent by another site in an old browser', undefined, { origin: 'https://evil.test' }],
  ])('%s does not sign out, nor show a token', async (_, form, headers) => {
    const browser = await signedIn();
    const right = { 'form-token': fieldOf(String((await browser.get('/ui')).body), 'form-token') };
    for (const to of ['/ui/sign-out', '/ui/token']) {
      const answer = await browser.post(to, form ?? right, headers);
      expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('This form is out of date') });
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a form token of another session does not fit', async () => {
    const [mine, other] = [await signedIn(), await signedIn()];
    const foreign = fieldOf(String((await other.get('/ui')).body), 'form-token');
    expect((await mine.post('/ui/sign-out', { 'form-token': foreign })).status).toBe(400);
    expect(await isSignedIn(mine)).toBe(true);
  });

  test('an old browser signs out from the page, whether it sends its origin or hides it', async () => {
    for (const origin of ['null', harness.appliance.url]) {
      const browser = await signedIn();
      const form = { 'form-token': fieldOf(String((await browser.get('/ui')).body), 'form-token') };
      expect((await browser.post('/ui/sign-out', form, { origin })).status).toBe(200);
      expect(await isSignedIn(browser)).toBe(false);
    }
  });

  test('GET does not sign out; without a session the page is the same', async () => {
    const browser = await signedIn();
    expect((await browser.get('/ui/sign-out')).status).toBe(405);
    expect(await isSignedIn(browser)).toBe(true);
    expect(textOf((await harness.browser().post('/ui/sign-out', {})).body)).toContain('You are signed out');
  });

  test('POST /v1/logout ends the caller’s token at once', async () => {
    const browser = await signedIn();
    const token = await shownToken(browser);
    expect((await harness.appliance.request('POST', '/v1/logout', {}, { token })).status).toBe(204);
    expect(await works(token)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('the value of the cookie is no bearer token: nothing on /v1 accepts it, nor does logging out', async () => {
    const browser = await signedIn();
    const token = browser.cookies.get(sessionCookie);
    const tried = [
      ['POST', '/v1/state/keystore/token/info'],
      ['POST', '/v1/state/keystore/token/refresh'],
      ['POST', '/v1/logout'],
      ['GET', '/v1/config/tenants'],
      ['GET', '/v1/state/topics/system:logs?follow=true'],
    ] as const;
    for (const [method, to] of tried) {
      const answer = await harness.appliance.request(method, to, method === 'POST' ? {} : undefined, { token });
      expect([to, answer.status, answer.body.code]).toEqual([to, 401, 'invalid-token']);
    }
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe('R63: the grant of a session is gone', () => {
  test('a deleted role ends the sessions it gave, at once, and no others', async () => {
    await harness.setRole('g2');
    const [one, both] = [await signedIn(), harness.browser()];
    harness.provider.script = { person: { groups: ['g2', 'g1'] } };
    await both.login(harness.provider);
    const token = await shownToken(both);
    await harness.appliance.request('DELETE', `${service}/roles/g2`);
    expect([await isSignedIn(one), await isSignedIn(both), await works(token)]).toEqual([true, false, false]);
  });

  test('a role that loses a policy ends the sessions it gave, one that gains one does not', async () => {
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['root', 'user'] });
    const browser = await signedIn();
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['root', 'user', 'more'] });
    expect(await isSignedIn(browser)).toBe(true);
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
    expect(await isSignedIn(browser)).toBe(false);
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
  });

  test('one that gains a policy by which others are narrowed ends them, too', async () => {
    for (const [name, effect] of Object.entries({ broad: 'allow', narrow: 'reject' }))
      await harness.appliance.request('POST', '/v1/config/policy/policies', {
        name,
        'rest-api': { rules: [{ path: name === 'broad' ? '/v1/**' : '/v1/config/**', operations: { all: effect } }] },
      });
    const mapped = { 'claim-mappings': { email: 'username' } };
    await harness.setRole('g1', { ...mapped, 'token-policies': ['broad'] });
    const token = await shownToken(await signedIn());
    await harness.setRole('g1', { ...mapped, 'token-policies': ['broad', 'user'] });
    expect(await works(token)).toBe(false);
    const another = await shownToken(await signedIn());
    await harness.setRole('g1', { ...mapped, 'token-policies': ['broad', 'user', 'default'] });
    expect(await works(another)).toBe(true);
    await harness.setRole('g1', { ...mapped, 'token-policies': ['broad', 'user', 'default', 'narrow'] });
    expect(await works(another)).toBe(false);
    await harness.setRole('g1', mapped);
  });

  test('a deleted service ends all its sessions', async () => {
    const browser = await signedIn();
    const token = await shownToken(browser);
    await harness.appliance.request('DELETE', service);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await works(token)).toBe(false);
    await harness.setService();
    await harness.setRole('g1');
  });

  test('policies are looked up at each use', async () => {
    const policy = {
      name: 'look',
      'rest-api': {
        rules: [
          { path: '/v1/config/tenants/**', operations: { read: 'allow' } },
          { path: '/v1/config/tenants', operations: { read: 'allow' } },
        ],
      },
    };
    expect((await harness.appliance.request('POST', '/v1/config/policy/policies', policy)).status).toBe(201);
    await harness.setRole('g1', { 'token-policies': ['look'] });
    const token = await shownToken(await signedIn());
    const read = async (): Promise<number> => (await harness.appliance.request('GET', '/v1/config/tenants', undefined, { token })).status;
    expect(await read()).toBe(200);
    await harness.appliance.request('PUT', '/v1/config/policy/policies/look', { 'rest-api': { rules: [] } });
    expect(await read()).toBe(403);
  });
});
