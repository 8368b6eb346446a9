// The drawn views of the console over the real daemon in Chromium: overview, keys, access and audit. Each has no finding of axe in four looks,
// works by keyboard, is kept in its address, shows texts of others as text, and offers nothing that the policies refuse.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, looks, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const keyStates = '/v1/state/keystore/transit-keys';
const policies = '/v1/config/policy/policies';
const check = '/v1/state/policy/check';
const tokens = '/v1/state/keystore/tokens';
const trail = '/v1/state/topics/system:audit-trail-log';
const oidc = '/v1/config/keystore/authentication/oidc';
const hostile = '<img src=x onerror=alert(1)>\u202egnp';

let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  const make = (name: string, fields: object = {}): Promise<unknown> => daemon.request('POST', keys, { name, ...fields });
  const timers = { 'rotate-after': '90d', 'activate-after': '1h', 'deprecate-after': '30d', 'invalidate-after': '60d' };
  await make('orders', { 'auto-rotate': timers, labels: { team: 'shop' } });
  await make('invoices');
  await make('releases', { cipher: 'ed25519' });
  await make('archive', { cipher: 'aes128-gcm96', derived: true });
  for (const [name, times] of [
    ['orders', 2],
    ['invoices', 3],
  ] as const) {
    for (let count = 0; count < times; count += 1) {
      await daemon.request('POST', `${keyStates}/${name}/encrypt`, { plaintext: 'aGVsbG8=' });
      await daemon.request('POST', `${keyStates}/${name}/rotate`);
    }
  }
  const rules = [
    { path: '/v1/config/keystore/transit-keys/**', operations: { read: 'allow' } },
    { path: '/v1/config/keystore/transit-keys', operations: { read: 'allow' } },
    { path: `${keyStates}/*`, operations: { read: 'allow' }, 'hide-fields': ['usage'] },
    { path: '/V1/config/tenants', operations: { read: 'allow' } },
  ];
  await daemon.request('POST', policies, { name: 'reader', description: 'Reads keys', 'rest-api': { rules } });
  await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot', 'token-policies': ['reader'] });
  await daemon.request('PUT', `${oidc}/corp`, {
    'discovery-url': 'https://127.0.0.1:1/.well-known/openid-configuration',
    'client-id': 'keystored',
    'client-secret': 'not a secret',
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': ['https://keys.test/oidc-callback'],
  });
  await daemon.request('PUT', `${oidc}/corp/roles/operators`, { 'token-policies': ['reader', 'missing'] });
  chromium = await launchChromium();
}, 120_000);

afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

async function visit(page: Page, to: string): Promise<void> {
  await page.goto(`${daemon.url}/ui${to}`);
  await page.waitForSelector('h1');
  await page.waitForLoadState('domcontentloaded');
}

/** What a page shows when everything that it asked for has come. */
const seen: Readonly<Record<string, readonly [to: string, shows: string]>> = {
  overview: ['', '#machine-title'],
  keys: [keys, 'th >> text=orders'],
  'keys-none': [`${keys}?contains=nothing-like-it`, 'text=Nothing here matches.'],
  key: [`${keys}/orders`, 'strong:has-text("Version 3")'],
  'key-signing': [`${keys}/releases`, 'button:has-text("Verify")'],
  'key-derived': [`${keys}/archive`, 'label:has-text("Context")'],
  policy: [`${policies}/reader`, 'h2:has-text("Rules")'],
  'policy-edit': [`${policies}/reader?do=edit`, 'text=with a warning at the rules'],
  'policy-create': [`${policies}?do=create`, 'text=The policy has no name yet.'],
  check: [`${check}?path=${encodeURIComponent(`${keys}/orders`)}&operation=delete&policies=reader`, 'section.verdict'],
  tokens: [tokens, 'text=this session'],
  explain: [`/v1/state/keystore/authentication/oidc/corp/explain`, 'legend:has-text("Explain")'],
  audit: [trail, 'td:has-text("rotated")'],
  'audit-none': [`${trail}?who=nobody-of-this-name`, 'text=No record of this time fits the filters.'],
};

describe.skipIf(chromiumPath === undefined).each(Object.entries(looks))('%s', (look, options) => {
  test('every drawn view has no finding of axe, is as wide as the window, and keeps to its policy', { timeout: 180_000 }, async () => {
    const { context, page, faults } = await openPage(chromium, options);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    for (const [name, [to, shows]] of Object.entries(seen)) {
      await visit(page, to);
      await page.waitForSelector(shows);
      await picture(page, look, name);
      await expectAccessible(page);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

async function open(token = daemon.rootToken): Promise<Awaited<ReturnType<typeof openPage>>> {
  const opened = await openPage(chromium);
  await signInWithToken(opened.page, daemon.url, token);
  return opened;
}

describe.skipIf(chromiumPath === undefined)('keys', () => {
  test('are filtered by name, cipher, custody and use, and the address keeps it', async () => {
    const { context, page } = await open();
    await visit(page, keys);
    await page.fill('#filter-contains', 'or');
    await page.press('#filter-contains', 'Enter');
    await page.waitForURL(/contains=or/);
    await page.waitForSelector('th >> text=releases', { state: 'detached' });
    await page.fill('#filter-contains', '');
    await page.selectOption('#filter-use', 'sign');
    await page.waitForURL((url) => url.searchParams.get('use') === 'sign' && !url.searchParams.has('contains'));
    await page.waitForSelector('th >> text=releases');
    await page.reload();
    await page.waitForSelector('th >> text=releases');
    expect(await page.locator('tbody th').allTextContents()).toEqual(['releases']);
    await page.goBack();
    await page.waitForSelector('th >> text=orders');
    await context.close();
  });

  test('are tried in place: what was encrypted is decrypted again, and a changed text does not verify', async () => {
    const { context, page, faults } = await open();
    await visit(page, `${keys}/orders`);
    await page.fill('#try-clear', 'grüße ✓');
    await page.click('button:has-text("Encrypt")');
    await page.waitForSelector('text=Encrypted with version');
    expect(await page.inputValue('#try-value')).toMatch(/^store:v\d:/);
    await page.fill('#try-clear', '');
    await page.click('button:has-text("Decrypt")');
    await page.waitForSelector('text=Decrypted with version');
    expect(await page.inputValue('#try-clear')).toBe('grüße ✓');
    await page.fill('#try-value', 'store:v1:AAAA');
    await page.click('button:has-text("Decrypt")');
    await page.waitForSelector('.problem:has-text("Code")');
    await visit(page, `${keys}/releases`);
    await page.fill('#try-clear', 'release 1');
    await page.click('.card button:has-text("Sign")');
    await page.waitForSelector('text=Signed with version 1.');
    await page.click('button:has-text("Verify")');
    await page.waitForSelector('text=The signature is valid');
    await page.fill('#try-clear', 'release 2');
    await page.click('button:has-text("Verify")');
    await page.waitForSelector('text=does not fit this text');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('are rotated, and trimmed after a preview of what that ends, by keyboard alone', async () => {
    const { context, page, faults } = await open();
    await visit(page, `${keys}/invoices`);
    await page.waitForSelector('strong:has-text("Version 4")');
    await page.focus('summary:has-text("Rotate")');
    await page.keyboard.press('Enter');
    await page.focus('button:has-text("Rotate now")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('strong:has-text("Version 5")');
    await page.focus('summary:has-text("Trim old versions")');
    await page.keyboard.press('Enter');
    expect(await page.locator('button:has-text("Destroy these versions")').isDisabled()).toBe(true);
    await page.selectOption('#trim-oldest', '3');
    await page.waitForSelector('.version.going >> nth=1');
    expect(await page.locator('.version.going').count()).toBe(2);
    expect(await page.textContent('.confirm .notice')).toBe(
      'This destroys the versions 1 to 2. 2 values were not rewrapped: nothing can ever open them again.',
    );
    await page.fill('#confirm-trim', 'invoices');
    await page.keyboard.press('Enter');
    await page.waitForSelector('strong:has-text("Version 2")', { state: 'detached' });
    expect(await daemon.request('GET', `${keyStates}/invoices`)).toMatchObject({ 'oldest-version': 3, 'latest-version': 5 });
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('access', () => {
  test('a policy is checked while one types, at the rule that is wrong, and saved as it was written', async () => {
    const { context, page, faults } = await open();
    await visit(page, `${policies}?do=create`);
    await page.fill('#policy-name', 'typed');
    await page.fill('.rule input.code >> nth=0', 'v1/config/**/x');
    await page.waitForSelector('.rule.wrong');
    await page.fill('.rule input.code >> nth=0', '/V1/config/**');
    await page.waitForSelector('.rule:has-text("has no effect")');
    await page.fill('.rule input.code >> nth=0', '/v1/config/**');
    await page.selectOption('.effect:has-text("anything else") select', 'allow');
    await page.selectOption('.effect:has-text("delete") select', 'reject');
    await page.waitForSelector('text=The appliance would take this policy.');
    await page.click('button:has-text("Create")');
    await page.waitForSelector('h2:has-text("Rules")');
    expect(await daemon.request('GET', `${policies}/typed`)).toMatchObject({
      'rest-api': { rules: [{ path: '/v1/config/**', operations: { all: 'allow', delete: 'reject' } }] },
    });
    await page.click('a:has-text("Edit")');
    await page.fill('#policy-description', 'second thoughts');
    await page.waitForSelector('text=The appliance would take this policy.');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('h2:has-text("Rules")');
    expect(await daemon.request('GET', `${policies}/typed`)).toMatchObject({ description: 'second thoughts' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('"May they do this?" answers with the rule that decides, and its address asks again', async () => {
    const { context, page } = await open();
    await visit(page, check);
    await page.check('label:has-text("A token with these policies") input');
    await page.fill('#check-policies', 'reader');
    await page.fill('#check-path', `${keys}/orders`);
    await page.selectOption('#check-operation', 'delete');
    await page.click('button:has-text("Ask")');
    await page.waitForSelector('.verdict:has-text("No")');
    await page.selectOption('#check-operation', 'read');
    await page.click('button:has-text("Ask")');
    await page.waitForSelector('.verdict:has-text("Yes")');
    expect(await page.textContent('.verdict dl')).toContain('/v1/config/keystore/transit-keys/**');
    await page.reload();
    await page.waitForSelector('.verdict:has-text("Yes")');
    await context.close();
  });

  test('a login is explained: which role matches, and which policies do not exist', async () => {
    const { context, page } = await open();
    await visit(page, '/v1/state/keystore/authentication/oidc/corp/explain');
    await page.check('label:has-text("claims") input');
    await page.fill('#explain-claims', JSON.stringify({ sub: '1', name: hostile, groups: ['operators'] }));
    await page.click('button:has-text("Explain")');
    await page.waitForSelector('.verdict:has-text("Would be signed in")');
    expect(await page.textContent('.verdict')).toContain('missing does not exist, and grants nothing'.replace('missing ', ''));
    await page.check('label:has-text("a sign-in that failed") input');
    await page.fill('#explain-login', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6');
    await page.click('button:has-text("Explain")');
    await page.waitForSelector('.problem:has-text("not-found")');
    await context.close();
  });

  test('a token is ended after its holder was typed', async () => {
    const made = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['reader'] })) as {
      readonly token: string;
      readonly accessor: string;
    };
    const { context, page } = await open();
    await visit(page, tokens);
    await page.click(`tr:has-text("${made.accessor}") button:has-text("End")`);
    await page.waitForSelector(`text=This ends the token ${made.accessor}`);
    expect(await page.locator('button:has-text("End it")').isDisabled()).toBe(true);
    await page.fill('#confirm-disable', (await page.textContent('.confirm code')) ?? '');
    await page.click('button:has-text("End it")');
    await page.waitForSelector(`tr:has-text("${made.accessor}")`, { state: 'detached' });
    expect((await daemon.exchange('GET', keys, undefined, made.token)).status).toBe(401);
    await context.close();
  });

  test('what the policies refuse is not offered, and the overview leaves out what may not be read', async () => {
    const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['reader'] })) as {
      readonly token: string;
    };
    const { context, page, faults } = await open(token);
    await page.waitForSelector('a:has-text("Keys")');
    await page.waitForSelector('text=Everything works.');
    expect(await page.locator('#machine-title').count()).toBe(0);
    await page.waitForSelector('.main-pages >> text=Audit trail', { state: 'detached' });
    await visit(page, `${keys}/invoices`);
    await page.waitForSelector('text=Encrypt is not allowed');
    await page.click('summary:has-text("that your policies refuse")');
    await page.waitForSelector('.actions dt:has-text("Rotate")');
    expect(await page.locator('section[aria-labelledby=versions-title] .panel').count()).toBe(0);
    expect(await page.locator('.facts:has-text("uses")').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('the audit trail', () => {
  test('is live, filtered, opened and kept in the address', async () => {
    const { context, page, faults } = await open();
    await visit(page, `${trail}?only=changes&where=transit-keys/live`);
    await page.waitForSelector('text=No record of this time fits the filters.');
    await daemon.request('POST', keys, { name: 'live' });
    await daemon.exchange('POST', `${keyStates}/live/encrypt`, { plaintext: 'no base64!' });
    await page.waitForSelector('tr:has-text("/v1/state/keystore/transit-keys/live/encrypt")');
    await page.selectOption('#audit-result', 'refused');
    await page.waitForURL(/result=refused/);
    await page.click('tr:has-text("live/encrypt") button');
    await page.waitForSelector('.whole:has-text("invalid-base64")');
    const kept = page.url();
    expect(new URL(kept).searchParams.get('record')).toMatch(/^worker-1-\d+$/);
    await page.goto('about:blank');
    await page.goto(kept);
    await page.waitForSelector('.whole:has-text("invalid-base64")');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows the time that was chosen with sliders, or by dragging, and goes back', async () => {
    const { context, page } = await open();
    await visit(page, `${trail}?only=changes`);
    await page.waitForSelector('td:has-text("rotated")');
    await page.click('summary:has-text("Choose a time by keyboard")');
    await page.focus('.slider >> nth=0 >> input');
    for (let count = 0; count < 40; count += 1) await page.keyboard.press('ArrowRight');
    await page.click('button:has-text("Show this time")');
    await page.waitForURL(/from=.*to=/);
    await page.waitForSelector('h2:has-text("The time you chose")');
    await page.waitForSelector('td:has-text("rotated")');
    const box = await page.locator('.histogram svg').boundingBox();
    if (box === null) throw new Error('the histogram is not drawn');
    const before = page.url();
    await page.mouse.move(box.x + box.width * 0.1, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
    await page.mouse.up();
    await page.waitForURL((url) => url.href !== before);
    await page.click('button:has-text("Back to the last")');
    await page.waitForURL((url) => !url.searchParams.has('from'));
    expect(await page.textContent('#when-title')).toBe('The last hour');
    await context.close();
  });

  test('shows what hostile clients send as text', async () => {
    await daemon.exchange('GET', `${keys}/${encodeURIComponent(hostile)}`, undefined, daemon.rootToken, {
      'user-agent': '<script>alert(1)</script>',
    });
    const { context, page, faults } = await open();
    await visit(page, `${trail}?where=onerror&only=all`);
    await page.waitForSelector('tr:has-text("onerror") button');
    await page.click('tr:has-text("onerror") button');
    await page.waitForSelector('.whole:has-text("<script>alert(1)</script>")');
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});
