// Sealing and unsealing in the browser, over the real daemon: from the console to the sealed appliance and back, without a command line.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, looks, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const unseal = '/v1/state/keystore/system/unseal';
let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

/** The status of each attempt to unseal, in the order of the trail; waits between two tries are counted once. */
function attemptsOnRecord(): readonly number[] {
  const files = readdirSync(path('data/audit')).filter((name) => name.startsWith('supervisor'));
  const lines = files.flatMap((name) => readFileSync(join(path('data/audit'), name), 'utf8').split('\n'));
  const statuses = lines
    .filter((line) => line.includes(`"path":"${unseal}"`))
    .map((line) => (JSON.parse(line) as { readonly status: number }).status);
  return statuses.filter((status, index) => status !== statuses[index - 1]);
}

describe.skipIf(chromiumPath === undefined)('a person seals the appliance in the console', () => {
  test('and unseals it with the PIN at the page that a sealed appliance has; the session goes on, and the attempts are on record', async () => {
    const { context, page, faults } = await openPage(chromium);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.click('.main-pages a:has-text("Seal")');
    await page.waitForSelector('main:has-text("A restart of the daemon opens the appliance by itself")');
    await page.waitForSelector(`main code:has-text("${path('data/so-pin')}")`);
    await page.waitForSelector('main .fingerprint:not(.awaited)');
    await page.click('a:has-text("Share the PIN among custodians")');
    await page.waitForSelector('pre:has-text("--shares 5 --needed 3 --paper")');
    await page.fill('#needed', '2');
    await page.press('#needed', 'Tab');
    await page.check('text="Stop the appliance"');
    await page.reload();
    await page.waitForSelector('pre:has-text("--shares 5 --needed 2 --paper")');
    expect(await page.isChecked('text="Stop the appliance"')).toBe(true);
    for (const file of ['pin', 'so-pin']) expect(await page.content()).not.toContain(readFileSync(path(`data/${file}`), 'utf8').trim());
    await expectAccessible(page);
    await picture(page, 'light', 'ceremony');
    await page.emulateMedia({ media: 'print' });
    await picture(page, 'light', 'ceremony-printed');
    await page.emulateMedia({ media: null });
    await page.click('.main-pages a:has-text("Seal")');
    await page.fill('#confirm-seal', 'seal');
    await page.click('button:has-text("Seal")');
    await page.waitForSelector('h1:has-text("The appliance is sealed")');
    await expectAccessible(page);
    expect((await daemon.exchange('GET', '/v1/state/system/health')).body).toMatchObject({ status: 'sealed' });
    await page.goto(`${daemon.url}/ui${keys}`);
    await page.waitForSelector('h1:has-text("This system is locked")');
    await page.click('a:has-text("Unseal it")');
    for (const [look, options] of Object.entries(looks)) {
      const other = await openPage(chromium, options);
      await other.page.goto(page.url());
      await other.page.waitForSelector('h1:has-text("This appliance is sealed")');
      await picture(other.page, look, 'unseal');
      await expectAccessible(other.page);
      await other.context.close();
    }
    // A form of another site, or of a program that does not say where it comes from, is refused without a try.
    for (const from of [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      const headers = { ...from, 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await ask(daemon.url, '/unseal', { method: 'POST', body: 'pin=of-somebody-else', ca: daemon.caPem, headers });
      expect(answer.status).toBe(403);
    }
    await page.fill('#pin', 'not the PIN');
    await page.click('button:has-text("Unseal")');
    await page.waitForSelector('[role=alert]:has-text("A token refused the PIN")');
    expect(await page.inputValue('#pin')).toBe('');
    await expectAccessible(page);
    const pin = readFileSync(path('data/pin'), 'utf8').trim();
    // At once is too soon: the page says so and does not try it.
    await page.fill('#pin', pin);
    await page.click('button:has-text("Unseal")');
    await page.waitForSelector('[role=alert]:has-text("Wait before the next attempt")');
    await expect
      .poll(
        async () => {
          await page.fill('#pin', pin);
          await page.click('button:has-text("Unseal")');
          return page.textContent('h1');
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toBe('The appliance is unsealed');
    await expectAccessible(page);
    await page.click('a:has-text("Go on")');
    await page.waitForSelector('h1:has-text("Overview")');
    expect(faults).toEqual([]);
    expect(attemptsOnRecord()).toEqual([403, 429, 204]);
    await context.close();
  });
});
