// A headless Chromium for the sign-in pages, where the machine has one (Debian package `chromium`).
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined on machines without it: the tests that need it are then skipped, with a message. */
export const chromiumPath = paths.find((path) => existsSync(path));

if (chromiumPath === undefined)
  console.warn('SKIPPED: no Chromium on this machine; the tests of the sign-in pages in a browser do not run');

/** Starts it with a new profile and without background traffic. */
export function launchChromium(): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  return chromium.launch({
    executablePath: chromiumPath ?? '',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...quiet],
  });
}

/** Fills in the pages of the certified provider: name, consent unless it was given in another tab, and "Continue" after a change of accounts. */
export async function signInAtProvider(page: Page, login: string): Promise<void> {
  for (let at = page.url(); /\/(?:interaction|auth)\//.test(at); at = page.url()) {
    if ((await page.locator('input[name=login]').count()) > 0) {
      await page.fill('input[name=login]', login);
      await page.fill('input[name=password]', 'x');
    }
    await page.click('[type=submit]');
    // Every step there has its own address.
    await page.waitForURL((url) => url.href !== at);
  }
}
