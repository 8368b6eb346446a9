// The pictures of the console in the documents: drawn from a running appliance in both themes, when DOCUMENT_PICTURES=1 asks for them.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { openPage, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const folder = resolve(import.meta.dirname, '../../appliance/docs/use/console');
const isWanted = process.env['DOCUMENT_PICTURES'] === '1';
const keys = '/v1/config/keystore/transit-keys';
const keyStates = '/v1/state/keystore/transit-keys';
const authorities = '/v1/config/keystore/tls/ca';

/** Pages, with what they show when everything is there. */
const pictures: Readonly<Record<string, readonly [to: string, shows: string]>> = {
  overview: ['', '.figure:text-matches("^[0-9]")'],
  key: [`${keys}/orders`, 'strong:has-text("Version 3")'],
  authorities: [authorities, 'h2:has-text("Hierarchy")'],
};
/** Larger ones are not kept in the repository. */
const mostBytes = 60_000;

let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  if (isWanted) mkdirSync(folder, { recursive: true });
  daemon = await startDaemon({ directory: path('data') });
  const make = (to: string, body: object): Promise<unknown> => daemon.request('POST', to, body);
  await make(keys, { name: 'orders', 'auto-rotate': { 'rotate-after': '90d', 'deprecate-after': '30d', 'invalidate-after': '60d' } });
  for (let version = 1; version < 3; version += 1) {
    await make(`${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' });
    await daemon.request('POST', `${keyStates}/orders/rotate`);
  }
  await make(authorities, { name: 'plant-root', subject: 'CN=Plant Root, O=Example', ttl: '10y' });
  const est = { enabled: true, 'initial-enroll-secret': 'born with it', 'allowed-domains': ['plant.example'] };
  await make(authorities, { name: 'devices', 'issuing-ca': 'plant-root', subject: 'CN=Plant Devices, O=Example', est });
  await make(authorities, { name: 'servers', 'issuing-ca': 'plant-root', subject: 'CN=Plant Servers, O=Example', ttl: '60d' });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

test.skipIf(chromiumPath === undefined).each(['light', 'dark'] as const)(
  '%s pictures show what the documents say, and are small',
  async (theme) => {
    const { context, page, faults } = await openPage(chromium, { viewport: { width: 1_120, height: 700 }, colorScheme: theme });
    // The pictures are of an appliance whose first hour is over.
    await page.addInitScript("localStorage.setItem('keystored-first-hour', 'hidden')");
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    for (const [name, [to, shows]] of Object.entries(pictures)) {
      await page.goto(`${daemon.url}/ui${to}`);
      await page.waitForSelector(shows);
      await traffic.settled();
      const file = join(isWanted ? folder : path(), `${name}-${theme}.webp`);
      writeFileSync(file, await webpOf(page));
      expect(statSync(file).size).toBeLessThan(mostBytes);
    }
    expect([...faults, ...traffic.faults]).toEqual([]);
    await context.close();
  },
);

/** Of the window, as WebP: a fifth of PNG for pages like these. */
async function webpOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  await session.detach();
  return Buffer.from(data, 'base64');
}
