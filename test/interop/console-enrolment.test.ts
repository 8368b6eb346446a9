// Devices that wait for a person, in the console over the real daemon in Chromium: what is to be compared, and both decisions.
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
const requests = '/v1/state/keystore/tls/ca/plant/enrolment-requests';

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
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'plant', est, scep: { enabled: true, 'approval-required': true } });
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
