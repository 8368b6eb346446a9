// Sessions in Chromium: told apart by kind, browser, address and last use, and all of one person ended at once.
import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { prepareWalks } from './console-walk.ts';

const tokens = '/v1/state/keystore/tokens';
const approles = '/v1/config/keystore/authentication/approles';
const credentials = { 'role-id': '', 'secret-id': '' };

const walks = prepareWalks(async (daemon) => {
  await daemon.request('POST', approles, { name: 'build-server' });
  const approle = (await daemon.request('GET', `${approles}/build-server`.replace('config', 'state'))) as { readonly 'role-id': string };
  const made = await daemon.request('POST', `${approles.replace('config', 'state')}/build-server/generate-secret-id`, {});
  credentials['role-id'] = approle['role-id'];
  credentials['secret-id'] = (made as { readonly 'secret-id': string })['secret-id'];
});

describe.skipIf(chromiumPath === undefined)('a session', () => {
  test('is told apart by kind, browser, address and last use', async () => {
    await walks.walk(
      { to: tokens, options: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' } },
      async (page) => {
        const own = page.locator('tr', { hasText: 'this session' });
        await expect.poll(() => own.textContent()).toContain('session in a browser');
        const text = await own.textContent();
        expect(text).toContain('root token');
        expect(text).toContain('Firefox 128 on Linux');
        expect(text).toMatch(/from (?:127\.0\.0\.1|::1)/);
        await picture(page, 'light', 'sessions');
        await expectAccessible(page);
      },
    );
  });

  test('ends with all others of the same login, and nobody else’s does', async () => {
    const { daemon } = walks;
    const held: string[] = [];
    for (let login = 0; login < 3; login += 1) {
      const { token } = (await daemon.request('POST', '/v1/approle-login', credentials)) as { readonly token: string };
      held.push(token);
    }
    const ask = async (token: string): Promise<number> =>
      (await daemon.exchange('POST', '/v1/state/keystore/token/info', {}, token)).status;
    await walks.walk(tokens, async (page) => {
      await page.locator('button[aria-label="End all of build-server"]').first().click();
      await page.waitForSelector('.notice:has-text("This ends 3 sessions and tokens at once.")');
      await expectAccessible(page);
      await page.fill('#confirm-person', 'build-server');
      await page.click('button:text-is("End all")');
      await expect.poll(() => page.locator('th:has-text("build-server")').count()).toBe(0);
      expect(await page.locator('tr:has-text("this session")').count()).toBe(1);
    });
    expect(await Promise.all(held.map(ask))).toEqual([401, 401, 401]);
    expect(await ask(daemon.rootToken)).toBe(200);
  });
});
