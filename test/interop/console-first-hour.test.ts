// The first hour in Chromium: a list on the overview that ticks itself, the CA saved there, and nothing of it for who has nothing to do there; and
// what needs a person afterwards.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { prepareWalks } from './console-walk.ts';

let tenantRoot = '';
const walks = prepareWalks(async (daemon) => {
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop' });
  const made = await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: 'shop' });
  tenantRoot = (made as { readonly token: string }).token;
});

describe.skipIf(chromiumPath === undefined)('the first hour', () => {
  test('is a list that ticks what the appliance knows, and what a person has done here', async () => {
    const { daemon } = walks;
    await walks.walk('', async (page) => {
      await page.waitForSelector('section[aria-labelledby=first-hour] :text("0 of 6 done")');
      await picture(page, 'light', 'first-hour');
      await expectAccessible(page);
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:text-is("Save ca.pem")')]);
      expect(download.suggestedFilename()).toBe('ca.pem');
      expect(readFileSync(await download.path(), 'utf8')).toContain('BEGIN CERTIFICATE');
      await page.waitForSelector(':text("1 of 6 done")');
      const service = {
        'discovery-url': 'https://127.0.0.1:1/.well-known/openid-configuration',
        'client-id': 'keystored',
        'client-secret': 'not a secret',
        'role-select': { 'role-claim': 'groups' },
        'allowed-redirect-uris': ['https://keys.test/oidc-callback'],
      };
      await daemon.request('PUT', '/v1/config/keystore/authentication/oidc/corp', service);
      await page.reload();
      await page.waitForSelector(':text("2 of 6 done")');
      await page.setViewportSize({ width: 390, height: 800 });
      await expectAccessible(page);
      await page.click('button:text-is("Hide this list")');
      await page.reload();
      await page.waitForSelector('#activity-title');
      expect(await page.locator('#first-hour').count()).toBe(0);
    });
  });

  test('is not shown to other tenants', async () => {
    await walks.walk({ to: '', token: tenantRoot }, async (page) => {
      await page.waitForSelector('h2:has-text("Keys that need a person")');
      expect(await page.locator('#first-hour').count()).toBe(0);
    });
  });
});

describe.skipIf(chromiumPath === undefined)('what needs a person', () => {
  test('has a count in the head, and each leads to where it is done', async () => {
    await walks.walk('', async (page) => {
      await page.waitForSelector('.needs .count.some');
      await page.click('.needs > summary');
      const links = page.locator('.needs li a');
      expect(await links.count()).toBe(Number(await page.textContent('.needs .count')));
      await expectAccessible(page);
      await links
        .filter({ hasText: /backup/i })
        .first()
        .click();
      await page.waitForSelector('h1:has-text("Backups")');
      expect(await page.locator('.needs li a:visible').count()).toBe(0);
    });
  });
});
