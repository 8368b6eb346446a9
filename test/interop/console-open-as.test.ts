// Opening a tenant in the console, in Chromium: with a reason, read-only, under a band of its own, and out again.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, openPage, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let chromium: Chromium;
let tenantRoot = '';

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path() });
  await appliance.request('POST', '/v1/config/tenants', { name: 'pay' });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create-root', { name: 'pay' });
  tenantRoot = (made.body as { token: string }).token;
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders-of-pay' }, { token: tenantRoot });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

const openings = async (): Promise<unknown[]> =>
  ((await appliance.request('GET', '/v1/state/open-as', undefined, { token: tenantRoot })).body as { openings: unknown[] }).openings;

describe.skipIf(chromiumPath === undefined)('open as', () => {
  test('asks for the reason, shows whose pages these are, offers no change, and ends with the page', async () => {
    const { context, page, faults } = await openPage(chromium, {});
    await signInWithToken(page, appliance.url, appliance.rootToken);
    const traffic = watchTraffic(page);
    await page.goto(`${appliance.url}/ui/v1/config/tenants/pay`);
    await page.waitForSelector('#open-as-reason');
    expect(await page.isDisabled('button:text-is("Open to read")')).toBe(true);
    await page.fill('#open-as-reason', 'case 4711: a key is not found');
    await appliance.request('POST', '/v1/state/open-as/allow', { allowed: true }, { token: tenantRoot });
    await page.click('button:text-is("Open to read")');
    await page.waitForSelector('.visit:has-text("You read the tenant pay")');
    expect(await openings()).toHaveLength(1);
    await page.click('nav a:text-is("Keys")');
    await page.waitForSelector('main a:has-text("orders-of-pay")');
    await page.waitForSelector('.account:has-text("system/root in pay")');
    await picture(page, 'light', 'open-as');
    await expectAccessible(page);
    expect(await page.locator('a:text-is("New key"):not([aria-disabled])').count()).toBe(0);
    expect(await page.locator('button:text-is("Sign out")').count()).toBe(0);
    await page.click('.visit button:text-is("Leave")');
    await page.waitForSelector('.account:has-text("root in system")');
    expect(await page.locator('.visit').count()).toBe(0);
    await expect.poll(openings).toEqual([]);
    expect([...faults, ...traffic.faults]).toEqual([]);
    await context.close();
  });

  test('a tenant that allows nothing says so, and the page stays', async () => {
    await appliance.request('POST', '/v1/state/open-as/allow', { allowed: false }, { token: tenantRoot });
    const { context, page } = await openPage(chromium, { colorScheme: 'dark' });
    await signInWithToken(page, appliance.url, appliance.rootToken);
    await page.goto(`${appliance.url}/ui/v1/config/tenants/pay`);
    await page.fill('#open-as-reason', 'case 4711: a key is not found');
    await page.click('button:text-is("Open to read")');
    await page.waitForSelector('[role=alert]:has-text("does not allow to be opened")');
    await expectAccessible(page);
    await context.close();
  });
});
