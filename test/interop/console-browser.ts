// The console in a headless Chromium: pages that note every breach of their policy, the sign-in, axe, and pictures of what was looked at.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser as Chromium, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { patienceMs } from '../harness/patience.ts';

/** Set it to keep pictures of the pages there. */
const pictures = process.env['CONSOLE_PICTURES'];
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const looks = {
  light: { viewport: { width: 1280, height: 860 } },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 320, height: 640 } },
  'forced colours': { viewport: { width: 1280, height: 860 }, forcedColors: 'active' },
} as const;

export type Opened = { readonly context: BrowserContext; readonly page: Page; readonly faults: string[] };

/** A page that notes every breach of its policy and every script error. */
export async function openPage(chromium: Chromium, options: Parameters<Chromium['newContext']>[0] = {}): Promise<Opened> {
  const context = await chromium.newContext({ ...options, ignoreHTTPSErrors: true });
  const faults: string[] = [];
  await context.exposeFunction('noteFault', (text: string) => faults.push(text));
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (e) => noteFault(`${e.violatedDirective} ${e.blockedURI}`))",
  );
  const page = await context.newPage();
  context.setDefaultTimeout(patienceMs);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => void dialog.accept());
  return { context, page, faults };
}

export async function signInWithToken(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/ui/sign-in`);
  await page.click('details:has(#token) > summary');
  await page.fill('#token', token);
  await page.click('details[open] button');
  await page.waitForSelector('h1:has-text("Overview"), h1:has-text("Übersicht")');
}

export async function picture(page: Page, look: string, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(join(pictures, look), { recursive: true });
  await page.screenshot({ path: join(pictures, look, `${name}.png`), fullPage: true });
}

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** No finding of axe, and nothing wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findingsOf(page)).toEqual([]);
}

/** What axe finds, and what is wider than the window. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  return [...found, ...(await overflowOf(page))];
}

/** What has to be scrolled sideways: the page, or something in it. */
export async function overflowOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('html, main *')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && (one === document.documentElement ||
      (one.checkVisibility() && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))))
    .map((one) => 'scrolls sideways: ' + one.tagName.toLowerCase() + ' ' + (one.getAttribute('aria-label') ?? one.className))`);
}

/** What names and does something on the page, as far as it is seen. */
export async function offeredOn(page: Page): Promise<ReadonlySet<string>> {
  const texts = await page.evaluate<string[]>(`[...document.querySelectorAll(
      'main :is(h1, h2, h3, label, legend, summary, .button, button:not(.link))')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0)
    .map((one) => one.tagName.toLowerCase() + ' ' + one.textContent.trim())`);
  // Numbers go on while one looks.
  return new Set(texts.map((text) => text.replaceAll(/\d[\d.,]*/g, '#')));
}

export type Traffic = {
  /** requests of the page that were refused, and errors on its console */
  readonly faults: string[];
  /** Waits until everything that the page has asked for is there. */
  settled(): Promise<void>;
};

/** Notes what a page asks for. Topics are left out of what it waits for: they may be followed. */
export function watchTraffic(page: Page): Traffic {
  const faults: string[] = [];
  const pending = new Set<unknown>();
  const isAwaited = (url: string): boolean => /\/v1\//.test(url) && !url.includes('/v1/state/topics/');
  page.on('request', (request) => isAwaited(new URL(request.url()).pathname) && !request.isNavigationRequest() && pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  page.on('response', (response) => {
    if (response.status() < 400) return;
    const request = response.request();
    faults.push(`${response.status()} ${request.method()} ${new URL(response.url()).pathname} ${request.postData() ?? ''}`.trim());
  });
  page.on('console', (message) => message.type() === 'error' && faults.push(`console: ${message.text()}`));
  return {
    faults,
    settled: async () => {
      await page.waitForSelector('h1');
      // Quiet over some frames: an answer leads to the next request.
      for (let quiet = 0; quiet < 4; quiet = pending.size === 0 ? quiet + 1 : 0)
        await page.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(done), 40))');
    },
  };
}
