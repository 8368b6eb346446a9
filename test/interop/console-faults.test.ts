// What a person relies on in every view of the console, in Chromium: it works in browsers that lack what is new, nothing secret stays in the
// clipboard, the first view is small and stays so, and what was looked for is found by keyboard alone.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { patienceMs } from '../harness/patience.ts';
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
  await appliance.request('POST', keys, { name: 'orders-of-2025' });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

/** Opens the console as root, at an address. */
async function open(to: string, script?: string, options = {}): Promise<{ page: Page; faults: string[]; close: () => Promise<void> }> {
  const { context, page, faults } = await openPage(chromium, options);
  if (script !== undefined) await context.addInitScript(script);
  await signInWithToken(page, appliance.url, appliance.rootToken);
  await page.goto(`${appliance.url}/ui${to}`);
  await page.waitForSelector('h1');
  return { page, faults, close: () => context.close() };
}

describe.skipIf(chromiumPath === undefined)('a browser without base64 of its own', () => {
  const lacks = 'delete Uint8Array.prototype.toBase64; delete Uint8Array.fromBase64;';

  test('encrypts and decrypts every text, one with a mark of the order of octets too', async () => {
    const { page, faults, close } = await open(`${keys}/orders`, lacks);
    for (const text of ['4111 1111', '\u{feff}with a mark', 'ümläut \u{1f511}', 'x'.repeat(100_000)]) {
      await page.fill('#try-clear', text);
      await page.click('button:text-is("Encrypt")');
      await page.waitForSelector('text=Encrypted with version 1.');
      await page.fill('#try-clear', '');
      await page.click('button:text-is("Decrypt")');
      await page.waitForSelector('text=Decrypted with version 1.');
      expect(await page.inputValue('#try-clear')).toBe(text);
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('sends a file', async () => {
    const { page, faults, close } = await open(`${keyStates}/orders/encrypt`, lacks);
    await page.setInputFiles('input[type=file] >> nth=0', { name: 'a', mimeType: 'text/plain', buffer: Buffer.alloc(70_000, 'ab') });
    await page.waitForSelector('text=KiB were read');
    await page.click('form button[type=submit]');
    await page.waitForSelector('section[aria-label=Answer]');
    expect(faults).toEqual([]);
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('a copied secret', () => {
  const clipboard = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

  test('is out of the clipboard after a minute, and what was copied after it stays', async () => {
    const { page, close } = await open('/v1/state/keystore/token/create', undefined, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.clock.install();
    await page.click('form button[type=submit]');
    const copy = page.locator('section[aria-label=Answer] button[aria-label="Copy secret"]').first();
    for (const isFollowed of [false, true]) {
      await copy.click();
      await page.waitForSelector('text=the clipboard is emptied in a minute');
      expect((await clipboard(page)).length).toBeGreaterThan(10);
      if (isFollowed) {
        await page.locator('h1').selectText();
        await page.keyboard.press('Control+c');
      }
      await page.clock.runFor('01:01');
      await expect.poll(() => clipboard(page)).toBe(isFollowed ? 'Create' : '');
    }
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('the first view', () => {
  test.each(['en-US', 'de-DE'])('in %s takes less than 150 KiB, and a minute of it less than 20', async (locale) => {
    const { context, page } = await openPage(chromium, { locale });
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const bytes = { all: 0 };
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes.all += encodedDataLength));
    const traffic = watchTraffic(page);
    const sizeOf = async (steps: () => Promise<unknown>): Promise<number> => {
      bytes.all = 0;
      await steps();
      await traffic.settled();
      return bytes.all;
    };
    await page.clock.install();
    const first = await sizeOf(() => signInWithToken(page, appliance.url, appliance.rootToken));
    const minute = await sizeOf(() => page.clock.runFor('01:01'));
    console.info(`${locale}: first view ${first} octets, a minute of it ${minute}`);
    expect(first).toBeLessThan(150 * 1024);
    expect(minute).toBeLessThan(20 * 1024);
    await context.close();
  });
});

test.skipIf(chromiumPath === undefined)('a page of the second file says so where that cannot be had, and comes when it can', async () => {
  const { page, close } = await open('');
  const file = /\/ui\/assets\/later-/;
  await page.route(file, (route) => route.abort());
  await page.goto(`${appliance.url}/ui/v1/config/keystore/transit-keys?do=create`);
  await page.waitForSelector('[role=alert] h2:has-text("This page could not be loaded")');
  await page.unroute(file);
  await page.reload();
  await page.waitForSelector('h1:has-text("New key")');
  expect(await page.locator('[role=alert]').count()).toBe(0);
  await close();
});

describe.skipIf(chromiumPath === undefined)('the search', () => {
  test('finds a key by its name by keyboard alone, and Enter opens it', async () => {
    const { page, faults, close } = await open('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('orders-');
    await page.waitForSelector('[role=option][aria-selected=true]:has-text("orders-of-2025")');
    await picture(page, 'light', 'search');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("orders-of-2025")');
    // What has exactly the name is the first, and `/` opens the search where nothing is typed.
    await page.keyboard.press('/');
    await page.keyboard.type('orders');
    await page.waitForSelector('[role=option]:has-text("orders-of-2025")');
    expect(await page.locator('[role=option] bdi').first().textContent()).toBe('orders');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(faults).toEqual([]);
    await close();
  });

  test('shows names that begin with the text before the others are found, and none of them is crowded out', async () => {
    const names = ['zinc', ...Array.from({ length: 6 }, (_, at) => `old-zinc-${at}`)];
    await Promise.all(names.map((name) => appliance.request('POST', keys, { name })));
    const { page, faults, close } = await open('');
    const held = Promise.withResolvers<void>();
    await page.route(/[?&]contains=zinc/, async (route) => {
      if (route.request().url().includes(`${keys}?`)) await held.promise;
      await route.continue();
    });
    const found = (): Promise<string[]> => page.locator('[role=option]:has(.quiet:text-is("key")) bdi').allTextContents();
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog.search input:focus');
    await page.keyboard.insertText('zinc');
    await expect.poll(found, { timeout: patienceMs }).toEqual(['zinc']);
    held.resolve();
    await expect.poll(found, { timeout: patienceMs }).toEqual(['zinc', ...names.slice(1, 6)]);
    expect(faults).toEqual([]);
    await close();
  });

  test('finds policies, applications and tenants by their names, and a token by its accessor', async () => {
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'printers-of-berlin', 'rest-api': { rules: [] } });
    await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot-of-berlin', 'token-policies': [] });
    await appliance.request('POST', '/v1/config/tenants', { name: 'tenant-of-berlin' });
    const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [] });
    const { accessor } = body as { readonly accessor: string };
    const { page, faults, close } = await open('');
    const search = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.waitForSelector('dialog.search input:focus');
      await page.keyboard.insertText(text);
    };
    await search('of-berlin');
    for (const [kind, name] of [
      ['policy', 'printers-of-berlin'],
      ['application', 'robot-of-berlin'],
      ['tenant', 'tenant-of-berlin'],
    ] as const)
      await page.waitForSelector(`[role=option]:has(.quiet:text-is("${kind}")) bdi:text-is("${name}")`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("-of-berlin")');
    await search(accessor);
    await page.waitForSelector(`[role=option]:has-text("What the token ${accessor} did")`);
    await page.click(`[role=option]:has-text("What the token ${accessor} may do")`);
    await page.waitForSelector('h1:has-text("May they do this?")');
    expect(await page.inputValue('#check-accessor')).toBe(accessor);
    expect(faults).toEqual([]);
    await close();
  });

  test('finds pages by their names, and a request by its id', async () => {
    const { page, close } = await open('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit tr');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Audit trail")');
    const { headers } = await appliance.request('POST', `${keyStates}/orders/rotate`);
    const id = String(headers['request-id']);
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog.search input:focus');
    await page.keyboard.insertText(id);
    await page.waitForSelector('[role=option][aria-selected=true]');
    await page.click(`[role=option]:has-text("The request ${id}")`);
    await page.waitForSelector('table td:has-text("rotate"), table th:has-text("rotate")');
    expect(await page.locator('tbody tr').count()).toBe(1);
    await close();
  });
});
