// Every view by the keyboard alone, and in dark and forced colours: each control is reached by Tab, is seen while it has the focus, and lets
// it go again; Enter opens pages and panels; axe finds nothing.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { findingsOf, openPage, signInWithToken, watchTraffic } from './console-browser.ts';
import { furnish, views } from './console-furnished.ts';

const path = temporaryDirectory();
const mostControls = 400;
let daemon: Daemon;
let chromium: Chromium;
let serial: string;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop' });
  serial = await furnish(daemon, daemon.rootToken);
  chromium = await launchChromium();
}, 180_000);
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

/** Numbers what can be used, so that the walk can be compared with it; of radio buttons of one name the group is one stop. */
const numberControls = `(() => {
  for (const one of document.querySelectorAll('main details')) one.open = true;
  const usable = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((one) =>
    !one.disabled && one.tabIndex >= 0 && one.type !== 'hidden' && one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0);
  usable.forEach((one, index) => one.setAttribute('data-stop', one.type === 'radio' ? 'radio ' + one.name : String(index)));
  return [...new Set(usable.map((one) => one.getAttribute('data-stop')))];
})()`;

/** What has the focus, and what is wrong with it: no outline, or covered by something else. */
const lookAtFocus = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return undefined;
  const what = one.tagName.toLowerCase() + ' "' + (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40) + '"';
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  const box = one.getBoundingClientRect();
  const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const points = [[box.left + 3, box.top + 3], [box.right - 3, box.bottom - 3], [box.left + box.width / 2, box.top + box.height / 2]];
  const isFree = points.some(([x, y]) => { const hit = document.elementFromPoint(x, y); return hit !== null && (one.contains(hit) || hit.contains(one)); });
  return { stop: one.getAttribute('data-stop'), what, faults: [...(isSeen ? [] : ['no outline']), ...(isInside && isFree ? [] : ['not to be seen'])] };
})()`;

type Focus = { readonly stop: string | null; readonly what: string; readonly faults: readonly string[] };

/** Tabs until the focus has left the page twice: once from where it was, once through all of it. Answers what was not reached, and what is wrong. */
async function walk(page: Page): Promise<readonly string[]> {
  const stops = new Set(await page.evaluate<string[]>(numberControls));
  const faults = new Set<string>();
  for (let [pressed, rounds] = [0, 0]; rounds < 2; pressed += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate<Focus | undefined>(lookAtFocus);
    if (focus === undefined) {
      rounds += 1;
      continue;
    }
    if (focus.stop !== null) stops.delete(focus.stop);
    for (const fault of focus.faults) faults.add(`${focus.what}: ${fault}`);
    if (pressed > mostControls) return [...faults, `the focus does not leave the page: ${focus.what}`];
  }
  for (const stop of stops) {
    const what = await page.evaluate<string>(
      `(() => { const one = document.querySelector('[data-stop="${stop}"]'); return one === null ? '' : one.outerHTML.slice(0, 120); })()`,
    );
    if (what !== '') faults.add(`not reached: ${what}`);
  }
  return [...faults];
}

/** What `look` finds in each view, as root sees it, behind the name of the view. */
async function findInViews(page: Page, look: (page: Page) => Promise<readonly string[]>): Promise<string[]> {
  const traffic = watchTraffic(page);
  await signInWithToken(page, daemon.url, daemon.rootToken);
  const found: string[] = [];
  for (const [name, addressOf] of Object.entries(views)) {
    await page.goto(`${daemon.url}/ui${addressOf(serial)}`);
    await traffic.settled();
    found.push(...(await look(page)).map((one) => `${name}: ${one}`));
  }
  return found;
}

describe.skipIf(chromiumPath === undefined)('without a mouse', () => {
  test('every control of every view is reached by Tab, seen while it has the focus, and left again', async () => {
    const { context, page } = await openPage(chromium, { viewport: { width: 1_280, height: 860 }, reducedMotion: 'reduce' });
    expect(await findInViews(page, walk)).toEqual([]);
    await context.close();
  });

  test('Enter opens every page of the navigation, whose heading then has the focus', async () => {
    const { context, page } = await openPage(chromium, { viewport: { width: 1_280, height: 860 } });
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await page.waitForSelector('.main-pages a:has-text("Audit trail")');
    const labels = (await page.locator('.main-pages a').allTextContents()).slice(1);
    expect(labels.length).toBeGreaterThan(10);
    for (const label of labels) {
      const before = await page.textContent('h1');
      await page.evaluate('document.activeElement?.blur(); getSelection().removeAllRanges(); document.body.focus()');
      await page.keyboard.press('Home');
      await pressUntil(page, 'Tab', `document.activeElement?.textContent === ${JSON.stringify(label)}`);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement?.tagName'), { timeout: 10_000 }).toBe('H1');
      expect(await page.textContent('h1')).not.toBe(before);
    }
    await context.close();
  });
});

async function pressUntil(page: Page, key: string, condition: string): Promise<void> {
  for (let pressed = 0; pressed < mostControls; pressed += 1) {
    await page.keyboard.press(key);
    if (await page.evaluate<boolean>(condition)) return;
  }
  throw new Error(`${key} never leads to where ${condition}`);
}

describe.skipIf(chromiumPath === undefined).each([
  ['dark', { colorScheme: 'dark' }],
  ['forced colours', { forcedColors: 'active' }],
] as const)('in %s', (_, look) => {
  test('axe finds nothing in any view', async () => {
    const { context, page, faults } = await openPage(chromium, { viewport: { width: 1_280, height: 860 }, ...look });
    expect([...(await findInViews(page, findingsOf)), ...faults]).toEqual([]);
    await context.close();
  });
});
