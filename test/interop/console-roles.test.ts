// What the console offers to people with less than all policies: the views of CAs, HSM and operations by role, in Chromium.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { expectAccessible, openPage, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const authorities = '/v1/config/keystore/tls/ca';
let appliance: TestAppliance;
let chromium: Chromium;

type Rules = readonly { readonly path: string; readonly operations: Readonly<Record<string, 'allow'>> }[];

/** What each role may do, and what the pages then show and leave out. */
const roles: Readonly<Record<string, Rules>> = {
  'factory-engineer': [
    { path: '/v1/config/keystore/tls/**', operations: { read: 'allow' } },
    { path: '/v1/state/keystore/tls/**', operations: { read: 'allow' } },
  ],
  'hsm-reader': [{ path: '/v1/state/system/hsm', operations: { read: 'allow' } }],
  nobody: [{ path: '/v1/state/keystore/tokens', operations: { read: 'allow' } }],
};

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path() });
  expect((await appliance.request('POST', authorities, { name: 'plant' })).status).toBe(201);
  for (const [name, rules] of Object.entries(roles))
    expect((await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } })).status).toBe(201);
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

async function openAs(role: string): Promise<Awaited<ReturnType<typeof openPage>>> {
  const opened = await openPage(chromium);
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [role, 'default'] });
  await signInWithToken(opened.page, appliance.url, String(body.token));
  await opened.page.waitForLoadState('networkidle');
  return opened;
}

describe.skipIf(chromiumPath === undefined)('a person', () => {
  test('who may only read CAs sees them, and cannot create or revoke', async () => {
    const { context, page, faults } = await openAs('factory-engineer');
    await page.click('.main-pages a:has-text("Authorities")');
    await page.waitForSelector('h2:has-text("Hierarchy")');
    await page.waitForSelector('.button.off:has-text("Create")');
    expect(await page.locator('.main-pages >> text=HSM').count()).toBe(0);
    expect(await page.locator('.main-pages >> text=Backups').count()).toBe(0);
    await page.click('.tree a:has-text("plant")');
    await page.click('a:has-text("Issued certificates")');
    await page.waitForSelector('.empty:has-text("has not issued a certificate yet")');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('who may look at the HSM sees it, and is told which rule keeps the rotation from them', async () => {
    const { context, page } = await openAs('hsm-reader');
    await page.click('.main-pages a:has-text("HSM")');
    await page.waitForSelector('p:has-text("You may not rotate it")');
    await page.waitForSelector('p:has-text("Not allowed")');
    expect(await page.locator('button:has-text("Rotate")').count()).toBe(0);
    expect(await page.locator('button:has-text("Test now")').count()).toBe(0);
    await expectAccessible(page);
    await context.close();
  });

  test('who may see none of it is refused in the words of the API at its address', async () => {
    const { context, page } = await openAs('nobody');
    for (const to of ['/v1/state/system/hsm', '/v1/state/system/backup-status', '/v1/state/topics/system:logs', authorities]) {
      await page.goto(`${appliance.url}/ui${to}`);
      await page.waitForSelector('.problem');
      await expectAccessible(page);
    }
    await page.goto(`${appliance.url}/ui/v1/state/system/backup`);
    await page.waitForSelector('.notice:has-text("You may not take a backup")');
    expect(await page.locator('#passphrase').count()).toBe(0);
    await context.close();
  });

  test('without a mouse reaches a certificate authority and its enrolment by keys alone', async () => {
    const { context, page } = await openAs('factory-engineer');
    await page.goto(`${appliance.url}/ui${authorities}`);
    await page.waitForSelector('.tree a');
    const pressUntil = async (text: string): Promise<void> => {
      for (let pressed = 0; pressed < 80; pressed += 1) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate('document.activeElement?.textContent')) === text) return;
      }
      throw new Error(`no Tab leads to "${text}"`);
    };
    await pressUntil('Skip to the page');
    await page.keyboard.press('Enter');
    await pressUntil('plant');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("plant")');
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('H1');
    await page.waitForSelector('.fingerprint code');
    await pressUntil('Enrol a device');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Enrol a device")');
    await context.close();
  });
});
