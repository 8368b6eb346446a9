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

  // The kinds that the sources of notices name (core/base/context.ts), with the page of each and what is done there.
  test.each([
    ['keys-attention', '/v1/config/keystore/transit-keys', { attention: 'true' }, 'Keys', '#filter-attention'],
    ['backup-missing', '/v1/state/system/backup-status', undefined, 'Backups', 'a:has-text("Back up"), button:has-text("Back up")'],
    ['drill-missing', '/v1/state/system/restore-drill', undefined, 'Restore drill', 'a:visible, button:visible'],
    ['root-token-used', '/v1/config/keystore/authentication/oidc', undefined, 'Sign-in services', 'a:has-text("Create")'],
    ['sign-ins-refused oidc', '/v1/state/topics/system:audit-trail-log', undefined, 'Audit trail', '#audit-result'],
    ['pin-file', '/v1/state/system/hsm', undefined, 'HSM', 'button'],
    ['approvals-waiting', '/v1/state/approvals', undefined, 'Approvals', 'button'],
    ['opened-as', '/v1/state/open-as', undefined, 'Open as', 'a:has-text("Allow"), button'],
    ['health store', '/v1/state/system/health', undefined, 'Health', 'button'],
    ['health audit', '/v1/state/system/findings', undefined, 'Findings', 'button'],
  ] as const)('of the kind %s leads to %s', async (name, path, filter, title, action) => {
    await walks.walk('', async (page) => {
      await page.route('**/v1/state/notices', (route) => route.fulfill({ json: [{ name, text: 'This needs a person', path, filter }] }));
      await page.reload();
      await page.click('.needs > summary:has-text("1")');
      await page.click('.needs li a:text-is("This needs a person")');
      await page.waitForSelector(`h1:has-text("${title}")`);
      await page.waitForSelector(`main :is(${action})`);
      expect(await page.locator('main .problem').count()).toBe(0);
    });
  });
});
