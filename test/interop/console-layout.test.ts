// How the pages of the console are laid out in Chromium: what is as high as the design says, what stands level, what stays while one scrolls,
// and that nothing is cut off on a phone.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { openPage, overflowOf, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const keyStates = '/v1/state/keystore/transit-keys';
const authorities = '/v1/config/keystore/tls/ca';
const trail = '/v1/state/topics/system:audit-trail-log';
let appliance: TestAppliance;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path() });
  const timers = { 'rotate-after': '90d', 'deprecate-after': '30d' };
  await appliance.request('POST', keys, { name: 'orders', 'auto-rotate': timers, labels: { team: 'shop' } });
  await appliance.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' });
  await appliance.request('POST', keys, { name: 'releases', cipher: 'ed25519' });
  for (let number = 0; number < 40; number += 1) await appliance.request('POST', keys, { name: `row-${number}` });
  await appliance.request('POST', authorities, { name: 'plant' });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

const phone = { viewport: { width: 390, height: 844 } } as const;
const wide = { viewport: { width: 1_440, height: 900 } } as const;

/** Opens the console as root, at an address, with everything that it asks for. */
async function open(to: string, options: Parameters<typeof openPage>[1]): Promise<{ page: Page; close: () => Promise<void> }> {
  const { context, page, faults } = await openPage(chromium, options);
  const traffic = watchTraffic(page);
  // The clock of the appliance stands, and days since would be a wider text each year.
  await page.clock.setFixedTime(appliance.clock.now().epochMilliseconds + 60_000);
  await signInWithToken(page, appliance.url, appliance.rootToken);
  await page.goto(`${appliance.url}/ui${to}`);
  await traffic.settled();
  return {
    page,
    close: async () => {
      expect(faults).toEqual([]);
      await context.close();
    },
  };
}

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

async function boxesOf(page: Page, selector: string): Promise<readonly Box[]> {
  const all = await page.locator(selector).all();
  return Promise.all(all.map(async (one) => (await one.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }));
}

describe.skipIf(chromiumPath === undefined)('a table', () => {
  test.each(['en', 'de'])('has rows of 40 px at 1440 px where what is in them fits into a line: %s', async (locale) => {
    const { page, close } = await open(keys, { ...wide, locale });
    await picture(page, `layout-${locale}`, 'keys');
    const heights = (await boxesOf(page, 'tbody tr')).map(({ height }) => height);
    expect(heights.filter((height) => Math.abs(height - 40) > 0.5)).toEqual([]);
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('a table on a phone', () => {
  test.each(['en', 'de'])('has room for each word of the names of its fields: %s', async (locale) => {
    const { page, close } = await open(authorities, { ...phone, locale });
    await picture(page, `layout-${locale}-390`, 'authorities');
    // Chromium without a dictionary breaks words where the room ends; none is to need that.
    const broken = await page.evaluate<string[]>(`[...document.querySelectorAll('td[data-head]')].flatMap((cell) => {
      const [room] = getComputedStyle(cell).gridTemplateColumns.split(' ').map(parseFloat);
      const { font } = getComputedStyle(cell, '::before');
      const context = document.createElement('canvas').getContext('2d');
      context.font = font;
      return cell.dataset.head.split(/[ -]/).filter((word) => context.measureText(word).width > room);
    })`);
    expect(await page.locator('td[data-head]').count()).toBeGreaterThan(0);
    expect(broken).toEqual([]);
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('"Try it"', () => {
  test('has its two boxes level and equally high', async () => {
    const { page, close } = await open(`${keys}/orders`, wide);
    const [left, right] = await boxesOf(page, '.try textarea');
    expect([right?.y, right?.height]).toEqual([left?.y, left?.height]);
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('what stays while one scrolls', () => {
  test('is the head of the page, the navigation, and the head of a table below it', async () => {
    const { page, close } = await open(keys, wide);
    await page.evaluate('scrollTo(0, 900)');
    await page.waitForSelector('tbody tr:last-child');
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(500);
    const [bar] = await boxesOf(page, '.bar');
    const [head] = await boxesOf(page, 'thead th >> nth=0');
    const [side] = await boxesOf(page, '.side');
    expect(bar?.y).toBe(0);
    expect(Math.abs((head?.y ?? 0) - (bar?.height ?? 0))).toBeLessThan(2);
    expect(side?.y).toBeGreaterThan(0);
    expect((side?.y ?? 0) + (side?.height ?? 0)).toBeLessThanOrEqual(wide.viewport.height + 1);
    // Nothing of the rows is in front of it.
    const front = await page.evaluate<string>(
      `document.elementFromPoint(${(head?.x ?? 0) + 20}, ${(head?.y ?? 0) + 15}).closest('th')?.scope`,
    );
    expect(front).toBe('col');
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('a record of the audit trail on a phone', () => {
  test('is whole: nothing of it is cut off or has to be scrolled to', async () => {
    const { page, close } = await open(`${trail}?only=all&since=30d&where=transit-keys/orders`, phone);
    await page.click('tr:has-text("orders") button >> nth=0');
    await page.waitForSelector('.whole');
    await picture(page, 'layout-390', 'record');
    expect(await overflowOf(page)).toEqual([]);
    const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.whole, .whole *')]
      .filter((one) => one.checkVisibility() && !one.matches('.exact, .unseen'))
      .filter((one) => {
        const { left, right, width } = one.getBoundingClientRect();
        const hides = getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1;
        return width > 0 && (left < 0 || right > innerWidth || hides);
      })
      .map((one) => one.tagName + ' ' + one.textContent.slice(0, 60))`);
    expect(cut).toEqual([]);
    await close();
  });
});
