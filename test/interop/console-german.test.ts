// The console in German in Chromium: every view, without a finding of axe, without English texts, without anything that moves or overflows.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { areas } from '../../plugins/console/words/de/words.ts';
import { sentences } from '../../plugins/console/words/de/api/appliance-texts.ts';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { findingsOf, overflowOf, picture, watchTraffic } from './console-browser.ts';
import { furnish, keys, views } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

let serial = '';
const walks = prepareWalks(async (daemon) => {
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop' });
  serial = await furnish(daemon, daemon.rootToken);
});
const german = { locale: 'de-DE' } as const;

/** What a page whose head moves down by a card has several times (console-shift.test.ts). */
const mostShift = 0.1;

/** Texts that nothing but an English page has: values of the API are single words, mostly in small letters. */
const english = new Set(
  [...Object.values(areas), sentences]
    .flatMap((table) => Object.entries(table))
    .filter(([words, other]) => words !== other && !words.includes('{') && /^\p{Lu}.*(?: |[.?!]$)/u.test(words))
    .map(([words]) => words),
);

/** What is seen and what is read aloud. */
async function textsOn(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`(() => {
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode.textContent.trim());
    for (const one of document.querySelectorAll('[aria-label], [title], [placeholder]'))
      texts.push(one.getAttribute('aria-label') ?? '', one.getAttribute('title') ?? '', one.getAttribute('placeholder') ?? '');
    return texts;
  })()`);
}

describe.skipIf(chromiumPath === undefined)('the console in German', () => {
  test.each(Object.keys(views))('has the view %s without English texts, findings, shifts, and on a phone', async (name) => {
    await walks.walk({ to: '', options: german }, async (page) => {
      await page.addInitScript(`window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });`);
      const traffic = watchTraffic(page);
      await page.goto(`${walks.daemon.url}/ui${views[name]?.(serial) ?? ''}`);
      await traffic.settled();
      await picture(page, 'german', name);
      expect(await page.getAttribute('html', 'lang')).toBe('de');
      expect((await textsOn(page)).filter((text) => english.has(text))).toEqual([]);
      expect(await page.evaluate<number>('window.shift')).toBeLessThan(mostShift);
      expect(await findingsOf(page)).toEqual([]);
      await page.setViewportSize({ width: 1024, height: 844 });
      const broken = `[...document.querySelectorAll('td button.small')].filter((one) => one.checkVisibility() && one.offsetHeight > 36).map((one) => one.textContent)`;
      expect(await page.evaluate<string[]>(broken)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      await traffic.settled();
      await picture(page, 'german-390', name);
      expect(await overflowOf(page)).toEqual([]);
    });
  });

  test('says the titles of refusals, what keeps a thing from working, and what a test has found', async () => {
    await walks.walk({ to: `${keys}/no-such-key`, options: german, refused: ['404'] }, async (page) => {
      await page.waitForSelector('.problem h2:text-is("Nicht gefunden")');
      await page.goto(`${walks.daemon.url}/ui${views['oidc-service']?.(serial) ?? ''}`);
      await page.waitForSelector('.notice:text-is("Es gibt keine Rolle, daher kann sich niemand anmelden.")');
      await page.goto(`${walks.daemon.url}/ui${views['oidc-test']?.(serial) ?? ''}`);
      await page.click('main form button[type=submit]');
      await page.waitForSelector('section[aria-label="Antwort"]');
      await picture(page, 'german', 'oidc-tested');
      expect(await page.textContent('section[aria-label="Antwort"]')).toMatch(/Anbieter/);
      expect((await textsOn(page)).filter((text) => english.has(text))).toEqual([]);
    });
  });

  test('is what a person chooses below the navigation, from then on, with the numbers and times of the language', async () => {
    await walks.walk({ to: `${keys}/orders`, options: german }, async (page) => {
      await page.waitForSelector('h1:has-text("orders")');
      expect(await page.textContent('main time >> nth=0')).toMatch(/^(?:vor|in|jetzt)/i);
      expect((await textsOn(page)).some((text) => /\d\d\.\d\d\.\d{4}/.test(text))).toBe(true);
      await page.click('.languages button:has-text("English")');
      await page.waitForSelector('html[lang=en] nav:has-text("Certificates")');
      expect((await textsOn(page)).filter((text) => /Zertifikate|\d\d\.\d\d\.\d{4}/.test(text))).toEqual([]);
      await page.reload();
      await page.waitForSelector('html[lang=en] nav:has-text("Certificates")');
      await page.click('.languages button:has-text("Deutsch")');
      await page.waitForSelector('html[lang=de] nav:has-text("Zertifikate")');
      expect(new URL(page.url()).pathname).toBe(`/ui${keys}/orders`);
    });
  });

  test('makes a key and encrypts with it', async () => {
    await walks.walk({ to: keys, options: german }, async (page) => {
      await page.click('main a:has-text("Anlegen")');
      await page.click('label:has-text("Verschlüsseln und entschlüsseln")');
      await page.fill('[id="field-name"]', 'rechnungen');
      await page.click('main form button[type=submit]');
      await page.waitForSelector('h1:has-text("rechnungen")');
      await page.waitForSelector('h2:has-text("Ausprobieren")');
      await page.fill('label:has-text("Klartext") + textarea, textarea >> nth=0', 'Rechnung 4711');
      await page.click('button:has-text("Verschlüsseln")');
      expect(await page.textContent('.try ~ .buttons [role=status]:not(:empty)')).toContain('Mit Version 1 verschlüsselt.');
    });
  });
});
