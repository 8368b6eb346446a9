// Issued certificates of all authorities, in Chromium: devices as rows, what is left of each, what replaced what, and many revoked at once.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Daemon } from '../harness/daemon.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { authorities, authorityStates } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

const page = `${authorities}?do=certificates`;
const dayMs = 86_400_000;

async function issue(daemon: Daemon, authority: string, name: string, ttl: string): Promise<string> {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}`, names: [{ type: 'dns', value: name }] });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const signed = await daemon.request('POST', `${authorityStates}/${authority}/sign-csr`, { csr, ttl });
  return (signed as { readonly serial: string }).serial;
}

const serials: string[] = [];
const walks = prepareWalks(async (daemon) => {
  const rules = { 'allowed-domains': ['plant.example'], 'allow-subdomains': true };
  const cmp = { enabled: true, 'initial-enroll-secret': 'born with it' };
  await daemon.request('POST', authorities, {
    name: 'pumps',
    est: { enabled: true, 'initial-enroll-secret': 'born with it', ...rules },
    cmp,
  });
  await daemon.request('POST', authorities, { name: 'valves', est: rules });
  serials.push(await issue(daemon, 'pumps', 'pump-1.plant.example', '20d'), await issue(daemon, 'pumps', 'pump-1.plant.example', '30d'));
  await issue(daemon, 'pumps', 'pump-2.plant.example', '30d');
  await issue(daemon, 'valves', 'valve-1.plant.example', '90d');
});

describe.skipIf(chromiumPath === undefined)('issued certificates', () => {
  test('are one row for a device, with its certificates of other enrolments', async () => {
    await walks.walk(page, async (browser) => {
      await browser.waitForSelector('th:has-text("valve-1.plant.example")');
      expect(await browser.locator('table[role=table] tbody').first().locator('th:has-text("pump-1.plant.example")').count()).toBe(1);
      await browser.click('summary:has-text("1 certificate")');
      await browser.waitForSelector(`li:has-text("${serials[0]}"):has-text("of another enrolment")`);
      expect(await browser.locator('a[aria-current=page]:has-text("All certificates")').count()).toBe(1);
      await picture(browser, 'light', 'devices');
      await expectAccessible(browser);
      await browser.setViewportSize({ width: 390, height: 800 });
      await expectAccessible(browser);
      await picture(browser, 'narrow', 'devices');
    });
  });

  test.each([
    // A month is the whole life of these: nobody has to do anything yet.
    [0, 'valid'],
    [22, 'to renew now'],
    [28, 'not renewed in time'],
  ])('are judged by what is left of their life, and not by days: after %i days of thirty they are %s', async (days, state) => {
    await walks.walk({ to: page, aheadMs: days * dayMs }, async (browser) => {
      await browser.waitForSelector(`tr:has-text("pump-2") td:has-text("${state}")`);
      await browser.waitForSelector('tr:has-text("valve-1") td:has-text("valid")');
      await picture(browser, 'light', `devices-${days}`);
      await browser.click(`.figures a:has-text("${state}")`);
      await expect.poll(() => browser.locator('tr:has-text("valve-1")').count()).toBe(days === 0 ? 1 : 0);
    });
  });

  test('say when revocation lists have their next update, and how long OCSP answers hold', async () => {
    const { 'crl-url': url = '' } = (await walks.daemon.request('GET', `${authorityStates}/pumps`)) as Readonly<Record<string, string>>;
    await walks.daemon.exchange('GET', new URL(url).pathname);
    await walks.walk(page, async (browser) => {
      await browser.waitForSelector('tr:has-text("pumps") td:has-text("in 7 days")');
      expect(await browser.locator('tr:has-text("pumps") td:has-text("1h")').count()).toBe(1);
    });
  });

  test('of many devices are revoked at once, and each device gets a secret of its own with which it enrols again', async () => {
    await walks.walk(page, async (browser) => {
      await browser.check('input[aria-label="Choose pump-1.plant.example"]');
      await browser.check('input[aria-label="Choose pump-2.plant.example"]');
      await picture(browser, 'light', 'devices-chosen');
      await expectAccessible(browser);
      const [download] = await Promise.all([browser.waitForEvent('download'), browser.click('button:has-text("Make a secret for each")')]);
      const lines = readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n');
      expect(lines.map((line) => line.split(',')[0])).toEqual(['subject', 'CN=pump-1.plant.example', 'CN=pump-2.plant.example']);
      expect(new Set(lines.map((line) => line.split(',')[3])).size).toBe(3);
      await browser.selectOption('#many-reason', 'superseded');
      await browser.fill('#confirm-many', '2 revoked');
      await browser.click('button:text-is("Revoke")');
      await browser.waitForSelector('[role=status]:has-text("2 done")');
      await browser.waitForSelector('tr:has-text("pump-2") td:has-text("revoked")');
    });
    // The device was enrolled twice: it has nothing left to show.
    for (const serial of serials) {
      const { status, ...state } = (await walks.daemon.request('GET', `${authorityStates}/pumps/certificates/${serial}`)) as Readonly<
        Record<string, string>
      >;
      expect([status, state['revocation-reason']]).toEqual(['revoked', 'superseded']);
    }
  });
});
