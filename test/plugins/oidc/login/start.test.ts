// The start of a login: R3, R5, R10 to R21.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../../harness/appliance.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { pathOf, startOidcHarness, textOf, type Browser, type OidcHarness } from '../harness.ts';
import { sendJson } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000, pendingLoginsPerTenant: 20 });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = { person: { groups: ['g1'] } };
  await harness.setService();
  await harness.setRole('g1');
  harness.takeLog();
});

/** Avoids the client's check of Host against the certificate. */
function locationFor(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.headers.location ?? '');
    })
      .on('error', reject)
      .end();
  });
}

const binding = '__Host-keystored-login';

describe('the login page', () => {
  test('asks for the tenant, then shows a button per display name, sorted and escaped', async () => {
    await harness.setService({ 'display-name': 'A <b>bold</b> name' }, harness.provider, 'zulu');
    const browser = harness.browser();
    expect(textOf((await browser.get('/login')).body)).toMatch(/Tenant/);
    const page = String((await browser.get('/login?tenant=system')).body);
    const links = [...page.matchAll(/href="(\/login\/[^"]+)"/g)].map(([, link]) => link);
    expect(links).toEqual(['/login/system/zulu', '/login/system/corp']);
    expect(page).toContain('A &lt;b&gt;bold&lt;/b&gt; name');
    await harness.appliance.request('DELETE', '/v1/config/keystore/authentication/oidc/zulu');
  });

  test('R11: unknown tenant, tenant without providers and unknown service get one answer', async () => {
    await harness.appliance.request('POST', '/v1/config/tenants', { name: 'empty' });
    const browser = harness.browser();
    const answers = await Promise.all(
      ['/login?tenant=nobody', '/login?tenant=empty', '/login/nobody/corp', '/login/system/nothing'].map((to) => browser.get(to)),
    );
    const shapes = answers.map(({ status, body }) => ({ status, text: textOf(body).replace(/[0-9a-f-]{36}/, 'ID') }));
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect(shapes[0]).toMatchObject({ status: 404, text: expect.stringContaining('No sign-in provider here') });
  });

  test('without a provider it shows other logins, and what an administrator has to do', async () => {
    const text = textOf((await harness.browser().get('/login?tenant=nobody')).body);
    for (const said of [
      'keystorectl login approle \\ --url https://keys.test \\ --role-id',
      'keystorectl login token',
      'keystorectl create oidc',
    ])
      expect(text).toContain(said);
    expect(textOf((await harness.browser().get('/login')).body)).toContain('keystorectl login approle');
  });

  test('offers the tenant of the last sign-in that worked; the cookie holds its name, and no other value is accepted', async () => {
    const browser = harness.browser();
    harness.provider.script = { person: { groups: [] } };
    expect((await browser.login(harness.provider)).status).toBe(403);
    expect(browser.cookies.has('__Host-keystored-tenant')).toBe(false);
    harness.provider.script = { person: { groups: ['g1'] } };
    const answer = await browser.login(harness.provider);
    expect(answer.headers['set-cookie']).toContain(
      '__Host-keystored-tenant=system; Path=/; Max-Age=15552000; Secure; HttpOnly; SameSite=Lax',
    );
    const offered = async (to: string): Promise<boolean> => String((await browser.get(to)).body).includes('href="/login?tenant=system"');
    expect(await offered('/login')).toBe(true);
    expect(await offered('/login?tenant=')).toBe(false);
    for (const planted of ['Sys tem', '<b>', 'a'.repeat(129), '', '%2e']) {
      browser.cookies.set('__Host-keystored-tenant', planted);
      expect(String((await browser.get('/login')).body)).not.toContain('Continue to');
    }
    harness.provider.script = {};
  });

  test('R21: no parameter redirects the browser elsewhere', async () => {
    const browser = harness.browser();
    for (const name of ['return-to', 'next', 'redirect_uri', 'target_link_uri']) {
      expect((await browser.get(`/login?tenant=system&${name}=https://evil.example`)).status).toBe(400);
      expect((await browser.get(`/login/system/corp?${name}=https://evil.example`)).status).toBe(400);
    }
  });
});

describe('a sign-in that the provider starts (OpenID Connect Core section 4)', () => {
  test('iss of the service starts the same sign-in, and login_hint is passed to the provider', async () => {
    const asked = await askedFor(
      `?iss=${encodeURIComponent(harness.provider.issuer)}&login_hint=${encodeURIComponent('ann@example.com&x=1')}`,
    );
    expect(asked.get('login_hint')).toBe('ann@example.com&x=1');
    expect(asked.get('response_type')).toBe('code');
    expect((await askedFor()).has('login_hint')).toBe(false);
  });

  test('prompt=select_account is passed on, as login to providers that know only that; other values are refused', async () => {
    const promptAt = async (): Promise<string | null> => (await askedFor('?prompt=select_account')).get('prompt');
    expect(await promptAt()).toBe('select_account');
    expect((await askedFor()).has('prompt')).toBe(false);
    expect((await harness.browser().get('/login/system/corp?prompt=none')).status).toBe(400);
    for (const [supported, prompt] of [
      [['none', 'login', 'select_account'], 'select_account'],
      [['none', 'login', 'consent'], 'login'],
      [['none'], null],
    ] as const) {
      harness.provider.script = { metadata: (metadata) => ({ ...metadata, prompt_values_supported: supported }) };
      await harness.setService();
      expect(await promptAt()).toBe(prompt);
    }
  });

  test('a provider that refuses select_account gets login, once, for the same command line', async () => {
    const ask = { tenant: 'system', service: 'corp' };
    const { body } = await harness.appliance.request('POST', '/v1/oidc-login', ask, { token: undefined });
    const browser = harness.browser();
    const refusedWith = async (to: string): Promise<Answer> => {
      const { searchParams } = new URL(String((await browser.get(to)).headers['location']));
      const state = searchParams.get('state') ?? '';
      return browser.get(`/oidc-callback?${new URLSearchParams({ error: 'invalid_request', state, iss: harness.provider.issuer })}`);
    };
    const first = await refusedWith(`${pathOf(String(body['login-url']))}&prompt=select_account`);
    const again = String(first.headers['location']);
    expect([first.status, again]).toEqual([303, `/login/system/corp?prompt=login${new URL(body['login-url']).search.replace('?', '&')}`]);
    expect((await refusedWith(again)).status).toBe(502);
  });

  test('another issuer is an unknown provider, and the log says why', async () => {
    const answer = await harness.browser().get('/login/system/corp?iss=https://evil.example');
    expect(answer.status).toBe(404);
    expect(harness.takeLog()).toMatchObject([{ fields: { code: 'no-such-provider', reason: 'iss-mismatch' } }]);
  });
});

async function askedFor(query = ''): Promise<URLSearchParams> {
  return new URL(await harness.browser().start('system', 'corp', query)).searchParams;
}

describe('the redirect to the provider', () => {
  test('R12: code flow, response mode left alone', async () => {
    const asked = await askedFor();
    expect(asked.get('response_type')).toBe('code');
    expect(asked.has('response_mode')).toBe(false);
    expect(asked.get('client_id')).toBe(harness.provider.clientId);
  });

  test('R13: openid and the scopes of all roles, each once, in a stable order', async () => {
    await harness.setRole('g2', { 'oidc-scopes': ['groups', 'email', 'openid'] });
    expect((await askedFor()).get('scope')).toBe('openid profile email groups');
    expect((await askedFor()).get('scope')).toBe('openid profile email groups');
    await harness.appliance.request('DELETE', '/v1/config/keystore/authentication/oidc/corp/roles/g2');
  });

  test('R14, R15: state and nonce are new for each login and have 256 bits; the nonce is only in this URL', async () => {
    const [first, second] = [await askedFor(), await askedFor()];
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(Buffer.from(first.get(name) ?? '', 'base64url')).toHaveLength(32);
      expect(first.get(name)).not.toBe(second.get(name));
    }
    const texts = new Set([first.get('state'), first.get('nonce'), first.get('code_challenge')]);
    expect(texts.size).toBe(3);
    for (const text of texts) expect(harness.auditText()).not.toContain(text);
  });

  test('R16: PKCE S256 also when the metadata lists nothing or only plain', async () => {
    for (const methods of [undefined, ['plain']]) {
      harness.provider.script = { metadata: (metadata) => ({ ...metadata, code_challenge_methods_supported: methods }) };
      await harness.setService();
      const asked = await askedFor();
      expect(asked.get('code_challenge_method')).toBe('S256');
      expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    }
  });

  test('R16: the verifier that is sent to the token endpoint hashes to the challenge', async () => {
    const browser = harness.browser();
    const url = await browser.start();
    await browser.get(pathOf(harness.provider.authorize(url)));
    const sent = new URLSearchParams(harness.provider.requestsTo('/token').at(-1)?.body).get('code_verifier') ?? '';
    expect(createHash('sha256').update(sent).digest('base64url')).toBe(new URL(url).searchParams.get('code_challenge'));
  });

  test('R17: the redirect URI comes from the service, whatever Host and X-Forwarded-* say', async () => {
    const deceits = [
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
      { forwarded: 'host=evil.example;proto=http' },
    ];
    for (const headers of deceits) {
      const location = await locationFor(`${harness.appliance.url}/login/system/corp`, headers);
      expect(new URL(location).searchParams.get('redirect_uri')).toBe(harness.redirectUri);
    }
  });

  test('R18: the binding cookie', async () => {
    const answer = await harness.browser().get('/login/system/corp');
    const [cookie] = [answer.headers['set-cookie'] ?? []].flat();
    expect(cookie).toMatch(/^__Host-keystored-login=[\w-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/);
  });

  test('R18: keeps its value over logins of one browser, and replaces a planted one', async () => {
    const browser = harness.browser();
    await browser.start();
    const first = browser.cookies.get(binding);
    await browser.start();
    expect(browser.cookies.get(binding)).toBe(first);
    const planted = harness.browser();
    planted.cookies.set(binding, 'short');
    await planted.start();
    expect(planted.cookies.get(binding)).toMatch(/^[\w-]{43}$/);
  });

  test('R19: 303, not cached, no referrer, no secret in the URL', async () => {
    const answer = await harness.browser().get('/login/system/corp');
    expect(answer.status).toBe(303);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(answer.body).toBe('');
    const location = String(answer.headers['location']);
    expect([...new URL(location).searchParams.keys()].sort()).toEqual(
      ['client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri', 'response_type', 'scope', 'state'].sort(),
    );
    expect(location).not.toContain(encodeURIComponent(harness.provider.clientSecret));
  });

  test('HEAD starts nothing', async () => {
    expect(await harness.browser().send('HEAD', '/login/system/corp')).toMatchObject({ status: 405 });
  });
});

describe('the provider’s metadata', () => {
  test.each([
    ['R3: another issuer', (origin: string) => ({ issuer: `${origin}/other` }), 'issuer-mismatch'],
    ['R3: the issuer of somebody else', () => ({ issuer: 'https://evil.test' }), 'issuer-mismatch'],
    ['R5: no jwks_uri', () => ({ jwks_uri: undefined }), 'metadata-malformed'],
    ['R5: no token endpoint', () => ({ token_endpoint: undefined }), 'metadata-malformed'],
    ['R5: a token endpoint without TLS', () => ({ token_endpoint: 'http://idp.example/token' }), 'endpoint-not-https'],
    ['R5: a token endpoint at another host', () => ({ token_endpoint: 'https://elsewhere.example/token' }), 'endpoint-elsewhere'],
    ['R5: keys at another host', () => ({ jwks_uri: 'https://elsewhere.example/keys' }), 'endpoint-elsewhere'],
    [
      'R5: a token endpoint at another port of the host',
      (origin: string) => ({ token_endpoint: origin.replace(/:\d+$/, ':1/token') }),
      'endpoint-elsewhere',
    ],
    ['R5: an authorization endpoint that is a script', () => ({ authorization_endpoint: 'javascript:alert(1)' }), 'endpoint-not-https'],
    [
      'R31: no way to authenticate that we know',
      () => ({ token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }),
      'auth-method-not-supported',
    ],
  ])('%s makes the service unusable, before the browser leaves', async (_, change, reason) => {
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, ...change(harness.provider.origin) }) };
    await harness.setService();
    harness.takeLog();
    const answer = await harness.browser().get('/login/system/corp');
    expect(answer.status).toBe(502);
    expect(answer.headers['location']).toBeUndefined();
    expect(harness.takeLog()).toMatchObject([{ fields: { stage: 'discovery', reason, code: 'service-misconfigured' } }]);
  });

  test('R3: a slash at the end of the issuer is allowed, and then counts in the ID token', async () => {
    const issuer = `${harness.provider.origin}/`;
    harness.provider.script = {
      person: { groups: ['g1'] },
      metadata: (metadata) => ({ ...metadata, issuer }),
      callback: (parameters) => parameters.set('iss', issuer),
      claims: (claims) => ({ ...claims, iss: issuer }),
    };
    await harness.setService();
    expect((await harness.browser().login(harness.provider)).status).toBe(303);
    harness.provider.script = { ...harness.provider.script, claims: (claims) => ({ ...claims, iss: harness.provider.origin }) };
    expect((await harness.browser().login(harness.provider)).status).toBe(502);
  });

  test('R5: a token endpoint at another host is called where the service names that host', async () => {
    const token = `${harness.provider.origin.replace('localhost', '127.0.0.1')}/token`;
    const elsewhere = token.includes('127.0.0.1') ? token.replace('127.0.0.1', 'localhost') : token;
    const [host, other] = [new URL(elsewhere).host, 'other.example'];
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, token_endpoint: elsewhere }), person: { groups: ['g1'] } };
    await harness.setService({ 'provider-hosts': [other] });
    harness.takeLog();
    expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
    expect(JSON.stringify(harness.takeLog())).toContain('provider-hosts');
    await harness.setService({ 'provider-hosts': [other, host] });
    expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
  });

  test('R5: a service of a version without provider-hosts goes on with any host, and says so', async () => {
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, jwks_uri: 'https://elsewhere.example/keys' }) };
    await harness.setService();
    const { store } = harness.appliance;
    const services = store.prefixed('oidc').tenantTable<Record<string, unknown>>('services');
    const [entry] = [...services.entries([])].filter(([key]) => key.at(-1) === 'corp');
    const [key, { providerHosts: _, ...before }] = entry as [readonly string[], Record<string, unknown>];
    await store.write((transaction) => transaction.put(services, key, before));
    expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
    const state = '/v1/state/keystore/authentication/oidc/corp';
    expect(String((await harness.appliance.request('GET', state)).body.notices)).toMatch(/provider-hosts is not set/);
    const config = state.replace('state', 'config');
    expect((await harness.appliance.request('PATCH', config, { 'display-name': 'Corp' })).status).toBe(204);
    expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
    const secret = harness.provider.clientSecret;
    expect((await harness.appliance.request('PATCH', config, { 'provider-hosts': [], 'client-secret': secret })).status).toBe(204);
    expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
  });

  test('R5: endpoints on other hosts are legal', async () => {
    harness.provider.script = { metadata: (metadata) => ({ ...metadata, authorization_endpoint: 'https://accounts.example/auth?x=1' }) };
    await harness.setService();
    const url = new URL(await harness.browser().start());
    expect(url.origin).toBe('https://accounts.example');
    expect(url.searchParams.get('x')).toBe('1');
  });

  test.each([
    ['HTML', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 'service-misconfigured'],
    [
      'a redirect (R33)',
      (response: ServerResponse) => response.writeHead(302, { location: 'https://evil.test/' }).end(),
      'service-misconfigured',
    ],
    ['404', (response: ServerResponse) => response.writeHead(404).end(), 'service-misconfigured'],
    ['more than 1 MiB (R34)', (response: ServerResponse) => sendJson(response, { issuer: 'x'.repeat(1_100_000) }), 'provider-error'],
    ['a connection that breaks', (response: ServerResponse) => void response.destroy(), 'provider-error'],
  ])('%s instead of metadata is a page, not a fault', async (_, respond, code) => {
    harness.provider.script = { respond: { '/metadata': (_request, response) => respond(response) } };
    await harness.setService();
    harness.takeLog();
    expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
    expect(harness.takeLog()).toMatchObject([{ level: 'warn', fields: { code, stage: 'discovery' } }]);
  });

  test('is fetched again at once after a failure, and otherwise kept for five minutes', async () => {
    harness.provider.script = { respond: { '/metadata': (_request, response) => void response.writeHead(503).end() } };
    await harness.setService();
    expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
    harness.provider.script = {};
    const before = harness.provider.requestsTo('/.well-known/openid-configuration').length;
    await harness.browser().start();
    await harness.browser().start();
    expect(harness.provider.requestsTo('/.well-known/openid-configuration')).toHaveLength(before + 1);
    harness.clock.advance(301);
    await harness.browser().start();
    expect(harness.provider.requestsTo('/.well-known/openid-configuration')).toHaveLength(before + 2);
  });
});

describe('R20: logins under way are bounded', () => {
  test('a tenant over its limit loses the oldest one of the same address, and the one of another can be finished', async () => {
    const first = harness.browser();
    const other = harness.provider.authorize(await first.start());
    const browser = harness.browser();
    const started: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      harness.clock.advance(1);
      started.push(harness.provider.authorize(await browser.start()));
    }
    expect((await first.get(pathOf(other))).status).toBe(303);
    expect((await browser.get(pathOf(started[0] as string))).status).toBe(400);
    expect((await browser.get(pathOf(started.at(-1) as string))).status).toBe(303);
  });

  test('if every address has one, the oldest of the tenant is dropped', async () => {
    harness.clock.advance(601);
    const browsers = Array.from({ length: 21 }, () => harness.browser());
    const started: string[] = [];
    for (const browser of browsers) {
      harness.clock.advance(1);
      started.push(harness.provider.authorize(await browser.start()));
    }
    const ends = [0, 1, 20].map((index) => (browsers[index] as Browser).get(pathOf(started[index] as string)));
    expect((await Promise.all(ends)).map(({ status }) => status)).toEqual([400, 303, 303]);
  });

  test('expired ones are dropped by the job', async () => {
    await harness.browser().start();
    harness.clock.advance(601);
    for (const job of harness.appliance.jobs) await job.run(new AbortController().signal);
    harness.appliance.store.refresh();
    expect(harness.appliance.store.prefixed('oidc').table('pending-logins').count([])).toBe(0);
    expect(harness.appliance.store.prefixed('oidc').table('pending-places').count([])).toBe(0);
  });
});

describe('R10: changes while a login is under way', () => {
  const service = '/v1/config/keystore/authentication/oidc/corp';
  test.each([
    ['an edited service', () => harness.appliance.request('PATCH', service, { 'display-name': 'Edited' })],
    ['a deleted service', () => harness.appliance.request('DELETE', service)],
    [
      'a deleted and re-made service',
      async () => {
        await harness.appliance.request('DELETE', service);
        await harness.setService();
        await harness.setRole('g1');
      },
    ],
  ])('%s ends it cleanly, without a call to the provider', async (_, change) => {
    const browser = harness.browser();
    const back = harness.provider.authorize(await browser.start());
    await change();
    const before = harness.provider.requests.length;
    const answer = await browser.get(pathOf(back));
    expect(answer.status).toBe(400);
    expect(textOf(answer.body)).toContain('The sign-in settings have just changed');
    expect(harness.provider.requests).toHaveLength(before);
  });

  test('a deleted role simply no longer matches', async () => {
    const browser = harness.browser();
    const back = harness.provider.authorize(await browser.start());
    await harness.appliance.request('DELETE', `${service}/roles/g1`);
    expect((await browser.get(pathOf(back))).status).toBe(403);
  });

  test('a service edited during the exchange grants nothing', async () => {
    const keys = harness.provider.rotate();
    harness.provider.script = {
      ...harness.provider.script,
      respond: {
        '/jwks': async (_request, response) => {
          await harness.appliance.request('PATCH', service, { 'display-name': 'Edited in between' });
          sendJson(response, { keys: [keys.publicJwk] });
        },
      },
    };
    const browser = harness.browser();
    const answer = await browser.login(harness.provider);
    expect(textOf(answer.body)).toContain('The sign-in settings have just changed');
    expect((await browser.get('/ui')).status).toBe(303);
  });
});
