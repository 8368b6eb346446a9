// The console in Chromium, over the real service: every way to sign in, lists, pages, forms and actions; axe in four looks; nothing runs
// that was put into names, and no request breaks the policy of the page.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser as Chromium, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plugins } from '../../appliance/plugins.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../plugins/oidc/certified-provider.ts';
import { chromiumPath, launchChromium, signInAtProvider } from '../plugins/oidc/chromium.ts';
import { startOidcHarness, type OidcHarness } from '../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
/** Set it to keep pictures of the pages there. */
const pictures = process.env['CONSOLE_PICTURES'];
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const keys = '/v1/config/keystore/transit-keys';

const looks = {
  light: { viewport: { width: 1280, height: 860 } },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 320, height: 640 } },
  'forced colours': { viewport: { width: 1280, height: 860 }, forcedColors: 'active' },
} as const;

let harness: OidcHarness;
let provider: CertifiedProvider;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 }, { plugins });
  const people = { eve: { name: 'Eve <img src=x onerror=alert(1)>', email: 'eve@example.com', groups: ['auditors'] } };
  provider = await startCertifiedProvider({ directory: path(), redirectUris: [harness.redirectUri], people });
  const { issuer, ca, clientId, clientSecret } = provider;
  await harness.setService({ 'discovery-url': issuer, 'ca-certs': ca, 'client-id': clientId, 'client-secret': clientSecret });
  const { appliance } = harness;
  const reader = {
    name: 'reader',
    'rest-api': {
      rules: [
        { path: '/v1/config/keystore/transit-keys/**', operations: { read: 'allow' } },
        { path: '/v1/config/keystore/transit-keys', operations: { read: 'allow' } },
      ],
    },
  };
  expect((await appliance.request('POST', '/v1/config/policy/policies', reader)).status).toBe(201);
  await harness.setRole('auditors', { 'claim-mappings': { email: 'username', name: 'fullname' }, 'token-policies': ['reader'] });
  expect(
    (await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot', 'token-policies': ['user'] })).status,
  ).toBe(201);
  chromium = await launchChromium();
});

afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await provider.close();
  await harness.close();
});

/** A page that notes every breach of its policy and every script error. */
async function openPage(
  options: Parameters<Chromium['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  const context = await chromium.newContext({ ...options, ignoreHTTPSErrors: true });
  const faults: string[] = [];
  await context.exposeFunction('noteFault', (text: string) => faults.push(text));
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => noteFault(`${e.violatedDirective} ${e.blockedURI}`))",
  );
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => void dialog.accept());
  return { context, page, faults };
}

/** The provider goes by the real time, and an ID token from the future is refused. */
function catchUp(): void {
  const { clock } = harness;
  clock.advance(Temporal.Now.instant().since(clock.now()).total('seconds'));
}

async function signIn(page: Page, token = harness.appliance.rootToken): Promise<void> {
  await page.goto(`${harness.appliance.url}/ui/sign-in`);
  await page.click('summary:has-text("With a token")');
  await page.fill('#token', token);
  await page.click('details[open] button');
  await page.waitForSelector('h1:has-text("Overview")');
}

async function picture(page: Page, look: string, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(join(pictures, look), { recursive: true });
  await page.screenshot({ path: join(pictures, look, `${name}.png`), fullPage: true });
}

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

describe.skipIf(chromiumPath === undefined).each(Object.entries(looks))('%s', (look, options) => {
  test('every kind of page has no finding of axe, is as wide as the window, and keeps to its policy', async () => {
    const { context, page, faults } = await openPage(options);
    await page.goto(`${harness.appliance.url}/ui/sign-in`);
    await picture(page, look, 'sign-in');
    await expectAccessible(page);
    await signIn(page);
    await page.waitForLoadState('networkidle');
    await picture(page, look, 'overview');
    await expectAccessible(page);
    await harness.appliance.request('POST', keys, { name: `key-of-${look.replace(' ', '-')}` });
    const key = `key-of-${look.replace(' ', '-')}`;
    for (const [name, to] of [
      ['list', keys],
      ['empty-list', '/v1/config/keystore/tls/ca'],
      ['create', `${keys}?do=create`],
      ['detail', `${keys}/${key}`],
      ['edit', `${keys}/${key}?do=edit`],
      ['delete', `${keys}/${key}?do=delete`],
      ['action', `/v1/state/keystore/transit-keys/${key}/encrypt`],
      ['health', '/v1/state/system/health'],
      ['nowhere', '/v1/config/keystore/no-such-thing'],
    ] as const) {
      await page.goto(`${harness.appliance.url}/ui${to}`);
      await page.waitForSelector('h1');
      await page.waitForLoadState('networkidle');
      await picture(page, look, name);
      await expectAccessible(page);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('signing in', () => {
  test('at the identity provider leads to the page that was asked for, and what the policies refuse is not offered', async () => {
    const { context, page, faults } = await openPage();
    catchUp();
    await harness.appliance.request('POST', keys, { name: 'orders' });
    await page.goto(`${harness.appliance.url}/ui${keys}`);
    await page.click('text=Sign in with your identity provider');
    await page.fill('#tenant', 'system');
    await page.click('button:has-text("Continue")');
    await page.click('a:has-text("Corp sign-in")');
    await signInAtProvider(page, 'eve');
    await page.waitForSelector('th >> text=orders');
    expect(new URL(page.url()).pathname).toBe(`/ui${keys}`);
    await page.waitForSelector('.button.off:has-text("Create")');
    expect(await page.locator('nav >> text=Tenants').count()).toBe(0);
    expect(await page.locator('header >> text=eve@example.com').count()).toBe(1);
    await page.click('button:has-text("Sign out")');
    await page.waitForURL(/session\/end|sign-in/);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('again at the identity provider, for an API token long after the first time, leads back to the account', async () => {
    const { context, page, faults } = await openPage();
    catchUp();
    await page.goto(`${harness.appliance.url}/ui`);
    await page.click('text=Sign in with your identity provider');
    await page.fill('#tenant', 'system');
    await page.click('button:has-text("Continue")');
    await page.click('a:has-text("Corp sign-in")');
    await signInAtProvider(page, 'eve');
    await page.click('header a:has-text("Account")');
    await page.waitForSelector('text=You are signed in.');
    harness.clock.advance(301);
    await page.click('button:has-text("Show an API token")');
    await page.click('a:has-text("Sign in again")');
    await signInAtProvider(page, 'eve');
    await page.waitForURL(/\/ui\/account$/);
    await page.click('button:has-text("Show an API token")');
    const token = (await page.locator('code[aria-label="API token"]').textContent()) ?? '';
    expect((await harness.appliance.request('GET', `${keys}?count=true`, undefined, { token })).status).toBe(200);
    await page.click('a:has-text("Done")');
    await page.waitForSelector('header >> text=eve@example.com');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('as an approle', async () => {
    const { context, page } = await openPage();
    const state = '/v1/state/keystore/authentication/approles/robot';
    const roleId = String((await harness.appliance.request('GET', state)).body['role-id']);
    const secretId = String((await harness.appliance.request('POST', `${state}/generate-secret-id`, {})).body['secret-id']);
    await page.goto(`${harness.appliance.url}/ui/sign-in`);
    await page.click('summary:has-text("With an approle")');
    await page.fill('#role-id', roleId);
    await page.fill('#secret-id', secretId);
    await page.click('details[open] button');
    await page.waitForSelector('header >> text=robot');
    await context.close();
  });

  test('a page that was opened by address has what its sibling knows; a browser with the cookie alone has nothing', async () => {
    const { context, page } = await openPage();
    await signIn(page);
    const sibling = await context.newPage();
    await sibling.goto(`${harness.appliance.url}/ui${keys}`);
    await sibling.waitForSelector('h1 bdi:text-is("Keys")');
    const stolen = await openPage();
    await stolen.context.addCookies(await context.cookies());
    await stolen.page.goto(`${harness.appliance.url}/ui${keys}`);
    await stolen.page.waitForSelector('dialog:has-text("Sign in again")');
    const answer = await stolen.page.request.get(`${harness.appliance.url}${keys}`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(answer.status()).toBe(401);
    await stolen.context.close();
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('forms', () => {
  test('make, change, use and delete a key, and the copied command is what was sent', async () => {
    const { context, page, faults } = await openPage();
    await signIn(page);
    await page.goto(`${harness.appliance.url}/ui${keys}?do=create`);
    await page.click('button:has-text("Create")');
    await page.waitForSelector('h2:has-text("Not sent yet")');
    await page.fill('#field-name', 'walk');
    await page.fill('#field-auto-rotate-rotate-after', '');
    await page.click('summary:has-text("More settings")');
    await page.selectOption('#field-deletion-allowed', 'true');
    await page.click('summary:has-text("Copy as command")');
    expect(await page.locator('pre[aria-label="Command for keystorectl"]').textContent()).toBe(
      'keystorectl create transit-keys walk --deletion-allowed=true',
    );
    await page.click('button:has-text("Create")');
    await page.waitForSelector('h1:has-text("walk")');
    await page.click('a:has-text("Edit")');
    await page.fill('#field-min-encryption-version', '1');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('h2:has-text("Settings")');
    expect((await harness.appliance.request('GET', `${keys}/walk`)).body).toMatchObject({
      'min-encryption-version': 1,
      'deletion-allowed': true,
    });
    await page.click('a:has-text("Encrypt")');
    await page.fill('#field-plaintext', 'hello');
    await page.click('button:has-text("Encrypt")');
    await page.waitForSelector('section[aria-label="Answer"] >> text=store:v1:');
    await page.goto(`${harness.appliance.url}/ui${keys}/walk?do=delete`);
    expect(await page.locator('form button[type=submit]').isDisabled()).toBe(true);
    await page.fill('#confirm-name', 'walk');
    await page.click('button:has-text("Delete")');
    await page.waitForSelector('h1 bdi:text-is("Keys")');
    expect((await harness.appliance.request('GET', `${keys}/walk`)).status).toBe(404);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('keep what was typed when the session ends, and send it after a new sign-in in another window', async () => {
    const { context, page } = await openPage();
    const { body } = await harness.appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['root'] });
    await signIn(page, String(body.token));
    await page.goto(`${harness.appliance.url}/ui${keys}?do=create`);
    await page.fill('#field-name', 'kept');
    // It ends while the form is on its way: a page that asks by itself may notice an earlier end before the form is sent.
    const isOfKeys = (url: URL): boolean => url.pathname.endsWith(keys);
    await page.route(isOfKeys, async (route) => {
      if (route.request().method() === 'POST')
        await harness.appliance.request('POST', '/v1/state/keystore/token/disable', { accessor: body.accessor });
      await route.continue();
    });
    await page.click('button:has-text("Create")');
    await page.waitForSelector('dialog:has-text("Sign in again")');
    await page.unroute(isOfKeys);
    const other = await context.newPage();
    await signIn(other);
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await page.inputValue('#field-name')).toBe('kept');
    await page.click('button:has-text("Create")');
    await page.waitForSelector('h1:has-text("kept")');
    await context.close();
  });

  test('say that somebody else changed the entry meanwhile, and keep what was typed', async () => {
    const { context, page } = await openPage();
    await signIn(page);
    await harness.appliance.request('POST', keys, { name: 'shared' });
    await page.goto(`${harness.appliance.url}/ui${keys}/shared?do=edit`);
    await page.selectOption('#field-deletion-allowed', 'true');
    await harness.appliance.request('PATCH', `${keys}/shared`, { 'min-encryption-version': 1 });
    await page.click('button:has-text("Save")');
    await page.waitForSelector('.problem');
    expect(await page.inputValue('#field-deletion-allowed')).toBe('true');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('h2:has-text("Settings")');
    expect((await harness.appliance.request('GET', `${keys}/shared`)).body).toMatchObject({
      'deletion-allowed': true,
      'min-encryption-version': 1,
    });
    await context.close();
  });
});

test.skipIf(chromiumPath === undefined)('markup of others is text, wherever it is shown', async () => {
  const { context, page, faults } = await openPage();
  await signIn(page);
  const hostile = '<img src=x onerror=alert(1)>';
  const policies = '/v1/config/policy/policies';
  expect(
    (
      await harness.appliance.request('POST', policies, {
        name: 'hostile',
        description: hostile,
        'rest-api': { rules: [{ path: '/v1/config/tenants', operations: { read: 'allow' } }] },
      })
    ).status,
  ).toBe(201);
  for (const to of [
    policies,
    `${policies}/hostile`,
    `${policies}/hostile?do=edit`,
    `${policies}/${encodeURIComponent(hostile)}`,
    `${keys}?after=${encodeURIComponent(hostile)}`,
  ]) {
    await page.goto(`${harness.appliance.url}/ui${to}`);
    await page.waitForSelector('h1');
    await page.waitForLoadState('networkidle');
    expect(await page.locator('main img').count()).toBe(0);
  }
  await page.goto(`${harness.appliance.url}/ui${policies}/hostile`);
  await page.waitForSelector(`text=${hostile}`);
  expect(faults).toEqual([]);
  await context.close();
});
