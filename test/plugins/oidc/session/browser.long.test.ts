// The sign-in pages in a real browser without JavaScript: a whole visit, a denial, two tabs, the error pages. Provider and appliance are different sites.
import type { Browser as Chromium, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../certified-provider.ts';
import { chromiumPath, launchChromium, signInAtProvider } from '../chromium.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;
let provider: CertifiedProvider;
let chromium: Chromium;
let context: BrowserContext;
let page: Page;

const at = (to: string): string => harness.appliance.url + to;
const text = (of: Page = page): Promise<string> => of.innerText('main');

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  beforeAll(async () => {
    harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
    const people = { eve: { name: 'Eve Adams', email: 'eve@x.test', groups: ['admins'] }, bob: { email: 'bob@x.test', groups: [] } };
    provider = await startCertifiedProvider({ directory: path(), redirectUris: [harness.redirectUri], people });
    const { issuer, ca, clientId, clientSecret } = provider;
    await harness.setService({ 'discovery-url': issuer, 'ca-certs': ca, 'client-id': clientId, 'client-secret': clientSecret });
    await harness.setRole('admins', { 'claim-mappings': { email: 'username', name: 'fullname' }, 'token-policies': ['user'] });
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium.close();
    await provider.close();
    await harness.close();
  });
  beforeEach(async () => {
    context = await chromium.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled: false });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  test('a whole visit by keyboard: tenant, provider, signed in, token, signed out', async () => {
    await page.goto(at('/login'));
    // The browser gives the focus a moment after the page has come.
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('system');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tenant=system/);
    await page.locator('a:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/interaction/);
    await signInAtProvider(page, 'eve');
    await page.waitForURL(at('/ui'));
    expect(await text()).toMatch(/Eve Adams[\s\S]*eve@x\.test[\s\S]*system[\s\S]*Corp sign-in[\s\S]*user/);
    const cookies = await context.cookies();
    expect(cookies.find(({ name }) => name === '__Host-keystored-session')).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      path: '/',
    });

    await page.click('text=Show an API token');
    const token = await page.innerText('[aria-label="API token"]');
    expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).body).toMatchObject({
      user: 'eve@x.test',
    });
    await page.reload();
    expect(page.url()).toBe(at('/ui'));
    await page.click('text=Sign out');
    expect(await text()).toContain('You are signed out');
    expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status).toBe(401);
    await page.goto(at('/ui'));
    expect(page.url()).toBe(at('/login'));
    await page.locator('a:focus').waitFor();
    expect(await page.innerText('a:focus')).toBe('Continue to system');
  });

  test('a denial: its meaning, the account, a reference to the log, and a link to another account', async () => {
    await page.goto(at('/login/system/corp'));
    harness.takeLog();
    await signInAtProvider(page, 'bob');
    await page.waitForURL(/oidc-callback/);
    expect(await text()).toContain('You have no role here');
    const reference = (await page.innerText('dd code')).trim();
    expect(harness.takeLog()).toMatchObject([{ fields: { reference, code: 'no-role' } }]);
    expect(await text()).toMatch(/Account\s+bob@x\.test\s+Tenant\s+system\s+Provider\s+Corp sign-in\s+Time\s+\d/);
    expect(await page.locator('a:has-text("Try again")').getAttribute('href')).toBe('/login?tenant=system');
    expect(await page.locator('a:has-text("Sign out at the identity provider")').getAttribute('href')).toContain(
      `${provider.issuer}/session/end?client_id=`,
    );
    await page.click('text=Use another account');
    await page.waitForURL(/interaction/);
    expect(await page.locator('input[name=login]').count()).toBe(1);
    await signInAtProvider(page, 'eve');
    await page.waitForURL(at('/ui'));
    expect(await text()).toContain('eve@x.test');
  });

  test('Enter continues where a page asks for a choice, and approves nothing', async () => {
    const asked = await harness.appliance.request('POST', '/v1/oidc-login', { tenant: 'system', service: 'corp' }, { token: undefined });
    const poll = async (): Promise<string> =>
      (await harness.appliance.request('POST', '/v1/oidc-login/poll', { 'poll-token': asked.body['poll-token'] }, { token: undefined }))
        .body.code;
    await page.goto(String(asked.body['login-url']));
    await signInAtProvider(page, 'eve');
    await page.waitForURL(/\/login\/confirm/);
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').count()).toBe(0);
    expect(await poll()).toBe('authorization-pending');
    // By keyboard the harmless button comes first.
    await page.keyboard.press('Tab');
    expect(await page.innerText(':focus')).toBe('Deny');
    const [deny, approve] = [
      await page.locator('button[value=deny]').boundingBox(),
      await page.locator('button[value=approve]').boundingBox(),
    ];
    expect({ y: deny?.y, height: deny?.height }).toEqual({ y: approve?.y, height: approve?.height });
    await page.keyboard.press('Enter');
    await expect.poll(text, { timeout: 10_000 }).toContain('Denied');
    await page.goto(at('/login/system/corp'));
    await page.waitForURL(at('/ui'));
    await page.keyboard.press('Enter');
    expect(page.url()).toBe(at('/ui'));
    expect(await page.locator(':focus').count()).toBe(0);
  });

  test('two tabs: both finish', async () => {
    const second = await context.newPage();
    await page.goto(at('/login/system/corp'));
    await second.goto(at('/login/system/corp'));
    await signInAtProvider(page, 'eve');
    await page.waitForURL(at('/ui'));
    await signInAtProvider(second, 'eve');
    await second.waitForURL(at('/ui'));
    expect(await text(second)).toContain('Eve Adams');
  });

  test('a callback of a login from another browser ends on an error page', async () => {
    const other = await chromium.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled: false });
    const victim = await other.newPage();
    let callback = '';
    page.on('request', (request) => (callback = request.url().includes('/oidc-callback') ? request.url() : callback));
    await page.goto(at('/login/system/corp'));
    await signInAtProvider(page, 'eve');
    await page.waitForURL(at('/ui'));
    await victim.goto(callback);
    expect(await text(victim)).toMatch(/expired|elsewhere/);
    expect((await other.cookies()).map(({ name }) => name)).not.toContain('__Host-keystored-session');
    await other.close();
  });

  test('the command line: compare, approve, delivered', async () => {
    const asked = await harness.appliance.request('POST', '/v1/oidc-login', { tenant: 'system', service: 'corp' }, { token: undefined });
    await page.goto(String(asked.body['login-url']));
    await signInAtProvider(page, 'eve');
    await page.waitForURL(/\/login\/confirm/);
    expect(await text()).toContain(asked.body['user-code']);
    await page.click('button[value=approve]');
    expect(await text()).toContain('Approved');
    const delivered = await harness.appliance.request(
      'POST',
      '/v1/oidc-login/poll',
      { 'poll-token': asked.body['poll-token'] },
      { token: undefined },
    );
    expect(delivered).toMatchObject({ status: 200, body: { policies: ['user'] } });
  });

  test('no page loads anything, and the policy blocks nothing of the page', async () => {
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('request', (request) => requests.push(request.url()));
    for (const to of ['/login', '/login?tenant=system', '/login?tenant=nobody', '/oidc-callback?state=x']) {
      await page.goto(at(to));
      expect(await page.evaluate('getComputedStyle(document.querySelector("main")).borderTopStyle')).toBe('solid');
    }
    expect(complaints.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
    expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(4);
  });
});
