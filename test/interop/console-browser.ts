// The console in a headless Chromium: pages that note every breach of their policy, the sign-in, axe, and pictures of what was looked at.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser as Chromium, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

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
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => void dialog.accept());
  return { context, page, faults };
}

export async function signInWithToken(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/ui/sign-in`);
  await page.click('summary:has-text("With a token")');
  await page.fill('#token', token);
  await page.click('details[open] button');
  await page.waitForSelector('h1:has-text("Overview")');
}

export async function picture(page: Page, look: string, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(join(pictures, look), { recursive: true });
  await page.screenshot({ path: join(pictures, look, `${name}.png`), fullPage: true });
}

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** No finding of axe, and nothing wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}
