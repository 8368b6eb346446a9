// Every view of the console by every role, over the real daemon in Chromium: nothing is asked for that is refused, no script fails, axe finds
// nothing, nothing has to be scrolled sideways on a phone or at 200 % zoom, and nothing is lost there.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { authorities, authorityStates, furnish, keys, keyStates, policies, views } from './console-furnished.ts';
import { findingsOf, looks, offeredOn, openPage, overflowOf, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
type Role = {
  readonly token: () => string;
  readonly serial: () => string;
  /** the pages that the navigation begins with */
  readonly pages: readonly string[];
  /** views that this role has no address of */
  readonly without?: readonly string[];
};

const forAll = ['Overview', 'May they do this?', 'Approvals'];
const access = [
  'Sign-in services',
  'Applications',
  'Workloads',
  'Certificate logins',
  'Policies',
  'May they do this?',
  'Sessions and tokens',
];
const keyPages = ['Keys', 'KMIP clients', 'KMIP spaces'];
const forOwners = ['Overview', ...keyPages, 'Authorities', 'All certificates', ...access, 'Approvals', 'Approval rules', 'Audit trail'];
const machine = ['HSM', 'Backups', 'Cluster', 'Updates', 'Findings', 'Log', 'Shipping'];
const forSystem = [
  'Overview',
  ...keyPages,
  'Authorities',
  'All certificates',
  ...access,
  'Approvals',
  'Approval rules',
  'Tenants',
  'Audit trail',
  'Signed heads',
  ...machine,
];
const forRoot = [...forSystem, 'Seal'];

const roles: Readonly<Record<string, Role>> = {
  root: { token: () => daemon.rootToken, serial: () => serial, pages: forRoot },
  'tenant admin': {
    token: () => tokens.tenantAdmin,
    serial: () => serialOfTenant,
    pages: forOwners,
    // The topic is for the tenant system alone, and so the page is not offered.
    without: ['log'],
  },
  'user with one key': { token: () => tokens.user, serial: () => serial, pages: forAll },
  auditor: { token: () => tokens.auditor, serial: () => serial, pages: forSystem },
  nobody: { token: () => tokens.nobody, serial: () => serial, pages: forAll },
};

let daemon: Daemon;
let chromium: Chromium;
let serial: string;
let serialOfTenant: string;
const tokens = { tenantAdmin: '', user: '', auditor: '', nobody: '' };

async function tokenWith(...granted: readonly string[]): Promise<string> {
  const made = await daemon.request('POST', '/v1/state/keystore/token/create', { policies: granted });
  return (made as { readonly token: string }).token;
}

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop' });
  const root = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: 'shop' })) as { readonly token: string };
  tokens.tenantAdmin = root.token;
  serial = await furnish(daemon, daemon.rootToken);
  serialOfTenant = await furnish(daemon, tokens.tenantAdmin);
  const rules = [
    { path: `${keys}/orders`, operations: { read: 'allow' } },
    { path: `${keyStates}/orders`, operations: { read: 'allow' } },
    { path: `${keyStates}/orders/encrypt`, operations: { execute: 'allow' } },
    { path: `${keyStates}/orders/decrypt`, operations: { execute: 'allow' } },
  ];
  await daemon.request('POST', policies, { name: 'orders-user', 'rest-api': { rules } });
  await daemon.request('POST', policies, {
    name: 'auditor',
    'rest-api': { rules: [{ path: '/v1/**', operations: { read: 'allow' } }] },
  });
  tokens.user = await tokenWith('orders-user');
  tokens.auditor = await tokenWith('auditor');
  tokens.nobody = await tokenWith();
  chromium = await launchChromium();
}, 180_000);

afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

const examined = new Set<string>();
const usual = { width: 1_280, height: 860 };
/** A window of the usual size at 200 %. */
const zoomed = { width: 640, height: 430 };

describe.skipIf(chromiumPath === undefined).each(Object.entries(roles))('%s', (role, { token, serial: ownSerial, pages, without = [] }) => {
  test('sees every view without a refused request, a fault, a finding of axe, or something lost at another width', async () => {
    const { context, page, faults } = await openPage(chromium, { viewport: usual });
    const traffic = watchTraffic(page);
    const found: string[] = [];
    await signInWithToken(page, daemon.url, token());
    await traffic.settled();
    expect(await page.locator('.main-pages a').allTextContents()).toEqual(pages);
    for (const [name, addressOf] of Object.entries(views)) {
      if (without.includes(name)) continue;
      await page.setViewportSize(usual);
      await page.goto(`${daemon.url}/ui${addressOf(ownSerial())}`);
      await traffic.settled();
      await picture(page, role.replaceAll(' ', '-'), name);
      const offered = await offeredOn(page);
      await page.setViewportSize(zoomed);
      const still = await offeredOn(page);
      const lost = [...offered].filter((one) => !still.has(one));
      found.push(
        ...lost.map((one) => `${name} at 200 %: without ${one}`),
        ...(await overflowOf(page)).map((one) => `${name} at 200 %: ${one}`),
      );
      await page.setViewportSize(looks.narrow.viewport);
      // What offers the same to two roles is looked at by axe once.
      const sight = [name, ...offered].join(' ');
      const findings = examined.has(sight) ? await overflowOf(page) : await findingsOf(page);
      examined.add(sight);
      found.push(...findings.map((one) => `${name} on a phone: ${one}`));
      await picture(page, `${role.replaceAll(' ', '-')}-phone`, name);
      found.push(...[...traffic.faults.splice(0), ...faults.splice(0)].map((one) => `${name}: ${one}`));
    }
    expect(found).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('what is offered', () => {
  test('of a key is what it can do and what the policies allow; the rest is named with its reason', async () => {
    const { context, page } = await openPage(chromium, { viewport: usual });
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, tokens.user);
    await page.fill('#key-name', 'orders');
    await page.click('button:has-text("Open")');
    await page.waitForSelector('h1:has-text("orders")');
    await traffic.settled();
    expect(await page.locator('nav[aria-label=Actions] a').allTextContents()).toEqual(['Encrypt', 'Decrypt']);
    await page.click('summary:has-text("that your policies refuse")');
    const refused = await page.locator('.actions dt').allTextContents();
    expect(refused).toContain('Rotate');
    expect(refused).not.toContain('Sign');
    expect(traffic.faults).toEqual([]);
    await context.close();
  });

  test('of a key that signs is no encryption, and of a CA each thing once', async () => {
    const { context, page } = await openPage(chromium, { viewport: usual });
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui${keys}/releases`);
    await traffic.settled();
    const actions = await page.locator('nav[aria-label=Actions] a').allTextContents();
    expect(actions).toEqual(expect.arrayContaining(['Sign', 'Verify', 'HMAC', 'Rotate', 'Trim', 'Import']));
    for (const one of ['Encrypt', 'Decrypt', 'Export', 'Backup', 'OpenPGP sign']) expect(actions).not.toContain(one);
    await page.goto(`${daemon.url}/ui${authorities}/devices`);
    await traffic.settled();
    const links = await page.locator('main .button').allTextContents();
    expect(links.filter((one) => /certificates/i.test(one))).toEqual(['Issued certificates']);
    expect(await page.locator('.trail a').allTextContents()).toEqual(['Overview', 'Certificate authorities']);
    await context.close();
  });

  test('marks the part that a page belongs to; a list counts what is too much for a cell, and what does not exist offers nothing', async () => {
    const { context, page } = await openPage(chromium, { viewport: usual });
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui${authorityStates}/devices/certificates`);
    await traffic.settled();
    expect(await page.locator('.main-pages [aria-current]').allTextContents()).toEqual(['Authorities']);
    await page.goto(`${daemon.url}/ui${policies}`);
    await traffic.settled();
    expect(await page.locator('tr:has-text("app-owner-tenant") td').last().textContent()).toMatch(/^Rules: \d+$/);
    await page.goto(`${daemon.url}/ui${keys}/no-such-key`);
    await page.waitForSelector('.problem:has-text("There is no transit key of this name")');
    expect(await page.locator('main .button, main button').count()).toBe(0);
    await context.close();
  });

  test('is behind the menu where the window is narrow, all of it', async () => {
    const { context, page } = await openPage(chromium, { viewport: zoomed });
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await traffic.settled();
    expect(await page.locator('.main-pages a').first().isVisible()).toBe(false);
    await page.click('button:has-text("Menu")');
    expect(await page.locator('.main-pages a:visible').allTextContents()).toEqual(forRoot);
    await page.click('.main-pages a:has-text("HSM")');
    await page.waitForSelector('h1:has-text("HSM")');
    expect(await page.locator('.main-pages a').first().isVisible()).toBe(false);
    await context.close();
  });
});
