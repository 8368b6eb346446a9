// The callback: R22 to R30. No outbound call happens before state, browser and issuer are verified.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { pathOf, referenceOf, startOidcHarness, textOf, without, type OidcHarness } from '../harness.ts';
import { sendJson, startScriptedProvider, type ScriptedProvider } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;
let other: ScriptedProvider;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  other = await startScriptedProvider({ directory: path(), clock: harness.clock, name: 'other' });
  await harness.setService();
  await harness.setRole('g1');
  await harness.setService({}, other, 'other');
  await harness.setRole('g1', {}, 'other');
});
afterAll(async () => {
  await other.close();
  await harness.close();
});
beforeEach(() => {
  harness.provider.script = { person: { groups: ['g1'] } };
  other.script = { person: { groups: ['g1'] } };
  harness.takeLog();
});

/** Callback path and query of a new login, with changes to the query. */
async function callback(
  browser: ReturnType<OidcHarness['browser']>,
  change: (query: URLSearchParams) => void = () => undefined,
): Promise<string> {
  const url = new URL(harness.provider.authorize(await browser.start()));
  change(url.searchParams);
  return url.pathname + url.search;
}

/** The answer, and the number of outbound calls. */
async function outcome(run: () => Promise<{ status: number; body: unknown }>): Promise<{ status: number; text: string; calls: number }> {
  const before = harness.provider.requests.length + other.requests.length;
  const { status, body } = await run();
  return { status, text: textOf(body), calls: harness.provider.requests.length + other.requests.length - before };
}

describe('R22: state', () => {
  test.each([
    ['unknown', (query: URLSearchParams) => query.set('state', 'A'.repeat(43))],
    ['missing', (query: URLSearchParams) => query.delete('state')],
    ['empty', (query: URLSearchParams) => query.set('state', '')],
    ['cut by one character', (query: URLSearchParams) => query.set('state', (query.get('state') ?? '').slice(1))],
    ['very long', (query: URLSearchParams) => query.set('state', 'A'.repeat(6_000))],
  ])('%s is refused without a call', async (_, change) => {
    const browser = harness.browser();
    const to = await callback(browser, change);
    expect(await outcome(() => browser.get(to))).toMatchObject({ status: 400, text: expect.stringContaining('expired'), calls: 0 });
  });

  test('used is refused without a call', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    expect((await browser.get(to)).status).toBe(303);
    expect(await outcome(() => browser.get(to))).toMatchObject({ status: 400, calls: 0 });
  });

  test('expired is refused without a call, at ten minutes and not a second before', async () => {
    const browser = harness.browser();
    const [late, inTime] = [await callback(browser), await callback(browser)];
    harness.clock.advance(599);
    expect((await browser.get(inTime)).status).toBe(303);
    harness.clock.advance(1);
    expect(await outcome(() => browser.get(late))).toMatchObject({ status: 400, calls: 0 });
  });
});

describe('R23: the state is bound to the browser', () => {
  test('another browser gets a page, no call is made, and the first one can still finish', async () => {
    const [mine, outsider] = [harness.browser(), harness.browser()];
    const to = await callback(mine);
    await outsider.start();
    expect(await outcome(() => outsider.get(to))).toMatchObject({
      status: 400,
      text: expect.stringContaining('started elsewhere'),
      calls: 0,
    });
    expect(await outcome(() => harness.browser().get(to))).toMatchObject({ status: 400, calls: 0 });
    expect((await mine.get(to)).status).toBe(303);
  });

  test('the page names the address where sign-in works, when the browser used another one', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    const answer = await harness.browser().get(to);
    expect(String(answer.body)).not.toContain('Sign-in works at');
    await harness.setService({ 'allowed-redirect-uris': ['https://keys.example/oidc-callback'] }, other, 'other');
    const elsewhere = harness.provider.authorize(await browser.start('system', 'other'));
    expect(String((await harness.browser().get(`/oidc-callback${new URL(elsewhere).search}`)).body)).toContain(
      'href="https://keys.example/login"',
    );
    await harness.setService({}, other, 'other');
  });

  test('a repeated cookie counts as absent', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    const value = browser.cookies.get('__Host-keystored-login') ?? '';
    const cookie = `__Host-keystored-login=${value}; __Host-keystored-login=${value}`;
    expect((await harness.browser().get(to, { cookie })).status).toBe(400);
  });

  test('two tabs of one browser both finish', async () => {
    const browser = harness.browser();
    const [first, second] = [await callback(browser), await callback(browser)];
    expect((await browser.get(first)).status).toBe(303);
    expect((await browser.get(second)).status).toBe(303);
  });
});

test('R24: two identical callbacks at once make exactly one token request', async () => {
  const browser = harness.browser();
  const to = await callback(browser);
  const before = harness.provider.requestsTo('/token').length;
  const answers = await Promise.all([browser.get(to), browser.get(to), browser.get(to)]);
  expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([303, 400, 400]);
  expect(harness.provider.requestsTo('/token')).toHaveLength(before + 1);
});

describe('R25: iss', () => {
  test.each([
    ['another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.test')],
    ['the issuer with a slash', (query: URLSearchParams) => query.set('iss', `${query.get('iss')}/`)],
    ['an empty one', (query: URLSearchParams) => query.set('iss', '')],
    ['none, though the metadata promises it', (query: URLSearchParams) => query.delete('iss')],
  ])('%s is refused without a call', async (_, change) => {
    const browser = harness.browser();
    const to = await callback(browser, change);
    expect(await outcome(() => browser.get(to))).toMatchObject({ status: 400, text: expect.stringContaining('cannot be used'), calls: 0 });
  });

  test('no iss is accepted where the metadata does not promise it; a wrong one is not', async () => {
    harness.provider.script = {
      person: { groups: ['g1'] },
      metadata: (metadata) => without(metadata, 'authorization_response_iss_parameter_supported'),
    };
    await harness.setService();
    const browser = harness.browser();
    expect((await browser.get(await callback(browser, (query) => query.delete('iss')))).status).toBe(303);
    expect((await browser.get(await callback(browser, (query) => query.set('iss', 'https://evil.test')))).status).toBe(400);
    harness.provider.script = {};
    await harness.setService();
  });
});

describe('R26: parameters', () => {
  test.each([
    ['state twice', 'state', undefined],
    ['code twice', 'code', 'x'],
    ['iss twice', 'iss', 'x'],
    ['an id_token', 'id_token', 'a.b.c'],
    ['a token', 'token', 'x'],
    ['an access_token', 'access_token', 'x'],
    ['a response', 'response', 'a.b.c'],
  ])('%s is refused without a call', async (_, name, value) => {
    const browser = harness.browser();
    const to = await callback(browser, (query) => query.append(name, value ?? query.get(name) ?? ''));
    expect(await outcome(() => browser.get(to))).toMatchObject({ status: 400, calls: 0 });
  });

  test('additional parameters of providers are ignored', async () => {
    const browser = harness.browser();
    const to = await callback(browser, (query) => {
      for (const [name, value] of [
        ['session_state', 'x'],
        ['scope', 'openid'],
        ['authuser', '0'],
        ['hd', 'example.com'],
        ['prompt', 'none'],
      ] as const)
        query.set(name, value);
    });
    expect((await browser.get(to)).status).toBe(303);
  });

  test('no code and no error is refused', async () => {
    const browser = harness.browser();
    expect((await browser.get(await callback(browser, (query) => query.delete('code')))).status).toBe(400);
  });
});

const withError =
  (error: string, description = '') =>
  (query: URLSearchParams) => {
    query.delete('code');
    query.set('error', error);
    if (description !== '') query.set('error_description', description);
  };

describe('R27: errors of the provider', () => {
  test.each([
    ['access_denied', 403, 'provider-denied'],
    ['login_required', 403, 'provider-denied'],
    ['consent_required', 403, 'provider-denied'],
    ['server_error', 502, 'provider-error'],
    ['temporarily_unavailable', 502, 'provider-error'],
    ['invalid_scope', 502, 'service-misconfigured'],
    ['unauthorized_client', 502, 'service-misconfigured'],
    ['something_new', 502, 'provider-error'],
  ])('%s is a page without the provider’s text', async (error, status, code) => {
    const browser = harness.browser();
    const answer = await browser.get(await callback(browser, withError(error, 'words of the provider')));
    expect(answer.status).toBe(status);
    expect(String(answer.body)).not.toContain('words of the provider');
    expect(harness.takeLog()).toMatchObject([
      { fields: { code, stage: 'authorize', 'provider-error': error, 'provider-description': 'words of the provider' } },
    ]);
  });

  test('a description never becomes markup, and neither it nor the error forge log lines', async () => {
    const browser = harness.browser();
    const attack = `<script>alert(1)</script>\r\n{"level":"error"}\u001b[31m${'x'.repeat(5_000)}`;
    const answer = await browser.get(await callback(browser, withError(`access_denied"><img src=x onerror=alert(1)>${attack}`, attack)));
    expect(String(answer.body)).not.toMatch(/alert|onerror/);
    const [line] = harness.takeLog();
    const description = String(line?.fields['provider-description']);
    expect(description.length).toBeLessThanOrEqual(300);
    expect(JSON.stringify(line)).not.toMatch(/\\u001b|\\r|\\n/);
  });

  test('error_uri is not shown', async () => {
    const browser = harness.browser();
    const answer = await browser.get(
      await callback(browser, (query) => {
        withError('access_denied')(query);
        query.set('error_uri', 'https://evil.test/help');
      }),
    );
    expect(String(answer.body)).not.toContain('evil.test');
  });

  test('is read only after state, browser and iss: an error in another browser uses nothing up', async () => {
    const browser = harness.browser();
    const begun = harness.provider.authorize(await browser.start());
    const outsider = new URL(begun);
    withError('access_denied')(outsider.searchParams);
    expect((await harness.browser().get(pathOf(outsider.href))).status).toBe(400);
    outsider.searchParams.set('iss', 'https://evil.test');
    expect((await browser.get(pathOf(outsider.href))).status).toBe(400);
    expect((await browser.get(pathOf(begun))).status).toBe(303);
  });

  test.each([
    ['AADSTS65001: The user or administrator has not consented', /admin consent/],
    ['AADSTS50105: not assigned to a role', /not assigned/],
    ['AADSTS70011: invalid scope', /profile and email/],
  ])('%s becomes advice for the administrator', async (description, advice) => {
    const browser = harness.browser();
    await browser.get(await callback(browser, withError('access_denied', description)));
    expect(harness.takeLog()).toMatchObject([{ fields: { hint: expect.stringMatching(advice) } }]);
  });
});

describe('R28: providers cannot be mixed up', () => {
  test('a code of one provider never reaches the token endpoint of another', async () => {
    const browser = harness.browser();
    const honest = new URL(harness.provider.authorize(await browser.start('system', 'corp')));
    const attacked = new URL(other.authorize(await browser.start('system', 'other')));
    // The attacker's provider sends the honest code with its own state.
    attacked.searchParams.set('code', honest.searchParams.get('code') ?? '');
    const before = [harness.provider.requestsTo('/token').length, other.requestsTo('/token').length];
    expect((await browser.get(pathOf(attacked.href))).status).toBe(502);
    expect(harness.provider.requestsTo('/token')).toHaveLength(before[0] as number);
    expect(other.requestsTo('/token')).toHaveLength((before[1] as number) + 1);
  });

  test('the answer of one provider under the state of another is refused by iss, without a call', async () => {
    const browser = harness.browser();
    const begun = new URL(await browser.start('system', 'corp'));
    const answered = new URL(other.authorize(begun.href));
    expect(await outcome(() => browser.get(pathOf(answered.href)))).toMatchObject({ status: 400, calls: 0 });
  });

  test('a code with the challenge of another login is refused by the provider (PKCE)', async () => {
    const [mine, thief] = [harness.browser(), harness.browser()];
    const stolen = new URL(harness.provider.authorize(await mine.start())).searchParams.get('code') ?? '';
    const own = new URL(harness.provider.authorize(await thief.start()));
    own.searchParams.set('code', stolen);
    expect((await thief.get(pathOf(own.href))).status).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ fields: { reason: 'invalid_grant' } }]);
  });
});

describe('R29, R30: the answer', () => {
  test('R29: success redirects away from the URL with the code, uncached and without a referrer', async () => {
    const browser = harness.browser();
    const answer = await browser.get(await callback(browser));
    expect(answer.headers).toMatchObject({
      location: '/ui',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(String(answer.headers['content-security-policy'])).toContain("frame-ancestors 'none'");
    expect(answer.body).toBe('');
  });

  test('R30: HEAD, OPTIONS and POST use nothing up', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    for (const method of ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE']) {
      expect((await outcome(() => browser.send(method, to))).calls).toBe(0);
      expect((await browser.send(method, to)).status).toBe(405);
    }
    expect((await browser.get(to)).status).toBe(303);
  });

  test('every spelling of the path is the same path with one use', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    expect((await browser.get(to.replace('/oidc-callback', '/%6fidc-callback/'))).status).toBe(303);
    expect((await browser.get(to)).status).toBe(400);
  });

  test('a program that asks for JSON gets the same code as problem+json', async () => {
    const answer = await harness.browser().get('/oidc-callback?state=x&code=y', { accept: 'application/json' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'login-expired' } });
  });

  test('the reference on the page is that of the log (that of the audit trail: R67)', async () => {
    const browser = harness.browser();
    harness.takeLog();
    const answer = await browser.get(await callback(browser, (query) => query.set('error', 'access_denied')));
    const reference = referenceOf(answer.body);
    expect(reference).toMatch(/^[0-9a-f-]{36}$/);
    expect(harness.takeLog()).toMatchObject([{ fields: { reference } }]);
  });
});

test('a refused login causes no further calls to the provider', async () => {
  harness.provider.script = { respond: { '/token': (_request, response) => sendJson(response, { error: 'invalid_grant' }, 400) } };
  const browser = harness.browser();
  const to = await callback(browser);
  const before = harness.provider.requestsTo('/token').length;
  expect((await browser.get(to)).status).toBe(502);
  expect((await browser.get(to)).status).toBe(400);
  expect(harness.provider.requestsTo('/token')).toHaveLength(before + 1);
});
