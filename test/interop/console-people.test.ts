// What people come for, in Chromium: who used a key, taking one out of use and back, times in one form, and nothing offered that cannot be done.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, openPage, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const keyStates = '/v1/state/keystore/transit-keys';
let appliance: TestAppliance;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path() });
  await appliance.request('POST', keys, { name: 'orders' });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

/** Walks as root from an address on, without a refused request; counts the clicks of the walk. */
async function walk(to: string, steps: (page: Page) => Promise<void>): Promise<void> {
  const { context, page, faults } = await openPage(chromium, { timezoneId: 'Europe/Vienna' });
  await signInWithToken(page, appliance.url, appliance.rootToken);
  const traffic = watchTraffic(page);
  await page.goto(`${appliance.url}/ui${to}`);
  await page.waitForSelector('h1');
  await steps(page);
  expect([...faults, ...traffic.faults]).toEqual([]);
  await context.close();
}

describe.skipIf(chromiumPath === undefined)('a key', () => {
  test('says who used it yesterday in two clicks, the second into the trail of that day', async () => {
    await appliance.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' });
    await walk(`${keys}/orders`, async (page) => {
      await page.click('summary:has-text("Who used it")');
      await page.waitForSelector('table:has-text("Actions") th:has-text("root")');
      await picture(page, 'light', 'who-used');
      await expectAccessible(page);
      await page.click('table:has-text("Actions") td a');
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders, version 1")');
    });
  });

  test('is disabled and enabled, and deleted after a time, which is taken back; deleting at once is offered where it is allowed', async () => {
    await walk(`${keys}/orders`, async (page) => {
      await page.waitForSelector('[role=link][aria-disabled=true]:has-text("Delete")');
      await page.click('summary:text-is("Disable")');
      await page.click('button:text-is("Disable")');
      await page.waitForSelector('.notice:has-text("This key is disabled")');
      const refused = await appliance.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' });
      expect(refused).toMatchObject({ status: 409, body: { code: 'key-disabled' } });
      await page.click('button:text-is("Enable")');
      await page.waitForSelector('summary:text-is("Disable")');
      await page.click('summary:has-text("Delete after a time")');
      await page.selectOption('#life-wait', '7d');
      await page.fill('.confirm input', 'orders');
      await page.click('button:text-is("Delete after this time")');
      await expect.poll(() => page.textContent('section[aria-labelledby=life-title]')).toContain('Until then every use is refused.');
      await picture(page, 'light', 'key-to-be-deleted');
      await expectAccessible(page);
      await page.click('button:text-is("Take it back")');
      await page.waitForSelector('summary:text-is("Disable")');
      expect((await appliance.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' })).status).toBe(200);
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a time', () => {
  test('has its zone, is exact for who has it in focus, is copied as it is, and is in UTC where the person wants that', async () => {
    await walk(keys, async (page) => {
      const used = page.locator('td[data-head="Last used"] button.moment');
      await used.focus();
      expect(await used.locator('.exact').textContent()).toMatch(/GMT\+[12]\)$/);
      expect(await used.locator('.exact').evaluate((one) => one.getBoundingClientRect().width)).toBeGreaterThan(50);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await used.press('Enter');
      await expect.poll(() => used.locator('.exact').textContent()).toContain('copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await used.locator('time').getAttribute('datetime'));
      await page.check('label:has-text("Times in UTC") input');
      await expect.poll(() => used.locator('.exact').textContent()).toMatch(/UTC\)$/);
      await page.reload();
      await expect.poll(() => used.locator('.exact').textContent()).toMatch(/UTC\)$/);
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a list', () => {
  test('goes back as well as on, and puts in order what is whole', async () => {
    for (let number = 100; number < 220; number += 1) await appliance.request('POST', keys, { name: `many-${number}`, cipher: 'ed25519' });
    await walk(keys, async (page) => {
      await page.click('a:has-text("Next 100")');
      await page.waitForSelector('th a:has-text("orders")');
      await page.click('a:has-text("Previous 100")');
      await page.waitForSelector('th a:has-text("many-100")');
      expect(await page.locator('thead button').count()).toBe(0);
      await page.goto(`${appliance.url}/ui${keys}?contains=many-11`);
      await page.click('thead button:has-text("Name")');
      await page.click('thead button:has-text("Name")');
      expect(await page.locator('thead th[aria-sort=descending]').count()).toBe(1);
      expect(await page.locator('tbody th a').first().textContent()).toBe('many-119');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a token', () => {
  test('that is made here ends with the session, as the page says before', async () => {
    let made = '';
    await walk('/v1/state/keystore/token/create', async (page) => {
      await page.waitForSelector('.notice:has-text("ends with this session")');
      await page.click('form button[type=submit]');
      await page.click('section[aria-label=Answer] button:has-text("Show")');
      made = (await page.locator('section[aria-label=Answer] .secret code').first().textContent()) ?? '';
      const ask = () => appliance.request('POST', '/v1/state/keystore/token/info', {}, { token: made });
      expect((await ask()).status).toBe(200);
      await page.click('button:has-text("Sign out")');
      await page.waitForURL('**/ui/sign-in');
      expect((await ask()).status).toBe(401);
    });
  });
});

describe.skipIf(chromiumPath === undefined)('an explanation', () => {
  test('goes when the question changes, and leads to the role that is missing, with its name filled in', async () => {
    const service = {
      'discovery-url': 'https://127.0.0.1:1/.well-known/openid-configuration',
      'client-id': 'keystored',
      'client-secret': 'not a secret',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': ['https://keys.test/oidc-callback'],
    };
    await appliance.request('PUT', '/v1/config/keystore/authentication/oidc/corp', service);
    await walk('/v1/state/keystore/authentication/oidc/corp/explain', async (page) => {
      await page.click('label:has-text("claims")');
      await page.fill('#explain-claims', '{"sub": "1", "groups": ["guests"]}');
      await page.click('button:text-is("Explain")');
      await page.waitForSelector('section[aria-label=Explanation]');
      await page.fill('#explain-claims', '{"sub": "1", "groups": ["others"]}');
      await page.waitForSelector('section[aria-label=Explanation]', { state: 'detached' });
      await page.click('button:text-is("Explain")');
      await page.click('a:has-text("Make a role of others")');
      await page.waitForSelector('#field-name');
      expect(await page.inputValue('#field-name')).toBe('others');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('an entry', () => {
  test('that was made is not made again when the page is loaded again', async () => {
    await walk('/v1/config/keystore/authentication/oidc/corp/roles?do=create', async (page) => {
      await page.fill('#field-name', 'made-once');
      await page.click('form button[type=submit]');
      await page.waitForSelector('a:has-text("Open made-once")');
      await page.reload();
      await page.waitForSelector('h1:has-text("Roles")');
      expect(await page.locator('form #field-name').count()).toBe(0);
    });
  });
});
