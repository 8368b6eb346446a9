// Every page for people, checked by axe in light, dark and forced colours, on a desktop and on a phone, also for overflow.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fail } from '../../../core/base/errors.ts';
import { refusalPage } from '../../../core/http/pages/refusal.ts';
import { loginFailures, type FailureCode } from '../../../plugins/oidc/failures.ts';
import { confirmPage, decidedPage } from '../../../plugins/oidc/pages/confirm.ts';
import { failurePage, type FailureView } from '../../../plugins/oidc/pages/failure.ts';
import { providersPage, tenantPage } from '../../../plugins/oidc/pages/login.ts';
import { signedInPage, signedOutPage, tokenPage } from '../../../plugins/oidc/pages/signed-in.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { chromiumPath, launchChromium } from './chromium.ts';
import { startOidcHarness, type OidcHarness } from './harness.ts';

const path = temporaryDirectory();
// Resolved and not imported: it is a script for pages.
const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Where to write screenshots of all pages. */
const pictures = process.env['KEYSTORED_PAGE_PICTURES'];

const at = Temporal.Instant.from('2026-11-21T14:05:00Z');
const reference = '9f1c2d3e-4b5a-4c6d-8e7f-0123456789ab';
const publicUrl = 'https://keystore.example.com:4646';
const longName = 'a-tenant-with-a-name-as-long-as-names-of-tenants-may-be-'.repeat(3).slice(0, 127);

function failed(code: FailureCode, more: Partial<FailureView> = {}): unknown {
  const known = { tenant: 'acme', provider: 'Sign in with Contoso', account: 'eve.adams@contoso.example' };
  const view = { row: loginFailures[code], at, reference, retryPath: '/login?tenant=acme', publicUrl };
  return failurePage({ ...view, ...(code === 'no-such-provider' ? {} : known), ...more }).body;
}

const confirm = {
  userCode: 'BCDF-GHJK',
  username: 'eve.adams@contoso.example',
  tenant: 'acme',
  policies: ['user', 'app-owner-tenant'],
  clientIp: '192.0.2.17',
  userAgent: 'keystorectl/0.1.0',
  requestedAt: at,
  elsewhere: false,
  request: 'x',
  formToken: 'x',
};
const session = {
  username: 'eve.adams@contoso.example',
  fullname: 'Eve Adams',
  tenant: 'acme',
  provider: 'Sign in with Contoso',
  roles: ['0c3bd4f5-5a0e-4f4f-9c5e-6a5b1d3f2a10', 'operators'],
  policies: ['user', 'app-owner-tenant'],
  now: at,
  expires: at.add({ hours: 8 }),
  idleMinutes: 30,
  formToken: 'x',
};
const otherAccount = { otherAccountPath: '/login/acme/entra?prompt=select_account', providerSignOut: 'https://login.example/logout' };

const pages: Readonly<Record<string, unknown>> = {
  tenant: tenantPage('en', undefined, publicUrl).body,
  'tenant-german': tenantPage('de', 'acme', publicUrl).body,
  'tenant-again': tenantPage('en', 'acme', publicUrl).body,
  'tenant-long': tenantPage('en', longName, publicUrl).body,
  provider: providersPage('en', 'acme', [{ service: 'entra', displayName: 'Sign in with Contoso' }]).body,
  providers: providersPage('en', longName, [
    { service: 'entra', displayName: 'Sign in with Contoso' },
    { service: 'partners', displayName: 'Partners and suppliers of the whole group, with accounts of their own' },
  ]).body,
  'no-provider': failed('no-such-provider'),
  'no-role': failed('no-role', otherAccount),
  'no-role-command-line': failed('no-role', {
    ...otherAccount,
    forCommandLine: true,
    account: `${'long.'.repeat(30)}name@contoso.example`,
  }),
  expired: failed('login-expired'),
  'done-before': failed('login-expired', { continueAt: '/ui' }),
  elsewhere: failed('login-not-yours', { properAddress: `${publicUrl}/login` }),
  'signed-in': signedInPage(session).body,
  'signed-in-nothing': signedInPage({ ...session, fullname: undefined, roles: ['operators'], policies: [] }).body,
  token: tokenPage(reference, at.add({ hours: 8 }), 10).body,
  'signed-out': signedOutPage('https://login.example/logout', {}).body,
  confirm: confirmPage(confirm).body,
  'confirm-elsewhere': confirmPage({ ...confirm, elsewhere: true, userAgent: 'x'.repeat(80) }).body,
  approved: decidedPage(true).body,
  denied: decidedPage(false).body,
  'not-found': refusalPage(fail('not-found'), reference, at).body,
  sealed: refusalPage(fail('sealed'), reference, at).body,
  'internal-error': refusalPage(fail('internal-error'), reference, at).body,
};

const looks = {
  'light-desktop': { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  'dark-desktop': { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  'light-phone': { colorScheme: 'light', viewport: { width: 320, height: 640 } },
  'dark-phone': { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
  'forced-desktop': { colorScheme: 'dark', forcedColors: 'active', viewport: { width: 1280, height: 900 } },
} as const;

type Finding = { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[] };

describe.skipIf(chromiumPath === undefined)('pages', () => {
  let harness: OidcHarness;
  let chromium: Browser;

  beforeAll(async () => {
    harness = await startOidcHarness(path());
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium.close();
    await harness.close();
  });

  /** The findings of axe, and whether the page is wider than the screen, with details unfolded (only some of the API description's hundreds). */
  async function judge(page: Page, picture?: string): Promise<readonly string[]> {
    await page.evaluate('[...document.querySelectorAll("details")].slice(0, 20).forEach((details) => (details.open = true))');
    if (pictures !== undefined && picture !== undefined) await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
    await page.evaluate(axe);
    const { violations } = await page.evaluate<{ readonly violations: readonly Finding[] }>('axe.run()');
    const tooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)),
      ...(tooWide ? ['wider than the screen'] : []),
    ];
  }

  test.each(Object.entries(looks))('of sign-ins and refusals are without findings: %s', async (look, options) => {
    if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
    const context = await chromium.newContext(options);
    const page = await context.newPage();
    const findings: Record<string, readonly string[]> = {};
    for (const [name, markup] of Object.entries(pages)) {
      await page.setContent(String(markup));
      const found = await judge(page, `${name}-${look}`);
      if (found.length > 0) findings[name] = found;
    }
    await context.close();
    expect(findings).toEqual({});
  });

  test.each(['light-desktop', 'dark-phone'] as const)('of the API description are without findings: %s', async (look) => {
    const context = await chromium.newContext({ ...looks[look], ignoreHTTPSErrors: true, bypassCSP: true });
    const page = await context.newPage();
    for (const name of ['', '/oidc', '/policies', '/errors', '/find?text=role%20claim']) {
      await page.goto(`${harness.appliance.url}/v1/docs${name}`);
      expect(await judge(page)).toEqual([]);
    }
    await context.close();
  });
});
