// Ways to a thing and to what happened to it: the search over every kind of name, who used it, what needs a person; and what stays in sight there.
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, overflowOf } from './console-browser.ts';
import { authorities, authorityStates, furnish, keys, keyStates } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

/** Authorities before that of the certificate which is searched. */
const otherAuthorities = 9;
const manyKeys = 40;
let serial = '';
let accessor = '';
const walks = prepareWalks(async (daemon) => {
  const make = (to: string, body: object): Promise<unknown> => daemon.request('POST', to, body);
  await furnish(daemon, daemon.rootToken);
  await make('/v1/config/tenants', { name: 'shop' });
  for (let number = 1; number <= otherAuthorities; number += 1) await make(authorities, { name: `line-${number}` });
  await make(authorities, { name: 'zone', subject: 'CN=Zone' });
  const issued = await make(`${authorityStates}/zone/issue`, { 'common-name': 'valve-9.plant.example', ttl: '20d' });
  serial = (issued as { readonly serial: string }).serial;
  for (let number = 0; number < manyKeys; number += 1) await make(keys, { name: `many-${number}` });
  const token = (await make('/v1/state/keystore/token/create', { policies: ['root'] })) as {
    readonly token: string;
    readonly accessor: string;
  };
  accessor = token.accessor;
  await daemon.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' }, token.token);
});

/** One key, a name and Enter: answers the heading of the page that it opens. */
async function found(page: Page, name: string, kind: string): Promise<string> {
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog.search input:focus');
  await page.keyboard.insertText(name);
  await page.waitForSelector(`[role=option][aria-selected=true]:has-text("${kind}")`);
  const before = page.url();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.href !== before);
  await page.waitForSelector('h1');
  return (await page.textContent('h1')) ?? '';
}

describe.skipIf(chromiumPath === undefined)('the search', () => {
  test('finds everything that has a name, by keyboard alone', async () => {
    await walks.walk('', async (page) => {
      expect(await found(page, 'releases', 'key')).toContain('releases');
      expect(await found(page, 'plant-root', 'authority')).toContain('plant-root');
      expect(await found(page, 'robot', 'application')).toContain('robot');
      expect(await found(page, 'reader', 'policy')).toContain('reader');
      expect(await found(page, 'shop', 'tenant')).toContain('shop');
      expect(await found(page, 'corp', 'sign-in service')).toContain('corp');
      expect(await found(page, 'valve-9', 'certificate of zone')).toContain(serial);
      expect(await found(page, serial, 'certificate of zone')).toContain(serial);
      expect(await found(page, accessor, 'token')).toContain('May they do this?');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('who used it', () => {
  test('is asked of an authority, and of an application', async () => {
    const state = '/v1/state/keystore/authentication/approles/robot';
    const { 'secret-id': secretId } = (await walks.daemon.request('POST', `${state}/generate-secret-id`, {})) as Readonly<
      Record<string, string>
    >;
    const { 'role-id': roleId } = (await walks.daemon.request('GET', state)) as Readonly<Record<string, string>>;
    const login = (await walks.daemon.request('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId })) as {
      readonly token: string;
    };
    await walks.daemon.exchange('PATCH', `${keys}/orders`, { labels: { team: 'plant' } }, login.token);
    await walks.walk(`${authorities}/zone`, async (page) => {
      await page.click('summary:has-text("Who used it")');
      await page.waitForSelector('table:has-text("issue") th:has-text("root")');
      await page.goto(`${walks.daemon.url}/ui/v1/config/keystore/authentication/approles/robot`);
      await page.click('summary:has-text("What it did")');
      await page.waitForSelector('table th:has-text("robot")');
      expect(await page.textContent('td[data-head="Refused"]')).toBe('1');
    });
  });

  test('is one click from a token, and from its holder', async () => {
    await walks.walk('/v1/state/keystore/tokens', async (page) => {
      await page.click(`tr:has-text("${accessor}") a:has-text("What it did")`);
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders")');
      expect(await page.locator('tbody tr:has-text("/encrypt")').count()).toBe(1);
      await page.goBack();
      await page.click(`tr:has-text("${accessor}") th a`);
      await page.waitForSelector('h1:has-text("Audit trail")');
      expect(await page.inputValue('input[name=who], #filter-who')).not.toBe('');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('what needs a person', () => {
  test('has a count in the head, and each leads to where it is done', async () => {
    await walks.walk('', async (page) => {
      await page.waitForSelector('.needs .count.some');
      await page.click('.needs > summary');
      const texts = await page.locator('.needs li a').allTextContents();
      expect(texts.length).toBe(Number(await page.textContent('.needs .count')));
      expect(texts.join(' ')).toMatch(/backup/i);
      await expectAccessible(page);
      await page.click('.needs li a:text-matches("backup", "i") >> nth=0');
      await page.waitForSelector('h1:has-text("Backups")');
    });
  });
});

describe.skipIf(chromiumPath === undefined)('in a long list', () => {
  test('the navigation and the head of the table stay, and rows have one line', async () => {
    await walks.walk({ to: keys, options: { viewport: { width: 1_440, height: 600 } } }, async (page) => {
      await page.waitForSelector('th a:text-is("many-0")');
      await page.evaluate('scrollTo(0, 900)');
      const tops = await page.evaluate<readonly number[]>(
        "['.bar', '.side', 'thead th'].map((one) => document.querySelector(one).getBoundingClientRect().top)",
      );
      const bar = await page.evaluate<number>("document.querySelector('.bar').getBoundingClientRect().bottom");
      expect(tops[0]).toBe(0);
      for (const top of tops.slice(1)) expect(Math.abs(top - bar)).toBeLessThan(2);
      const tallest = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('tbody tr')].filter((one) => one.textContent.includes('many-')).map((one) => one.getBoundingClientRect().height))",
      );
      expect(tallest).toBeLessThanOrEqual(44);
    });
  });

  test('of a phone, a record of the trail is shown whole', async () => {
    const where = `of-a-long-name-${randomUUID()}`;
    await walks.daemon.exchange('GET', `${keys}/${where}`);
    await walks.walk(
      { to: `/v1/state/topics/system:audit-trail-log?only=all&where=${where}`, options: { viewport: { width: 390, height: 844 } } },
      async (page) => {
        await page.click('tbody th :is(a, button) >> nth=0');
        await page.waitForSelector(`pre:has-text("${where}"), dd:has-text("${where}")`);
        expect(await overflowOf(page)).toEqual([]);
        const cut = await page.evaluate<readonly string[]>(`[...document.querySelectorAll('main *')]
        .filter((one) => one.checkVisibility() && getComputedStyle(one).overflowX === 'hidden' && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
        .map((one) => one.outerHTML.slice(0, 80))`);
        expect(cut).toEqual([]);
      },
    );
  });
});
