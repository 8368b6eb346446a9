// Enrolment in the console over the real daemon in Chromium: devices that wait for a person, with what is to be compared and both decisions, the
// registration authority, and secrets for one device.
import { writeFileSync } from 'node:fs';
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { ask, csrOf, type Device, issuerAndSubject, makeDevice, newTransaction, registrationOf } from '../plugins/scep/device.ts';
import { expectAccessible, looks, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const transactions = [newTransaction(), newTransaction()];
const ca = '/v1/state/keystore/tls/ca/plant';
const [requests, secrets] = [`${ca}/enrolment-requests`, `${ca}/enrolment-secrets`];

let daemon: Daemon;
let chromium: Chromium;
let device: Device;
let served: { urlOf(): string };

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  const port = await freePort();
  const file = path('keystored.yaml');
  writeFileSync(file, JSON.stringify({ enrolment: { 'plain-listen': `127.0.0.1:${port}` } }));
  daemon = await startDaemon({ directory: path('data'), args: ['--config', file], firstStart: false });
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', {
    name: 'plant',
    est,
    scep: { enabled: true, 'approval-required': true },
    cmp: { enabled: true },
  });
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { readonly uuid: string };
  served = { urlOf: () => `http://127.0.0.1:${port}/scep/${uuid}/plant` };
  device = await makeDevice('CN=device');
  for (const [index, transactionId] of transactions.entries()) {
    const csr = await csrOf(device.keys, undefined, `d${index}.example.test`);
    expect((await ask(served, 'plant', device, csr, { transactionId })).pkiStatus).toBe('3');
  }
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium?.close();
  await daemon?.kill();
});

describe.skipIf(chromiumPath === undefined)('devices that wait', () => {
  test.each(Object.entries(looks))('are shown without a finding of axe: %s', async (look, options) => {
    const { context, page, faults } = await openPage(chromium, options);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui/v1/config/keystore/tls/ca/plant`);
    await page.waitForSelector('text=may enrol over SCEP');
    await expectAccessible(page);
    await page.click('a:has-text("Devices that wait")');
    await page.waitForSelector('section[aria-label="Request of CN=d1.example.test"]');
    await picture(page, look, 'waiting');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('are approved and refused, and hear it', async () => {
    const { context, page } = await openPage(chromium, looks.light);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui${requests}`);
    const [first, second] = [0, 1].map((index) => page.locator(`section[aria-label="Request of CN=d${index}.example.test"]`));
    await first?.locator('button:has-text("Approve")').click();
    await first?.waitFor({ state: 'detached' });
    await second?.locator('button:has-text("Refuse")').click();
    await second?.locator('input').fill('CN=d1.example.test');
    await second?.locator('button.danger').click();
    await second?.waitFor({ state: 'detached' });
    const registration = await registrationOf(served, 'plant');
    const polls = await Promise.all(
      transactions.map((transactionId) =>
        ask(served, 'plant', device, issuerAndSubject(registration, device), { transactionId, messageType: '20' }),
      ),
    );
    expect(polls.map(({ pkiStatus }) => pkiStatus)).toEqual(['0', '2']);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('the registration authority', () => {
  test('is shown with when it was made, when it ends, and when it is renewed', async () => {
    const { scep } = (await daemon.request('GET', ca)) as { readonly scep: Readonly<Record<string, string>> };
    const { context, page } = await openPage(chromium, looks.light);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui/v1/config/keystore/tls/ca/plant`);
    const times = page.locator('dt:text-is("Registration authority") + dd time');
    await times.first().waitFor();
    const shown = await Promise.all(
      (await times.all()).map(async (time) => [await time.getAttribute('datetime'), await time.textContent()]),
    );
    expect(shown).toEqual([
      [scep['registration-not-before'], expect.stringMatching(/^made (?:\d+|a) .* ago$/)],
      [scep['registration-not-after'], 'ends in 2 years'],
      [scep['registration-renewal-time'], 'renewed in 18 months'],
    ]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('what is for a protocol that is off', () => {
  test('is not offered beside the others, but folded away with the way to switch it on', async () => {
    const { context, page, faults } = await openPage(chromium, looks.light);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.goto(`${daemon.url}/ui/v1/config/keystore/tls/ca/plant`);
    await page.click('.switched-off summary:has-text("3 pages for what is switched off")');
    expect(await page.locator('.switched-off dt').allTextContents()).toEqual(['Make EAB key', 'EAB keys', 'Revoke EAB key']);
    expect(await page.locator('.switched-off dd').first().textContent()).toBe('needs ACME › Enabled');
    const offered = await page.locator('nav[aria-label=Actions] a').allTextContents();
    expect(offered).toContain('Make enrolment secret');
    expect(offered.filter((one) => /EAB/i.test(one))).toEqual([]);
    await expectAccessible(page);
    await page.click('.switched-off a:has-text("Switch it on")');
    await page.waitForSelector('h1:has-text("Edit plant")');
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('a secret for one device', () => {
  test('is made for the protocol at which it is asked for, shown once, listed, and revoked', async () => {
    const { context, page, faults } = await openPage(chromium, looks.light);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    for (const [protocol, forCmp] of [
      ['SCEP', ''],
      ['CMP', 'true'],
    ] as const) {
      await page.goto(`${daemon.url}/ui/v1/config/keystore/tls/ca/plant?do=enrol`);
      await page.click(`section[aria-labelledby="by-${protocol}"] a:has-text("Make a secret for a device")`);
      await page.waitForSelector('#field-for-cmp');
      expect(await page.inputValue('#field-for-cmp'), protocol).toBe(forCmp);
    }
    await page.fill('#field-subject', 'CN=pump.example.test');
    await page.fill('#field-names', 'pump.example.test');
    await page.click('main form >> button[type=submit]');
    const answer = page.locator('section[aria-label="Answer"]');
    await answer.locator('button:text-is("Show")').click();
    const secret = (await answer.locator('.secret code').textContent()) ?? '';
    expect(secret).toMatch(/^[A-Z2-9]{24}$/);
    await expectAccessible(page);
    await page.goto(`${daemon.url}/ui/v1/config/keystore/tls/ca/plant`);
    await page.click('a:has-text("One-time secrets")');
    await page.waitForSelector('tr:has-text("CN=pump.example.test")');
    expect(await page.content()).not.toContain(secret);
    const [listed] = (await daemon.request('GET', secrets)) as { readonly id: string }[];
    await page.goto(`${daemon.url}/ui${ca}/revoke-enrolment-secret`);
    await page.fill('#field-id', listed?.id ?? '');
    await page.fill('#confirm-name', 'plant');
    await page.click('main form >> button.danger');
    await page.waitForSelector('section[aria-label="Answer"]');
    expect(await daemon.request('GET', secrets)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});
