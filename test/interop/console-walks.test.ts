// The walks of people through the console without a command line, over the real daemon in Chromium: each says how long it took. What the console
// copies as commands does the same.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, openPage, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  chromium = await launchChromium();
}, 120_000);
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

/** Walks as one person does: from the sign-in on, by what the pages offer, and without one refused request. */
async function walk(who: string, steps: (page: Page) => Promise<void>): Promise<void> {
  const { context, page, faults } = await openPage(chromium, { acceptDownloads: true });
  const traffic = watchTraffic(page);
  const startedMs = performance.now();
  await signInWithToken(page, daemon.url, daemon.rootToken);
  await steps(page);
  console.info(`${who}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  expect([...faults, ...traffic.faults]).toEqual([]);
  await context.close();
}

/** Runs what a page shows in a shell that has nothing but the path of programs, with the secret typed. */
function runPasted(text: string, directory: string, typed: string): string {
  const programs = `${resolve(import.meta.dirname, '../../appliance')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: programs, HOME: directory, KEYSTORED_NO_CACHE: '1' };
  return execFileSync('bash', ['-euo', 'pipefail', '-c', text], { cwd: directory, env, encoding: 'utf8', input: `${typed}\n` });
}

/** Saves the CA as the page offers it; answers the directory. */
async function saveCa(page: Page): Promise<string> {
  const directory = path('shell');
  mkdirSync(directory, { recursive: true });
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('a:text-is("ca.pem"):visible').first().click()]);
  await download.saveAs(join(directory, 'ca.pem'));
  return directory;
}

/** The secret that a page shows once. */
async function takeSecret(page: Page): Promise<string> {
  await page.click('button:text-is("Show")');
  return (await page.locator('.secret code').textContent()) ?? '';
}

test.skipIf(chromiumPath === undefined)('a security engineer: from a tenant to the first encryption in it', async () => {
  await walk('security engineer, tenant to first encryption', async (page) => {
    await page.click('.main-pages a:has-text("Tenants")');
    await page.click('main a:has-text("Create")');
    await page.fill('#field-name', 'payments');
    await page.fill('#field-descriptive-name', 'Payments');
    await page.click('form button[type=submit]');
    await page.click('button:has-text("Make the root token")');
    await page.waitForSelector('h2:has-text("Root token of payments")');
    await picture(page, 'light', 'tenant-root-token');
    await expectAccessible(page);
    const token = await takeSecret(page);
    await page.click('button:has-text("Sign out")');
    await page.waitForSelector('h1:has-text("Sign in")');
    await signInWithToken(page, daemon.url, token);
    await page.click('.main-pages a:has-text("Keys")');
    await page.click('main a:has-text("Create")');
    await page.fill('#field-name', 'card-numbers');
    await page.click('form button[type=submit]');
    await page.fill('#try-clear', '4111 1111 1111 1111');
    await page.click('button:has-text("Encrypt")');
    await page.waitForSelector('text=Encrypted with version 1.');
    expect(await page.inputValue('#try-value')).toMatch(/^store:v1:/);
    expect(await daemon.request('GET', '/v1/config/keystore/transit-keys?keys=true', undefined, token)).toEqual(['card-numbers']);
  });
});

test.skipIf(chromiumPath === undefined)(
  'an HSM administrator: rotates the wrapping key and sees its end, and replaces the PIN',
  async () => {
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'to-be-rewrapped' });
    await walk('HSM administrator, rotation of the wrapping key and another PIN', async (page) => {
      await page.click('.main-pages a:has-text("HSM")');
      await page.click('button:has-text("Test now")');
      await page.waitForSelector('.chip:has-text("works,")');
      await page.click('button:has-text("Rotate …")');
      await page.fill('.confirm input', 'default');
      await page.click('button:has-text("Rotate the wrapping key")');
      await page.waitForSelector('dd:has-text("number 2")');
      await page.waitForSelector('p:has-text("were rewrapped")', { timeout: 120_000 });
      const pin = readFileSync(path('data', 'pin'), 'utf8');
      await page.click('button:has-text("Change …")');
      await page.click('button:has-text("Change the PIN")');
      await page.waitForSelector('.chip:has-text("changed")');
      expect(readFileSync(path('data', 'pin'), 'utf8')).not.toBe(pin);
      await Promise.all([
        page.waitForResponse((answer) => answer.url().endsWith('/test-hsm') && answer.ok()),
        page.click('button:has-text("Test again")'),
      ]);
    });
  },
);

test.skipIf(chromiumPath === undefined)('a factory engineer: from a CA to an enrolled device', async () => {
  const directory = path('device');
  mkdirSync(directory);
  await walk('factory engineer, CA to an enrolled device', async (page) => {
    await page.click('.main-pages a:has-text("Authorities")');
    await page.click('main a:has-text("Create")');
    await page.fill('#field-name', 'plant');
    await page.fill('#field-est-allowed-domains', 'plant.example');
    await page.click('form button[type=submit]');
    await page.waitForSelector('h2:has-text("Secret of first enrolment")');
    const enrolmentSecret = await takeSecret(page);
    await picture(page, 'light', 'authority-made-for-devices');
    await expectAccessible(page);
    await page.click('a:has-text("Enrol a device")');
    await page.selectOption('#est-url', { label: new URL(daemon.estUrl).host });
    await page.fill('#device', 'pump-7.plant.example');
    for (const file of ['ca.pem', 'issuer.pem']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`button:has-text("Save ${file}")`)]);
      await download.saveAs(join(directory, file));
    }
    // What the device runs, as the page has it.
    const commands = (await page.locator('pre[aria-label="Commands: curl and openssl"]').textContent()) ?? '';
    execFileSync('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: directory,
      env: { ...process.env, EST_SECRET: enrolmentSecret },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await page.click('.trail a:has-text("plant")');
    await page.click('a:has-text("Issued certificates")');
    await page.waitForSelector('th a');
    expect(await page.locator('th a').allTextContents()).toEqual(['CN=pump-7.plant.example']);
  });
});

test.skipIf(chromiumPath === undefined)(
  'a program gets its login: an approle, a secret-id that is shown once, and the command works',
  async () => {
    await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot', 'token-policies': ['user'] });
    await walk('administrator, login for a program', async (page) => {
      await page.click('.main-pages a:has-text("Applications")');
      await page.click('th a:has-text("robot")');
      await page.waitForSelector('text=no program can log in yet');
      await page.click('button:has-text("Make a secret-id")');
      const secretId = await takeSecret(page);
      await picture(page, 'light', 'approle');
      await expectAccessible(page);
      const command = (await page.locator('pre[aria-label="Command that logs in"]').textContent()) ?? '';
      const answer = runPasted(command, await saveCa(page), secretId);
      expect(JSON.parse(answer)).toMatchObject({ token: expect.any(String) });
      await page.click('table button:has-text("End")');
      await page.fill('.confirm input', 'robot');
      await page.click('button:has-text("End it")');
      await page.waitForSelector('text=no program can log in yet');
    });
  },
);

test.skipIf(chromiumPath === undefined)('a key is backed up into a file and restored under another name, through the forms', async () => {
  const keys = '/v1/config/keystore/transit-keys';
  const states = '/v1/state/keystore/transit-keys';
  await daemon.request('POST', keys, { name: 'kept', 'allow-plaintext-backup': true });
  const { ciphertext } = (await daemon.request('POST', `${states}/kept/encrypt`, { plaintext: 'aGVsbG8=' })) as {
    readonly ciphertext: string;
  };
  await daemon.request('POST', keys, { name: 'again' });
  await walk('key owner, backup and restore of a key', async (page) => {
    await page.goto(`${daemon.url}/ui${keys}/kept`);
    await page.click('nav[aria-label=Actions] a:has-text("Backup")');
    await page.click('form button[type=submit]');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Save as a file")')]);
    const file = path('kept.backup');
    await download.saveAs(file);
    await page.goto(`${daemon.url}/ui${keys}/again`);
    await page.click('nav[aria-label=Actions] a:has-text("Restore")');
    await page.setInputFiles('input[type=file]', file);
    await page.waitForSelector('text=were read.');
    await page.fill('#confirm-name', 'again');
    await page.click('form button[type=submit]');
    await page.waitForSelector('section[aria-label="Answer"] >> text=Done.');
    expect(await daemon.request('POST', `${states}/again/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
  });
});

test.skipIf(chromiumPath === undefined)('what "Copy as command" shows does the same, run by a shell as it is copied', async () => {
  const keys = '/v1/config/keystore/transit-keys';
  const { context, page, faults } = await openPage(chromium);
  await signInWithToken(page, daemon.url, daemon.rootToken);
  for (const program of ['curl', 'keystorectl']) {
    await page.goto(`${daemon.url}/ui${keys}?do=create`);
    await page.check('.purpose:has-text("Sign") input >> nth=0');
    await page.fill('#field-name', `by-${program}`);
    await page.click('summary:has-text("More settings")');
    await page.selectOption('#field-cipher', 'ed25519');
    await page.selectOption('#field-deletion-allowed', 'true');
    await page.click('summary:has-text("Copy as command")');
    const text = (await page.locator(`pre[aria-label="Command for ${program}"]`).textContent()) ?? '';
    const prepare = (await page.locator('pre[aria-label="Commands that prepare a shell"]').textContent()) ?? '';
    runPasted(`${prepare}\n${text}`, await saveCa(page), daemon.rootToken);
    expect(await daemon.request('GET', `${keys}/by-${program}`)).toMatchObject({ cipher: 'ed25519', 'deletion-allowed': true });
  }
  expect(faults).toEqual([]);
  await context.close();
});
