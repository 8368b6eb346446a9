// Sessions in Chromium: told apart by kind, browser, address and last use, all of one person ended at once; and what they did, one click from them.
import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { authorities, authorityStates, keys, keyStates } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

const tokens = '/v1/state/keystore/tokens';
const approles = '/v1/config/keystore/authentication/approles';
type Login = { readonly token: string; readonly accessor: string };
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

describe.skipIf(chromiumPath === undefined)('who used it', () => {
  test('is asked of an authority and of an application, and is one click from a token and from its holder', async () => {
    const { daemon } = walks;
    await daemon.request('POST', keys, { name: 'orders' });
    await daemon.request('POST', authorities, { name: 'zone', subject: 'CN=Zone' });
    await daemon.request('POST', `${authorityStates}/zone/issue`, { subject: 'CN=valve-9.plant.example', ttl: '20d' });
    const made = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['root'] })) as Login;
    await daemon.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' }, made.token);
    const { token } = (await daemon.request('POST', '/v1/approle-login', credentials)) as Login;
    expect((await daemon.exchange('PATCH', `${keys}/orders`, { labels: { team: 'plant' } }, token)).status).toBe(403);
    await walks.walk(`${authorities}/zone`, async (page) => {
      await page.click('summary:has-text("Who used it")');
      await page.waitForSelector('table:has-text("issue") th:has-text("root")');
      await page.goto(`${daemon.url}/ui${approles}/build-server`);
      await page.click('summary:has-text("What it did")');
      await page.waitForSelector('table th:has-text("build-server")');
      expect(await page.textContent('td[data-head="Refused"]')).toBe('1');
      await page.goto(`${daemon.url}/ui${tokens}`);
      await page.click(`tr:has-text("${made.accessor}") a:has-text("What it did")`);
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders")');
      expect(await page.locator('tbody tr:has-text("/encrypt")').count()).toBe(1);
      await page.goBack();
      await page.click(`tr:has-text("${made.accessor}") th a`);
      await page.waitForSelector('h1:has-text("Audit trail")');
      expect(new URL(page.url()).searchParams.get('who')).toBe('root');
    });
  });
});
