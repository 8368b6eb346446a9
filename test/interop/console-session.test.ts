// The end of a session in the console, and what changes under a form, in Chromium: warned before, ended when nobody answers, pointed out when
// somebody else signs in, compared when somebody else saved, and confirmed where nothing takes it back.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { expectAccessible, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
let appliance: TestAppliance;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path() });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

async function makeToken(): Promise<{ readonly token: string; readonly accessor: string }> {
  return (await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['root'], ttl: '8h' })).body as never;
}

/** A page whose clock is moved by the test; that of the appliance stays. */
async function openWithClock(token: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const { context, page } = await openPage(chromium);
  await page.clock.install();
  await signInWithToken(page, appliance.url, token);
  await page.goto(`${appliance.url}/ui${keys}?do=create`);
  await page.fill('#field-name', 'half-typed');
  await page.waitForSelector('.account bdi');
  return { page, close: () => context.close() };
}

describe.skipIf(chromiumPath === undefined)('a session that nobody uses', () => {
  test('is announced before its end, and goes on for who is still here', async () => {
    const { page, close } = await openWithClock((await makeToken()).token);
    await page.clock.runFor('28:30');
    await page.waitForSelector('dialog:has-text("This session ends soon")');
    await picture(page, 'light', 'session-ends');
    await expectAccessible(page);
    await page.click('button:has-text("Still here")');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.clock.runFor('05:00');
    expect(await page.locator('dialog').count()).toBe(0);
    expect(await page.inputValue('#field-name')).toBe('half-typed');
    await close();
  });

  test('is ended at the appliance when nobody answers, and what was typed stays', async () => {
    const { token } = await makeToken();
    const { page, close } = await openWithClock(token);
    const ended = page.waitForResponse((response) => response.url().endsWith('/ui/sign-out-of-console'));
    await page.clock.runFor('30:30');
    expect((await ended).status()).toBe(200);
    await page.waitForSelector('dialog:has-text("Sign in again")');
    expect(await page.inputValue('#field-name')).toBe('half-typed');
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('what was on a page', () => {
  const material = 'c2VjcmV0IG9mIHRoZSBrZXk=';
  const isReadable = (page: Page) => page.evaluate<boolean>(`document.body.innerText.includes('${material}')`);
  const isThere = (page: Page) => page.evaluate<boolean>(`document.documentElement.outerHTML.includes('${material}')`);

  /** A second tab, in which a decrypted text is read. */
  async function openSecret(page: Page): Promise<Page> {
    await appliance.request('POST', keys, { name: 'read' });
    const state = `${keys.replace('config', 'state')}/read`;
    const { ciphertext } = (await appliance.request('POST', `${state}/encrypt`, { plaintext: material })).body as { ciphertext: string };
    const other = await page.context().newPage();
    await other.goto(`${appliance.url}/ui${state}/decrypt`);
    await other.fill('#field-ciphertext', ciphertext);
    await other.click('form button[type=submit]');
    await other.click('section[aria-label=Answer] button:has-text("Show")');
    expect(await isReadable(other)).toBe(true);
    return other;
  }

  test('is gone from every tab when the person signs out in one, even where the appliance does not answer any more', async () => {
    for (const isAway of [false, true]) {
      const { context, page } = await openPage(chromium);
      await signInWithToken(page, appliance.url, (await makeToken()).token);
      const tabs = [page, await openSecret(page), await openSecret(page)];
      await page.bringToFront();
      if (isAway) await context.setOffline(true);
      await page.click('button:has-text("Sign out")');
      for (const tab of tabs) await expect.poll(() => isThere(tab).catch(() => true)).toBe(false);
      if (!isAway) for (const tab of tabs) await tab.waitForURL('**/ui/sign-in');
      for (const tab of tabs.slice(1)) {
        for (let press = 0; press < 3; press++) await tab.keyboard.press('Escape');
        if (!isAway) await tab.goBack().catch(() => undefined);
        expect(await isThere(tab).catch(() => false)).toBe(false);
      }
      await context.close();
    }
  });

  test('is out of sight when the session ends, and no key brings it back; what was typed is there after the next sign-in', async () => {
    const { context, page } = await openPage(chromium);
    const { token, accessor } = await makeToken();
    await signInWithToken(page, appliance.url, token);
    const other = await openSecret(page);
    await other.fill('#field-ciphertext', 'half-typed');
    await page.bringToFront();
    await appliance.request('POST', '/v1/state/keystore/token/disable', { accessor });
    // Nobody has told that tab: it asks when it is looked at.
    await other.bringToFront();
    await other.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await other.waitForSelector('dialog:has-text("Sign in again")');
    for (let press = 0; press < 3; press++) {
      await other.keyboard.press('Escape');
      // The browser closes the dialog and tells the page later, which opens it again: there is nothing to read in between.
      expect([await isReadable(other), await isThere(other)]).toEqual([false, false]);
    }
    await other.waitForSelector('dialog:has-text("Sign in again")');
    await signInWithToken(page, appliance.url, (await makeToken()).token);
    await other.waitForSelector('dialog', { state: 'detached' });
    expect(await other.inputValue('#field-ciphertext')).toBe('half-typed');
    expect(await isThere(other)).toBe(false);
    await context.close();
  });

  test('does not come back out of the browser’s cache of pages', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, appliance.url, (await makeToken()).token);
    const other = await openSecret(page);
    await other.goto(`${appliance.url}/v1/docs`);
    await page.bringToFront();
    await page.click('button:has-text("Sign out")');
    await page.waitForURL('**/ui/sign-in');
    await other.goBack();
    await other.waitForURL('**/ui/sign-in*');
    expect(await isThere(other)).toBe(false);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('a form', () => {
  test('that another person goes on with says so first', async () => {
    const { context, page } = await openPage(chromium);
    const first = await makeToken();
    await signInWithToken(page, appliance.url, first.token);
    await page.goto(`${appliance.url}/ui${keys}?do=create`);
    await page.fill('#field-name', 'of-the-first');
    await page.waitForSelector('.account bdi');
    const roles = '/v1/config/keystore/authentication/approles';
    expect((await appliance.request('POST', roles, { name: 'somebody-else', 'token-policies': ['root'] })).status).toBe(201);
    const state = `${roles.replace('config', 'state')}/somebody-else`;
    const roleId = String((await appliance.request('GET', state)).body['role-id']);
    const secretId = String((await appliance.request('POST', `${state}/generate-secret-id`, {})).body['secret-id']);
    await appliance.request('POST', '/v1/state/keystore/token/disable', { accessor: first.accessor });
    await page.click('button:has-text("Create")');
    await page.waitForSelector('dialog:has-text("Sign in again")');
    const other = await context.newPage();
    await other.goto(`${appliance.url}/ui/sign-in`);
    await other.click('summary:has-text("With an approle")');
    await other.fill('#role-id', roleId);
    await other.fill('#secret-id', secretId);
    await other.click('details[open] button');
    await page.waitForSelector('dialog:has-text("You are somebody else now")');
    await picture(page, 'light', 'somebody-else');
    await expectAccessible(page);
    expect(await page.locator('dialog >> text=somebody-else').count()).toBeGreaterThan(0);
    await page.click('button:has-text("Go on here as somebody-else")');
    expect(await page.inputValue('#field-name')).toBe('of-the-first');
    await context.close();
  });

  test('that somebody else was quicker with shows what was, what is and what was to be', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, appliance.url, appliance.rootToken);
    await appliance.request('POST', keys, { name: 'raced' });
    await page.goto(`${appliance.url}/ui${keys}/raced?do=edit`);
    await page.fill('#field-min-encryption-version', '1');
    await appliance.request('PATCH', `${keys}/raced`, { 'min-encryption-version': 1, 'deletion-allowed': true });
    await page.click('button:has-text("Save")');
    await page.waitForSelector('h2:has-text("Changed by somebody else meanwhile")');
    const rows = await page.locator('section[aria-labelledby=meanwhile] tbody tr').allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, ' ').trim())).toEqual(
      expect.arrayContaining(['Deletion allowed false true not changed', 'Minimum encryption version 0 1 1']),
    );
    await picture(page, 'light', 'meanwhile');
    await expectAccessible(page);
    await context.close();
  });

  test('asks apart for what can never be taken back', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, appliance.url, appliance.rootToken);
    await page.goto(`${appliance.url}/ui${keys}?do=create`);
    await page.fill('#field-name', 'for-good');
    await page.click('summary:has-text("More settings")');
    await page.selectOption('#field-exportable', 'true');
    expect(await page.locator('form button[type=submit]').isDisabled()).toBe(true);
    await page.check('.check input');
    await expectAccessible(page);
    await page.click('button:has-text("Create")');
    await page.waitForSelector('h1:has-text("for-good")');
    await context.close();
  });
});
