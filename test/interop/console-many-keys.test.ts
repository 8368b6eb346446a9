// The lists of the console with 100,000 keys, over the real daemon in Chromium: a page has a hundred rows whatever there is, filters find, and
// what it takes is said: the time of each answer, of long tasks of the page, and of frames while it is scrolled. CONSOLE_KEYS sets the number.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addKeys, manyKeysName } from '../bench/measure/many-keys.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { openPage, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const count = Number(process.env['CONSOLE_KEYS'] ?? 100_000);
const nameOf = (number: number): string => manyKeysName.replace('{n}', String(number));

let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  const directory = path('data');
  daemon = await startDaemon({ directory });
  await daemon.request('POST', keys, { name: 'aes' });
  await daemon.request('POST', keys, { name: 'signer', cipher: 'ed25519' });
  await daemon.stop();
  await addKeys(directory, count);
  daemon = await startDaemon({ directory });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

/** From the request of a list to the end of its answer. */
async function answeredWithinMs(page: Page): Promise<number> {
  const [ms = 0] = await page.evaluate<number[]>(`performance.getEntriesByType('resource')
    .filter(({ name }) => /\\/v1\\/(?:state|config)\\/keystore\\/transit-keys\\?/.test(name))
    .map(({ requestStart, responseEnd }) => responseEnd - requestStart)`);
  return ms;
}

/** Milliseconds of each frame of a scroll through the page, and of its long tasks. */
type Scrolled = { readonly frames: readonly number[]; readonly longTasks: readonly number[] };

async function scroll(page: Page): Promise<Scrolled> {
  return page.evaluate<Scrolled>(`new Promise((done) => {
    const [frames, longTasks] = [[], []];
    const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)));
    observer.observe({ type: 'longtask' });
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      scrollBy(0, 40);
      if (scrollY + innerHeight < document.documentElement.scrollHeight - 1) requestAnimationFrame(step);
      else setTimeout(() => done({ frames: frames.slice(1), longTasks }), 100);
    };
    requestAnimationFrame(step);
  })`);
}

/** From the key that ends a name until the search shows the key of that name. */
async function searchedWithinMs(page: Page, name: string): Promise<number> {
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog.search input:focus');
  await page.evaluate(`addEventListener('input', () => {
    const begun = performance.now();
    const look = () => {
      const hit = [...document.querySelectorAll('[role=option] bdi')].some((one) => one.textContent === ${JSON.stringify(name)});
      if (hit) window.searchedMs = performance.now() - begun;
      else requestAnimationFrame(look);
    };
    window.searchedMs = undefined;
    look();
  }, { once: true, capture: true })`);
  await page.keyboard.insertText(name);
  // Waiting in the page would evaluate text, which its policy forbids.
  const measured = (): Promise<number | undefined> => page.evaluate<number | undefined>('window.searchedMs');
  await expect.poll(measured, { timeout: 30_000 }).toBeDefined();
  const ms = (await measured()) ?? 0;
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog.search', { state: 'detached' });
  return ms;
}

const list = (query: string): string => `${keys}${query === '' ? '' : `?${query}`}`;

test.skipIf(chromiumPath === undefined)(
  'a page of the list is as large and as quick with a hundred thousand keys as with a few',
  async () => {
    const { context, page, faults } = await openPage(chromium, { viewport: { width: 1_280, height: 860 } });
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    await traffic.settled();
    const last = nameOf(count - 1);
    for (const [what, query, rows] of [
      ['the first page', '', 100],
      ['a name at its end', `contains=${last.slice(-5)}`, undefined],
      ['one name', `contains=${last}`, undefined],
      ['a cipher that one has', 'cipher=ed25519', 1],
      ['a use that one has', 'use=sign', 1],
      ['those that need a person', 'attention=true', 0],
      ['from a place in it', 'after=many-5', 100],
      ['no name', 'contains=nothing-like-it', 0],
    ] as const) {
      const startedMs = performance.now();
      await page.goto(`${daemon.url}/ui${list(query)}`);
      await page.waitForSelector(rows === 0 ? '.empty' : 'tbody tr');
      const shownMs = performance.now() - startedMs;
      const found = await page.locator('tbody tr').count();
      expect([what, rows === undefined ? found > 0 : found]).toEqual([what, rows ?? true]);
      const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
      expect(nodes).toBeLessThan(6_000);
      console.info(
        `${what}: answered in ${(await answeredWithinMs(page)).toFixed(0)} ms, shown after ${shownMs.toFixed(0)} ms, ${nodes} nodes`,
      );
    }
    await page.goto(`${daemon.url}/ui${list('')}`);
    await page.waitForSelector(`p:has-text("100 of ${(count + 2).toLocaleString('en')}")`);
    const { frames, longTasks } = await scroll(page);
    const sorted = frames.toSorted((left, right) => left - right);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    console.info(`scrolled: ${frames.length} frames, ${at(0.5)} ms in the median, ${at(0.99)} ms at 99 %, ${longTasks.length} long tasks`);
    const searched: number[] = [];
    for (const name of [last, nameOf(Math.floor(count / 2)), nameOf(1)]) searched.push(await searchedWithinMs(page, name));
    console.info(`the search: the first answer ${searched.map((ms) => ms.toFixed(0)).join(', ')} ms after the last key`);
    await page.click('a:has-text("Next 100")');
    await page.waitForSelector('a:has-text("First page")');
    expect(await page.locator('tbody tr').count()).toBe(100);
    expect([...faults, ...traffic.faults]).toEqual([]);
    await context.close();
  },
);
