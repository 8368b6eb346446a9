// The sign-in of a command line: asked for, finished and approved in a browser, delivered once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../../harness/appliance.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { fieldOf, pathOf, startOidcHarness, textOf, type Browser, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.provider.script = { person: { groups: ['g1'], email: 'eve@x.test' } };
});

type Asked = { readonly 'login-url': string; readonly 'user-code': string; readonly 'poll-token': string };

async function ask(fields: Readonly<Record<string, unknown>> = {}): Promise<Asked> {
  const answer = await harness.appliance.request(
    'POST',
    '/v1/oidc-login',
    { tenant: 'system', service: 'corp', ...fields },
    { token: undefined },
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Asked;
}

function poll(asked: Asked): Promise<Answer> {
  harness.clock.advance(2);
  return harness.appliance.request('POST', '/v1/oidc-login/poll', { 'poll-token': asked['poll-token'] }, { token: undefined });
}

/** The person signs in behind the URL, up to the confirmation page. */
async function signIn(asked: Asked, browser: Browser): Promise<string> {
  const begun = await browser.get(pathOf(asked['login-url']));
  expect(begun.status).toBe(303);
  const back = await browser.get(pathOf(harness.provider.authorize(String(begun.headers['location']))));
  expect(back.status, textOf(back.body)).toBe(303);
  return String(back.headers['location']);
}

async function decide(browser: Browser, at: string, decision: string): Promise<Answer> {
  const page = String((await browser.get(at)).body);
  return browser.post('/login/confirm', { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision });
}

describe('the whole way', () => {
  test('ask, sign in, compare, approve, poll', async () => {
    const asked = await ask();
    expect(asked).toMatchObject({
      'login-url': expect.stringMatching(`^${harness.appliance.url}/login/system/corp\\?request=`),
      interval: 2,
      'expires-in': 600,
    });
    expect(asked['user-code']).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await poll(asked)).toMatchObject({ status: 400, body: { code: 'authorization-pending', error: 'authorization_pending' } });

    const browser = harness.browser();
    const confirmation = await signIn(asked, browser);
    const text = textOf((await browser.get(confirmation)).body);
    for (const shown of [asked['user-code'], 'eve@x.test', 'system', '127.0.0.1', 'user']) expect(text).toContain(shown);
    expect((await poll(asked)).body.code).toBe('authorization-pending');

    expect(textOf((await decide(browser, confirmation, 'approve')).body)).toContain('Approved');
    const delivered = await poll(asked);
    expect(delivered).toMatchObject({
      status: 200,
      body: { token: expect.any(String), accessor: expect.any(String), policies: ['user'], 'expires-in': 28_800 },
    });
    const { token } = delivered.body as { token: string };
    const info = await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token });
    expect(info.body).toMatchObject({ user: 'eve@x.test', tenant: 'system', policies: ['user'] });
    expect(await poll(asked)).toMatchObject({ status: 400, body: { code: 'expired-token' } });
    expect(harness.loginRecords().at(-1)).toMatchObject({
      path: '/v1/oidc-login/poll',
      user: 'eve@x.test',
      accessor: delivered.body.accessor,
    });
    expect(harness.auditText()).not.toContain(token);
    expect(harness.auditText()).not.toContain(asked['poll-token']);
  });

  test('the browser of it gets no session', async () => {
    const browser = harness.browser();
    const confirmation = await signIn(await ask(), browser);
    await decide(browser, confirmation, 'approve');
    expect(browser.cookies.has('__Host-keystored-session')).toBe(false);
  });

  test('a token so made ends with POST /v1/logout and with its service', async () => {
    const [first, second] = [await ask(), await ask()];
    const tokens: string[] = [];
    for (const asked of [first, second]) {
      const browser = harness.browser();
      await decide(browser, await signIn(asked, browser), 'approve');
      tokens.push(String((await poll(asked)).body.token));
    }
    const works = async (token: string | undefined): Promise<boolean> =>
      (await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status === 200;
    expect(await Promise.all(tokens.map(works))).toEqual([true, true]);
    await harness.appliance.request('POST', '/v1/logout', {}, { token: tokens[0] });
    expect(await Promise.all(tokens.map(works))).toEqual([false, true]);
    await harness.appliance.request('DELETE', '/v1/config/keystore/authentication/oidc/corp');
    expect(await works(tokens[1])).toBe(false);
    await harness.setService();
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
  });
});

describe('no approval, no token', () => {
  test('a sign-in alone delivers nothing', async () => {
    const asked = await ask();
    await signIn(asked, harness.browser());
    for (let count = 0; count < 3; count += 1) expect((await poll(asked)).body.code).toBe('authorization-pending');
  });

  test('a denial ends it, once', async () => {
    const asked = await ask();
    const browser = harness.browser();
    expect(textOf((await decide(browser, await signIn(asked, browser), 'deny')).body)).toContain('Denied');
    expect((await poll(asked)).body).toMatchObject({ code: 'access-denied', error: 'access_denied' });
    expect((await poll(asked)).body.code).toBe('expired-token');
  });

  test('a sign-in without a role ends it too', async () => {
    const asked = await ask();
    harness.provider.script = { person: { groups: [] } };
    const browser = harness.browser();
    const begun = await browser.get(pathOf(asked['login-url']));
    expect((await browser.get(pathOf(harness.provider.authorize(String(begun.headers['location']))))).status).toBe(403);
    expect((await poll(asked)).body.code).toBe('access-denied');
  });

  test.each([
    ['no form token', { 'form-token': '' }, {}],
    ['a wrong form token', { 'form-token': 'A'.repeat(43) }, {}],
    ['another decision', { decision: 'maybe' }, {}],
    ['another site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['another request', { request: 'f'.repeat(64) }, {}],
  ])('%s approves nothing', async (_, fields, headers) => {
    const asked = await ask();
    const browser = harness.browser();
    const page = String((await browser.get(await signIn(asked, browser))).body);
    const right = { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision: 'approve' };
    expect((await browser.post('/login/confirm', { ...right, ...fields }, headers)).status).toBe(400);
    expect((await poll(asked)).body.code).toBe('authorization-pending');
  });

  test('another browser neither sees nor answers the question', async () => {
    const asked = await ask();
    const [mine, outsider] = [harness.browser(), harness.browser()];
    const confirmation = await signIn(asked, mine);
    await outsider.start();
    expect((await outsider.get(confirmation)).status).toBe(400);
    const page = String((await mine.get(confirmation)).body);
    const form = { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision: 'approve' };
    expect((await outsider.post('/login/confirm', form)).status).toBe(400);
    expect((await poll(asked)).body.code).toBe('authorization-pending');
  });

  test('an answer counts once, and a request is for one person', async () => {
    const asked = await ask();
    const browser = harness.browser();
    const confirmation = await signIn(asked, browser);
    const page = String((await browser.get(confirmation)).body);
    const form = { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision: 'deny' };
    await browser.post('/login/confirm', form);
    expect((await browser.post('/login/confirm', { ...form, decision: 'approve' })).status).toBe(400);
    expect((await harness.browser().get(pathOf(asked['login-url']))).status).toBe(400);
    expect((await poll(asked)).body.code).toBe('access-denied');
  });

  test('a second person who signs in for the same request gets nowhere', async () => {
    const asked = await ask();
    const [first, second] = [harness.browser(), harness.browser()];
    const begun = await second.get(pathOf(asked['login-url']));
    await signIn(asked, first);
    expect((await second.get(pathOf(harness.provider.authorize(String(begun.headers['location']))))).status).toBe(400);
  });
});

describe('the poll', () => {
  test('with an unknown token is answered as expired', async () => {
    const asked = { ...(await ask()), 'poll-token': 'A'.repeat(43) };
    expect(await poll(asked)).toMatchObject({ status: 400, body: { code: 'expired-token' } });
  });

  test('too fast is answered with slow-down', async () => {
    const asked = await ask();
    const again = (): Promise<Answer> =>
      harness.appliance.request('POST', '/v1/oidc-login/poll', { 'poll-token': asked['poll-token'] }, { token: undefined });
    await again();
    expect((await again()).body).toMatchObject({ code: 'slow-down', error: 'slow_down' });
    expect((await poll(asked)).body.code).toBe('authorization-pending');
  });

  test('ends after ten minutes, approved or not', async () => {
    const asked = await ask();
    const browser = harness.browser();
    await decide(browser, await signIn(asked, browser), 'approve');
    harness.clock.advance(600);
    expect((await poll(asked)).body.code).toBe('expired-token');
  });

  test('two concurrent polls: one gets the token', async () => {
    const asked = await ask();
    const browser = harness.browser();
    await decide(browser, await signIn(asked, browser), 'approve');
    const answers = await Promise.all([poll(asked), poll(asked), poll(asked)]);
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 400, 400]);
  });

  test('a service changed after the approval delivers nothing', async () => {
    const asked = await ask();
    const browser = harness.browser();
    await decide(browser, await signIn(asked, browser), 'approve');
    await harness.appliance.request('PATCH', '/v1/config/keystore/authentication/oidc/corp', { 'display-name': 'Other' });
    expect((await poll(asked)).body.code).toBe('expired-token');
  });

  test('a role deleted after the approval delivers nothing', async () => {
    const asked = await ask();
    const browser = harness.browser();
    await decide(browser, await signIn(asked, browser), 'approve');
    await harness.appliance.request('DELETE', '/v1/config/keystore/authentication/oidc/corp/roles/g1');
    expect((await poll(asked)).body.code).toBe('expired-token');
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
  });

  test('a policy taken from the role after the approval is not delivered', async () => {
    const asked = await ask();
    const browser = harness.browser();
    await decide(browser, await signIn(asked, browser), 'approve');
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': [] });
    expect((await poll(asked)).body.code).toBe('expired-token');
    await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
  });
});

function sendAsk(body: unknown): Promise<Answer> {
  return harness.appliance.request('POST', '/v1/oidc-login', body, { token: undefined });
}

describe('asking', () => {
  test.each([
    ['an unknown tenant', { tenant: 'nobody' }],
    ['an unknown service', { service: 'nothing' }],
  ])('%s is the same 404', async (_, fields) => {
    const answer = await harness.appliance.request(
      'POST',
      '/v1/oidc-login',
      { tenant: 'system', service: 'corp', ...fields },
      { token: undefined },
    );
    expect(answer).toMatchObject({ status: 404, body: { code: 'no-such-provider' } });
  });

  test('missing and unknown fields are refused', async () => {
    expect((await sendAsk({ tenant: 'system' })).body.code).toBe('missing-field');
    expect((await sendAsk({ tenant: 'system', service: 'corp', role: 'g1' })).body.code).toBe('unknown-field');
    expect((await sendAsk({ tenant: 'system', service: 7 })).body.code).toBe('invalid-value');
  });

  test('the login URL names the request, not the poll token', async () => {
    const asked = await ask();
    expect(asked['login-url']).not.toContain(asked['poll-token']);
    const id = new URL(asked['login-url']).searchParams.get('request') ?? '';
    expect((await poll({ ...asked, 'poll-token': id })).body.code).toBe('expired-token');
  });

  test('expired requests are dropped by the job', async () => {
    await ask();
    harness.clock.advance(601);
    for (const job of harness.appliance.jobs) await job.run(new AbortController().signal);
    harness.appliance.store.refresh();
    expect(harness.appliance.store.prefixed('oidc').table('hand-offs').count([])).toBe(0);
  });
});
