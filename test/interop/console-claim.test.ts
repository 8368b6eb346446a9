// An appliance that nobody has claimed, in the browser: the fingerprint that the screen shows, one sign-in, and the root token shown once.
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { expectAccessible, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  writeFileSync(path('keystored.yaml'), `bootstrap-file: ${path('bootstrap')}\n`);
  daemon = await startDaemon({ directory: path('data'), args: ['--config', path('keystored.yaml')], rootToken: 'there is none' });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

test.skipIf(chromiumPath === undefined)('it is claimed by who compares, and belongs to the token from then on', async () => {
  const { context, page, faults } = await openPage(chromium);
  const fingerprint = new X509Certificate(daemon.caPem).fingerprint256;
  const credential = JSON.parse(readFileSync(path('bootstrap'), 'utf8')) as { readonly 'secret-id': string };
  await page.goto(`${daemon.url}/ui`);
  await page.waitForSelector(`code:has-text("${fingerprint}")`);
  await picture(page, 'light', 'unclaimed');
  await expectAccessible(page);
  expect(await page.inputValue('#role-id')).toBe('bootstrap');
  await page.fill('#secret-id', credential['secret-id']);
  await page.click('details[open] button');
  await page.waitForSelector('h2:has-text("Claim this appliance")');
  expect(await page.locator('section[aria-labelledby=claim] code').first().textContent()).toBe(fingerprint);
  expect(await page.locator('button:has-text("Make the root token")').isDisabled()).toBe(true);
  await page.waitForSelector('.main-pages a:has-text("Policies")');
  expect(await page.locator('.main-pages a:has-text("Sign-in services")').count(), 'nobody signs in to what has no owner').toBe(0);
  await page.check('.check input');
  await picture(page, 'light', 'claim');
  await expectAccessible(page);
  await page.click('button:has-text("Make the root token")');
  await page.waitForSelector('h1:has-text("This appliance is yours")');
  await picture(page, 'light', 'claimed');
  await expectAccessible(page);
  await page.click('button:has-text("Show")');
  const token = (await page.locator('.secret code').textContent()) ?? '';
  expect(token).toMatch(/^[0-9a-f-]{36}$/);
  // From here to the first encryption: five clicks and two typed fields.
  await page.click('button:has-text("I have kept it")');
  await page.waitForSelector('h1:has-text("Overview")');
  expect(await page.locator('h2:has-text("Claim this appliance")').count()).toBe(0);
  await page.click('.main-pages a:has-text("Keys")');
  await page.click('main a:has-text("Create")');
  await page.fill('#field-name', 'orders');
  await page.click('form button[type=submit]');
  await page.fill('#try-clear', '4711');
  await page.click('button:has-text("Encrypt")');
  await page.waitForSelector('text=Encrypted with version 1.');
  await page.click('button:has-text("Sign out")');
  await page.waitForSelector('h1:has-text("Sign in")');
  expect(await page.locator('text=Nobody has claimed').count()).toBe(0);
  await signInWithToken(page, daemon.url, token);
  expect(faults).toEqual([]);
  await context.close();
});
