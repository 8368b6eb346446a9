// Certificate authorities, HSM, backups and the log in the console, over the real daemon in Chromium: each view in four looks, and the walks
// of people: revoke a certificate, enrol a device, rotate the wrapping key, take a backup.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser as Chromium, Page } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { expectAccessible, looks, openPage, picture, signInWithToken, type Opened } from './console-browser.ts';

const path = temporaryDirectory();
const authorities = '/v1/config/keystore/tls/ca';
const states = '/v1/state/keystore/tls/ca';
const hostile = '<img src=x onerror=alert(1)>"&lt;';
const secret = 'a secret that devices are born with';
/** As large as a scanner needs them. */
const pixelsOfSquare = 4;

let daemon: Daemon;
let chromium: Chromium;
let serials: readonly string[];

async function issue(name: string, subject: string, ttl: string): Promise<string> {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject, names: [{ type: 'dns', value: 'pump.plant.example' }] });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const { serial } = (await daemon.request('POST', `${states}/${name}/sign-csr`, { csr, ttl })) as { readonly serial: string };
  return serial;
}

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  const est = {
    enabled: true,
    'initial-enroll-secret': secret,
    'allowed-domains': ['plant.example'],
    'allow-subdomains': true,
    ttl: '30d',
  };
  await daemon.request('POST', authorities, { name: 'plant-root', subject: 'CN=Plant Root, O=Example' });
  await daemon.request('POST', authorities, { name: 'devices', 'issuing-ca': 'plant-root', subject: 'CN=Plant Devices, O=Example', est });
  await daemon.request('POST', authorities, { name: 'servers', 'issuing-ca': 'plant-root', ttl: '60d' });
  await daemon.request('POST', authorities, { name: 'empty' });
  serials = [
    await issue('devices', 'CN=pump-1.plant.example', '20d'),
    await issue('devices', 'CN=pump-2.plant.example', '80d'),
    await issue('devices', `CN=${hostile}`, '300d'),
    await issue('devices', 'CN=pump-4.plant.example', '300d'),
  ];
  await daemon.request('POST', `${states}/devices/revoke`, { serial: serials[1], reason: 'superseded' });
  chromium = await launchChromium();
});

afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium?.close();
  await daemon?.stop();
});

async function open(options: Parameters<typeof openPage>[1] = {}): Promise<Opened> {
  const opened = await openPage(chromium, { acceptDownloads: true, ...options });
  await signInWithToken(opened.page, daemon.url, daemon.rootToken);
  return opened;
}

describe.skipIf(chromiumPath === undefined).each(Object.entries(looks))('%s', (look, options) => {
  test('every view has no finding of axe, is as wide as the window, and keeps to its policy', async () => {
    const { context, page, faults } = await open(options);
    for (const [name, to, shown] of [
      ['authorities', authorities, 'h2:has-text("Hierarchy")'],
      ['authority', `${authorities}/devices`, '.fingerprint code'],
      ['enrol', `${authorities}/devices?do=enrol`, 'h2:has-text("3. Enrol")'],
      ['enrol-off', `${authorities}/servers?do=enrol`, 'h2:has-text("cannot enrol")'],
      ['certificates', `${states}/devices/certificates`, '.columns svg'],
      ['no-certificates', `${states}/empty/certificates`, '.empty'],
      ['certificate', `${states}/devices/certificates/${serials[2]}`, '.fingerprint code'],
      ['revoke', `${states}/devices/certificates/${serials[2]}?do=revoke`, '#reason'],
      ['no-such-certificate', `${states}/devices/certificates/00`, '.problem'],
      ['hsm', '/v1/state/system/hsm', 'h3:has-text("Wrapping key")'],
      ['backup', '/v1/state/system/backup', '#passphrase'],
      ['backups', '/v1/state/system/backup-status', '#last-backups'],
      ['log', '/v1/state/topics/system:logs', '.log li'],
    ] as const) {
      await page.goto(`${daemon.url}/ui${to}`);
      await page.waitForSelector(shown);
      await picture(page, look, name);
      await expectAccessible(page);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('certificates', () => {
  test('are found by a part of their name, by serial number and by status; the address keeps the search', async () => {
    const { context, page } = await open();
    await page.goto(`${daemon.url}/ui${states}/devices/certificates`);
    await page.fill('#contains', 'PUMP-2');
    await page.click('main button:has-text("Search")');
    await page.waitForSelector('p:has-text("1 found")');
    expect(await page.locator('tbody tr >> text=pump-2').count()).toBe(1);
    await page.reload();
    await page.waitForSelector('p:has-text("1 found")');
    await page.fill('#contains', (serials[3] ?? '').slice(0, 12).toUpperCase());
    await page.click('main button:has-text("Search")');
    await page.waitForSelector('tbody tr >> text=pump-4');
    await page.click('a:has-text("Show all")');
    await page.click('.figures a:has-text("revoked")');
    await page.waitForSelector('tbody tr >> text=superseded');
    await page.fill('#contains', 'nobody has this name');
    await page.click('main button:has-text("Search")');
    await page.waitForSelector('.empty:has-text("No certificate matches")');
    await context.close();
  });

  test('are revoked with a reason once their name is typed; markup in that name is text', async () => {
    const { context, page, faults } = await open();
    await page.goto(`${daemon.url}/ui${states}/devices/certificates/${serials[2]}`);
    await page.click('a:has-text("Revoke")');
    await page.selectOption('#reason', 'key-compromise');
    const button = page.locator('form button[type=submit]');
    expect(await button.isDisabled()).toBe(true);
    await page.fill('.confirm input', (await page.locator('.confirm code').textContent()) ?? '');
    await page.click('summary:has-text("Copy as command")');
    expect(await page.locator('pre[aria-label="Command for keystorectl"]').textContent()).toContain('key-compromise');
    await button.click();
    await page.waitForSelector('.chip:has-text("revoked")');
    expect(await daemon.request('GET', `${states}/devices/certificates/${serials[2]}`)).toMatchObject({
      status: 'revoked',
      'revocation-reason': 'key-compromise',
    });
    expect(await page.locator('main img').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

test.skipIf(chromiumPath === undefined)('the commands of "Enrol a device" enrol and renew one, as they are copied', async () => {
  const { context, page } = await open();
  await page.goto(`${daemon.url}/ui${authorities}/devices?do=enrol`);
  await page.selectOption('#est-url', { label: new URL(daemon.estUrl).host });
  expect(await readQrCode(page, 'svg[aria-label="QR code of the EST URL"]')).toBe(
    await page.locator('pre[aria-label="EST URL"]').textContent(),
  );
  await page.fill('#device', 'not a name');
  await page.waitForSelector('.field-problem');
  await page.fill('#device', 'pump-9.plant.example');
  const directory = path('device');
  execFileSync('mkdir', ['-p', directory]);
  for (const file of ['ca.pem', 'issuer.pem']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`button:has-text("Save ${file}")`)]);
    expect(download.suggestedFilename()).toBe(file);
    await download.saveAs(join(directory, file));
  }
  for (const title of ['curl and openssl', 'Look at the connection with openssl', 'Renewal with curl']) {
    const text = (await page.locator(`pre[aria-label="Commands: ${title}"]`).textContent()) ?? '';
    execFileSync('bash', ['-euo', 'pipefail', '-c', text], {
      cwd: directory,
      env: { ...process.env, EST_SECRET: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
  const subject = execFileSync('openssl', ['x509', '-in', join(directory, 'device.pem'), '-noout', '-subject'], { encoding: 'utf8' });
  expect(subject).toContain('pump-9.plant.example');
  await context.close();
});

test.skipIf(chromiumPath === undefined)('a rotation of the wrapping key is begun, and its end is seen, also after a reload', async () => {
  const { context, page } = await open();
  await page.goto(`${daemon.url}/ui/v1/state/system/hsm`);
  await page.click('button:has-text("Rotate …")');
  await page.fill('.confirm input', 'default');
  await page.click('button:has-text("Rotate the wrapping key")');
  await page.waitForSelector('dd:has-text("number 2")');
  await page.reload();
  await page.waitForSelector('dd:has-text("number 2")');
  await page.waitForSelector('p:has-text("keys were rewrapped")', { timeout: 120_000 });
  expect(await page.locator('progress').count()).toBe(0);
  await context.close();
});

test.skipIf(chromiumPath === undefined)(
  'a backup is saved as a file that age opens and a drill restores, and what opens it is asked twice',
  async () => {
    const { context, page, faults } = await open();
    await page.goto(`${daemon.url}/ui/v1/state/system/backup`);
    await page.fill('#passphrase', 'correct horse battery staple');
    expect(await page.locator('form button[type=submit]').isDisabled()).toBe(true);
    await page.fill('#again', 'correct horse battery staple');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Back up")')]);
    await page.waitForSelector('h2:has-text("The backup is complete")');
    expect(download.suggestedFilename()).toMatch(/^keystored-[\dT-]+Z\.age$/);
    expect(
      readFileSync(await download.path())
        .subarray(0, 22)
        .toString(),
    ).toBe('age-encryption.org/v1\n');
    expect(await page.locator('#passphrase').inputValue()).toBe('');
    // The same file is restored for trial, and the overview of backups says so from then on.
    await page.goto(`${daemon.url}/ui/v1/state/system/backup-status`);
    await page.waitForSelector('.chip:has-text("never")');
    expect(await page.locator('button:has-text("Back up now")').count(), 'without a target').toBe(0);
    await page.setInputFiles('#drill-file', await download.path());
    await page.fill('#drill-secret', 'correct horse battery staple');
    await page.click('button:has-text("Run the drill"):not([disabled])');
    await page.waitForSelector('.chip:text-is("restores")');
    await page.waitForSelector('dd:has-text("this appliance")');
    expect(await page.locator('.chip:has-text("never")').count()).toBe(0);
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(chromiumPath === undefined)(
  'the log is followed: a line that is written appears, a pause holds it, and filters are kept by the address',
  async () => {
    const { context, page } = await open();
    await page.goto(`${daemon.url}/ui/v1/state/topics/system:logs`);
    await page.waitForSelector('.chip:has-text("live")');
    await page.waitForSelector('.log li');
    await page.click('button:has-text("Pause")');
    await page.waitForSelector('.chip:has-text("paused")');
    await page.click('button:has-text("Go on")');
    await page.selectOption('#level', 'error');
    await page.fill('#contains', 'no line has this');
    await page.waitForSelector('.empty:has-text("No line matches")');
    expect(new URL(page.url()).searchParams.get('level')).toBe('error');
    await context.close();
  },
);

test.skipIf(chromiumPath === undefined)('a self-test says that the token works, and that its own keys never leave it', async () => {
  const { context, page } = await open({ ...looks.narrow });
  await page.goto(`${daemon.url}/ui/v1/state/system/hsm`);
  await page.click('button:has-text("Test now")');
  await page.waitForSelector('.chip:has-text("works,")');
  const row = page.locator('tr:has-text("keystored-binding-key")');
  expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toMatch(/secret never leaves the token.* sign/);
  await picture(page, 'narrow', 'self-test');
  await expectAccessible(page);
  await context.close();
});

/** What a scanner reads of a drawing whose dark squares are `M<x> <y>h1v1h-1z`. */
async function readQrCode(page: Page, selector: string): Promise<string> {
  const size = Number((await page.getAttribute(selector, 'viewBox'))?.split(' ').at(-1));
  const drawn = (await page.getAttribute(`${selector} path`, 'd')) ?? '';
  const width = size * pixelsOfSquare;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < pixelsOfSquare; row += 1) {
      const start = ((Number(y) * pixelsOfSquare + row) * width + Number(x) * pixelsOfSquare) * 4;
      for (let column = 0; column < pixelsOfSquare; column += 1) data.fill(0, start + column * 4, start + column * 4 + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}
