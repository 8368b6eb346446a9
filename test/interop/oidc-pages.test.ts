// Every sign-in page in Chromium, wide and 320 px narrow, light and dark: it fits, it can be read, it can be used without a mouse.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser as Chromium, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCertifiedProvider, type CertifiedProvider } from '../plugins/oidc/certified-provider.ts';
import { chromiumPath, launchChromium, signInAtProvider } from '../plugins/oidc/chromium.ts';
import { startOidcHarness, type OidcHarness } from '../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
/** Set it to keep pictures of all pages there. */
const pictures = process.env['OIDC_PICTURES'];

const looks = {
  light: { viewport: { width: 900, height: 760 } },
  dark: { viewport: { width: 900, height: 760 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 320, height: 640 } },
  'narrow and dark': { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
} as const;

let harness: OidcHarness;
let provider: CertifiedProvider;
let chromium: Chromium;

describe.skipIf(chromiumPath === undefined).each(Object.entries(looks))('%s', (look, options) => {
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    harness = await startOidcHarness(path(look), { startsPerMinute: 5_000 });
    const groups = ['platform-administrators-of-the-whole-company', 'auditors'];
    const people = {
      eve: { name: 'Eve Adams', email: `eve.${'adams'.repeat(12)}@example.com`, groups },
      bob: { email: 'bob@x.test', groups: [] },
    };
    provider = await startCertifiedProvider({ directory: path(look), redirectUris: [harness.redirectUri], people });
    const { issuer, ca, clientId, clientSecret } = provider;
    const fields = { 'discovery-url': issuer, 'ca-certs': ca, 'client-id': clientId, 'client-secret': clientSecret };
    await harness.setService({ ...fields, 'display-name': 'Contoso Entra ID' });
    await harness.setService({ ...fields, 'display-name': 'W'.repeat(128) }, harness.provider, 'long');
    for (const role of groups)
      await harness.setRole(role, {
        'claim-mappings': { email: 'username', name: 'fullname' },
        'token-policies': ['user', `${role}-policy`],
      });
    chromium = await launchChromium();
    context = await chromium.newContext({ ...options, ignoreHTTPSErrors: true, javaScriptEnabled: false });
    page = await context.newPage();
  });
  afterAll(async () => {
    await chromium.close();
    await provider.close();
    await harness.close();
  });

  /** Nothing is wider than the window, texts stand out from their ground, and Tab reaches every control. */
  async function expectFit(name: string): Promise<void> {
    if (pictures !== undefined) {
      mkdirSync(join(pictures, look), { recursive: true });
      await page.screenshot({ path: join(pictures, look, `${name}.png`), fullPage: true });
    }
    const facts = await page.evaluate<{ overflow: number; weakest: number; unnamed: number; controls: number }>(measure);
    expect(facts.overflow).toBeLessThanOrEqual(0);
    // WCAG 2.2, success criterion 1.4.3
    expect(facts.weakest).toBeGreaterThanOrEqual(4.5);
    expect(facts.unnamed).toBe(0);
    const reached = new Set<string>();
    for (let presses = 0; presses <= facts.controls + 1; presses += 1) {
      await page.keyboard.press('Tab');
      reached.add(String(await page.evaluate('document.activeElement?.outerHTML')));
    }
    reached.delete(String(await page.evaluate('document.body.outerHTML')));
    expect(reached.size).toBeGreaterThanOrEqual(facts.controls);
  }

  test('every page', async () => {
    const at = (to: string): string => harness.appliance.url + to;
    for (const [name, to] of [
      ['tenant', '/login'],
      ['providers', '/login?tenant=system'],
      ['no-such-provider', '/login?tenant=nobody'],
      ['expired', '/oidc-callback?state=x'],
    ] as const) {
      await page.goto(at(to));
      await expectFit(name);
    }
    await page.goto(at('/login/system/corp'));
    await signInAtProvider(page, 'eve');
    await page.waitForURL(at('/ui'));
    await expectFit('signed-in');
    await page.click('text=Show an API token');
    await expectFit('token');
    await page.click('text=Done');
    await page.click('text=Sign out');
    await expectFit('signed-out');

    const asked = await harness.appliance.request('POST', '/v1/oidc-login', { tenant: 'system', service: 'corp' }, { token: undefined });
    await page.goto(String(asked.body['login-url']));
    await page.waitForURL(/\/login\/confirm/);
    await expectFit('confirm');
    await page.click('button[value=approve]');
    await expectFit('approved');

    await context.clearCookies();
    await page.goto(at('/login/system/corp'));
    await signInAtProvider(page, 'bob');
    await page.waitForURL(/oidc-callback/);
    await expectFit('no-role');
  });
});

/** Runs in the page, as text: how far it is too wide, the weakest contrast of a text, controls without a name, and their number. */
const measure = `(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const contrast = (element) => {
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const texts = [...document.querySelectorAll('body *')].filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''));
  const controls = [...document.querySelectorAll('a, button, input:not([type=hidden])')];
  const named = (control) => control.innerText?.trim() || control.labels?.length > 0 || control.getAttribute('aria-label');
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    weakest: Math.min(...texts.map(contrast)),
    unnamed: controls.filter((control) => !named(control)).length,
    controls: controls.length,
  };
})()`;
