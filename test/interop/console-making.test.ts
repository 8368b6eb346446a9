// Making things by what they are for, choices from lists, access for an application, and policies before they are saved: in Chromium over the
// real daemon, with as many clicks as people are promised.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, openPage, picture, signInWithToken } from './console-browser.ts';
import { authorities, authorityStates, keys, keyStates, policies } from './console-furnished.ts';

const approles = '/v1/config/keystore/authentication/approles';
const services = '/v1/config/keystore/authentication/oidc';
const path = temporaryDirectory();
let daemon: Daemon;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  chromium = await launchChromium();
}, 120_000);
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

type Effort = { readonly clicks: number; readonly typed: number };

/** Walks as root from the overview, and answers what it took: presses of the pointer, and fields with something typed. */
async function walk(steps: (page: Page) => Promise<void>): Promise<Effort> {
  const { context, page, faults } = await openPage(chromium, { acceptDownloads: true });
  let clicks = 0;
  const typed = new Set<string>();
  await context.exposeFunction('noteClick', () => (clicks += 1));
  await context.exposeFunction('noteTyped', (field: string) => typed.add(field));
  await context.addInitScript(`
    addEventListener('pointerdown', (event) => event.isTrusted && noteClick(), true);
    addEventListener('input', (event) => event.target.matches('input[type=text], input[type=password], textarea') &&
      noteTyped(location.pathname + ' ' + event.target.id), true);`);
  await signInWithToken(page, daemon.url, daemon.rootToken);
  await page.waitForSelector('.main-pages a:has-text("Keys")');
  clicks = 0;
  typed.clear();
  await steps(page);
  const effort = { clicks, typed: typed.size };
  console.info(`${expect.getState().currentTestName}: ${effort.clicks} clicks, ${effort.typed} typed`);
  expect(faults).toEqual([]);
  await context.close();
  return effort;
}

async function create(page: Page): Promise<void> {
  await page.click('main form >> button[type=submit]');
}

describe.skipIf(chromiumPath === undefined)('a key', () => {
  test('encrypts after at most five clicks and two typed fields', async () => {
    const effort = await walk(async (page) => {
      await page.click('.main-pages a:has-text("Keys")');
      await page.click('main a:has-text("Create")');
      await page.fill('#field-name', 'orders');
      await page.waitForSelector('.review:has-text("“orders”")');
      await picture(page, 'light', 'key-by-purpose');
      await expectAccessible(page);
      await create(page);
      await page.fill('#try-clear', '4711');
      await page.click('button:has-text("Encrypt")');
      await page.waitForSelector('text=Encrypted with version 1.');
    });
    expect(effort.clicks, 'clicks').toBeLessThanOrEqual(5);
    expect(effort.typed).toBeLessThanOrEqual(2);
    expect(await daemon.request('GET', `${keys}/orders`)).toMatchObject({
      cipher: 'aes256-gcm96',
      'auto-rotate': { 'rotate-after': '90d' },
    });
  });

  test('is what its purpose says', async () => {
    const spki = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' });
    const made: readonly (readonly [purpose: string, name: string, more: Readonly<Record<string, string>>, expected: object])[] = [
      ['sign', 'by-sign', {}, { cipher: 'ecdsa-p256' }],
      ['mac', 'by-mac', {}, { cipher: 'aes256-cmac' }],
      ['receive', 'by-receive', {}, { cipher: 'rsa-3072', use: 'encrypt' }],
      ['openpgp', 'by-openpgp', { '#field-openpgp-user-id': 'Team <team@example.com>' }, { 'openpgp-user-id': 'Team <team@example.com>' }],
      ['verify', 'by-verify', { '#field-public-key': spki }, { cipher: 'ecdsa-p256' }],
    ];
    await walk(async (page) => {
      for (const [purpose, name, more, expected] of made) {
        await page.goto(`${daemon.url}/ui${keys}?do=create`);
        await page.check(`#purpose-${purpose}`);
        await page.fill('#field-name', name);
        for (const [field, text] of Object.entries(more)) await page.fill(field, text);
        if (purpose === 'verify') await page.selectOption('#field-cipher', 'ecdsa-p256');
        await create(page);
        await page.waitForSelector(`h1:has-text("${name}")`);
        expect(await daemon.request('GET', `${keys}/${name}`)).toMatchObject(expected);
      }
      await page.goto(`${daemon.url}/ui${keys}?do=create`);
      await page.check('#purpose-import');
      await page.fill('#field-name', 'by-import');
      await create(page);
      await page.waitForSelector('#field-data');
    });
  });

  test('keeps what was typed when another purpose is chosen, and sends nothing of the former one', async () => {
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${keys}?do=create`);
      await page.check('#purpose-receive');
      await page.fill('#field-name', 'changed-mind');
      await page.selectOption('#field-cipher', 'rsa-4096');
      await page.check('#purpose-sign');
      expect(await page.inputValue('#field-name')).toBe('changed-mind');
      await page.selectOption('#field-cipher', 'ed25519');
      await page.check('#purpose-encrypt');
      await create(page);
      await page.waitForSelector('h1:has-text("changed-mind")');
      const made = await daemon.request('GET', `${keys}/changed-mind`);
      expect(made).toMatchObject({ cipher: 'aes256-gcm96' });
    });
  });
});

describe.skipIf(chromiumPath === undefined)('an application', () => {
  test('gets access to a key in at most five clicks; the link opens its secret once, and the program works', async () => {
    await daemon.request('POST', keys, { name: 'payroll' });
    const directory = path('program');
    mkdirSync(directory);
    let link = '';
    let script = '';
    const effort = await walk(async (page) => {
      await page.click('.main-pages a:has-text("Keys")');
      await page.click('th a:has-text("payroll")');
      await page.click('a:has-text("Give an application access")');
      await page.fill('#application', 'billing');
      await page.waitForSelector('.review li:has-text("Policy billing-payroll")');
      await expectAccessible(page);
      await page.click('button:has-text("Give access")');
      await page.waitForSelector('h2:has-text("Hand this over")');
      await page.waitForSelector('pre:has-text("KEYSTORED_ROLE_ID=")');
      await picture(page, 'light', 'access-given');
      await expectAccessible(page);
      link = (await page.locator('dd code').first().textContent()) ?? '';
      const lines = (await page.locator('pre[aria-label="Lines for the shell"]').textContent()) ?? '';
      script = `${lines}\n${(await page.locator('pre[aria-label="Program in curl"]').textContent()) ?? ''}`;
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('a:text-is("ca.pem")')]);
      await download.saveAs(join(directory, 'ca.pem'));
    });
    expect(effort.clicks, 'clicks').toBeLessThanOrEqual(5);
    expect(effort.typed).toBe(1);
    // Who has the link needs no account; the token leaves the address at once.
    const { context, page, faults } = await openPage(chromium);
    await page.goto(link);
    await page.waitForSelector('text=secret-id of');
    expect(page.url()).toBe(`${daemon.url}/ui/open`);
    await expectAccessible(page);
    await page.click('button:has-text("Open it")');
    await page.click('button:text-is("Show")');
    const secretId = (await page.locator('.secret code').textContent()) ?? '';
    const again = await context.newPage();
    await again.goto(link);
    await again.waitForSelector('h2:has-text("It was opened before")');
    await picture(again, 'light', 'link-opened-before');
    await expectAccessible(again);
    expect(faults).toEqual([]);
    await context.close();
    const answer = execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: directory },
      encoding: 'utf8',
      input: `${secretId}\n`,
    });
    expect(JSON.parse(answer)).toMatchObject({ ciphertext: expect.stringMatching(/^store:v1:/) });
  });

  test('that is there already keeps what it may do, and is found by a part of its name', async () => {
    await daemon.request('POST', keys, { name: 'invoices' });
    await daemon.request('POST', approles, { name: 'back-office', 'token-policies': ['rewrap-only'] });
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${keys}/invoices?do=give-access`);
      await page.check('label:has-text("one that is there") input');
      await page.fill('#application', 'office');
      await page.waitForSelector('[role=option]:has-text("back-office")');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await page.inputValue('#application')).toBe('back-office');
      await page.click('button:has-text("Give access")');
      await page.waitForSelector('h2:has-text("Hand this over")');
      expect(await daemon.request('GET', `${approles}/back-office`)).toMatchObject({
        'token-policies': expect.arrayContaining(['rewrap-only', 'back-office-invoices']),
      });
    });
  });

  test('gets more uses of a key later, in a policy of its own; a policy of another key with the same name is left alone', async () => {
    for (const name of ['stamps', 'office-stamps']) await daemon.request('POST', keys, { name });
    const other = {
      name: 'post-office-stamps',
      'rest-api': { rules: [{ path: `${keyStates}/stamps/decrypt`, operations: { execute: 'allow' } }] },
    };
    await daemon.request('POST', policies, other);
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${keys}/office-stamps?do=give-access`);
      await page.fill('#application', 'post');
      await page.click('button:has-text("Give access")');
      await page.waitForSelector('h2:has-text("Hand this over")');
      expect(await daemon.request('GET', `${approles}/post`)).toMatchObject({ 'token-policies': ['post-office-stamps-2'] });
      expect(await daemon.request('GET', `${policies}/post-office-stamps`)).toMatchObject(other);
      for (const [label, made] of [
        ['decrypt', ['post-office-stamps-2']],
        ['move values', ['post-office-stamps-2', 'post-office-stamps-3']],
      ] as const) {
        await page.goto(`${daemon.url}/ui${keys}/office-stamps?do=give-access`);
        if (label !== 'decrypt') await page.check(`label:has-text("${label}") input`);
        await page.check('label:has-text("one that is there") input');
        await page.fill('#application', 'post');
        await page.keyboard.press('Escape');
        await page.click('button:has-text("Give access")');
        await page.waitForSelector('h2:has-text("Hand this over")');
        expect(await daemon.request('GET', `${approles}/post`)).toMatchObject({ 'token-policies': made });
      }
    });
  });

  test.each([
    ['one that is there', 'nobody', 'There is no application of this name.'],
    ['a new one', 'post', 'choose “one that is there”'],
  ])('that is not %s: nothing is made, and the form can be mended', async (which, name, told) => {
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${keys}/stamps?do=give-access`);
      await page.check(`label:has-text("${which}") input`);
      await page.fill('#application', name);
      await page.keyboard.press('Escape');
      await page.click('button:has-text("Give access")');
      await page.waitForSelector(`.problem:has-text("${told}")`);
      expect(await page.isEnabled('#application')).toBe(true);
      expect((await daemon.exchange('GET', `${policies}/${name}-stamps`)).status).toBe(404);
    });
  });

  test('is not half made when a step is refused: it goes on where it stopped', async () => {
    await daemon.request('POST', keys, { name: 'letters' });
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${keys}/letters?do=give-access`);
      await page.fill('#application', 'post-room');
      await page.route(`**${approles}`, (route) => route.abort());
      await page.click('button:has-text("Give access")');
      await page.waitForSelector('.problem:has-text("The appliance did not answer")');
      await page.waitForSelector('.review li:has-text("Policy post-room-letters"):has-text("made")');
      await page.unroute(`**${approles}`);
      await page.click('button:has-text("Go on")');
      await page.waitForSelector('h2:has-text("Hand this over")');
      expect(await daemon.request('GET', `${policies}/post-room-letters`)).toMatchObject({ name: 'post-room-letters' });
    });
  });
});

describe.skipIf(chromiumPath === undefined)('an authority', () => {
  test('for devices has its secret, and the files and commands of a device, after at most seven clicks', async () => {
    const effort = await walk(async (page) => {
      await page.click('.main-pages a:has-text("Authorities")');
      await page.click('main a:has-text("Create")');
      await page.fill('#field-name', 'workshop');
      await page.fill('#field-est-allowed-domains', 'workshop.example');
      await page.waitForSelector('.review:has-text("for names below workshop.example.")');
      // What the head covers in part is not what is looked at.
      await page.evaluate('scrollTo(0, 0)');
      await expectAccessible(page);
      await create(page);
      await page.click('button:text-is("Show")');
      expect((await page.locator('.secret code').textContent())?.length).toBe(24);
      await page.click('a:has-text("Enrol a device")');
      for (const file of ['ca.pem', 'issuer.pem'])
        await Promise.all([page.waitForEvent('download'), page.click(`button:has-text("Save ${file}")`)]);
    });
    expect(effort.clicks, 'clicks').toBeLessThanOrEqual(7);
    expect(await daemon.request('GET', `${authorityStates}/workshop`)).toMatchObject({
      est: { enabled: true, 'initial-enroll-secret-set': true, 'allow-subdomains': true },
    });
  });

  test('that is elsewhere is trusted with its certificate alone', async () => {
    const { 'ca-cert': pem } = (await daemon.request('GET', `${authorityStates}/workshop`)) as { readonly 'ca-cert': string };
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${authorities}?do=create`);
      await page.check('#purpose-trusted');
      await page.fill('#field-name', 'elsewhere');
      await page.fill('#field-ca-cert', pem);
      await create(page);
      await page.click('a:has-text("Open elsewhere")');
      await page.waitForSelector('h1:has-text("elsewhere")');
      expect(await daemon.request('GET', `${authorityStates}/elsewhere`)).toMatchObject({ 'trust-only': true });
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a sign-in service', () => {
  test('is asked for by its provider, has its address made, and is tested when it is saved', async () => {
    const effort = await walk(async (page) => {
      await page.click('.main-pages a:has-text("Sign-in services")');
      await page.click('main a:has-text("Create")');
      await page.check('#purpose-keycloak');
      await page.waitForSelector(`dd:has-text("${daemon.url}/oidc-callback")`);
      await page.fill('#provider-host', '127.0.0.1:1');
      await page.fill('#provider-realm', 'staff');
      expect(await page.inputValue('#field-discovery-url')).toBe('https://127.0.0.1:1/realms/staff/.well-known/openid-configuration');
      await page.fill('#field-client-id', 'keystored');
      await page.fill('#field-client-secret', 'not a secret');
      await picture(page, 'light', 'sign-in-service-by-provider');
      // What the head covers in part is not what is looked at.
      await page.evaluate('scrollTo(0, 0)');
      await expectAccessible(page);
      await create(page);
      await page.waitForSelector('.chip:has-text("It cannot be used yet")');
      await expectAccessible(page);
      await page.click('a:has-text("Make its first role")');
      await page.waitForSelector('#field-token-policies');
    });
    expect(effort.clicks, 'clicks').toBeLessThanOrEqual(6);
    expect(await daemon.request('GET', `${services}/keycloak`)).toMatchObject({
      'display-name': 'Keycloak',
      'allowed-redirect-uris': [`${daemon.url}/oidc-callback`],
      'role-select': { 'role-claim': 'groups' },
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a picker', () => {
  test('works by keyboard, takes several, and makes a new entry without leaving the form', async () => {
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${approles}?do=create`);
      await page.fill('#field-name', 'picked');
      await page.focus('#field-token-policies');
      await page.keyboard.type('rewr');
      await page.waitForSelector('[role=option]:has-text("rewrap-only")');
      await expectAccessible(page);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.chosen >> text=rewrap-only');
      await page.keyboard.type('user');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.chosen >> text=user');
      await page.keyboard.press('Backspace');
      await page.waitForSelector('.chosen >> text=user', { state: 'detached' });
      // A policy is made by its editor, over the form.
      await page.click('#field-token-policies');
      await page.click('[role=option]:has-text("Make a new one")');
      await page.fill('dialog #policy-name', 'made-in-place');
      await page.fill('dialog .rule input', `${keyStates}/*/verify`);
      await page.selectOption('dialog .rule select >> nth=5', 'allow');
      await page.waitForSelector('dialog .chip:has-text("would take this policy")');
      await expectAccessible(page);
      await page.click('dialog button:text-is("Create")');
      await page.waitForSelector('.chosen >> text=made-in-place');
      await create(page);
      await page.waitForSelector('h1:has-text("picked")');
      expect(await daemon.request('GET', `${approles}/picked`)).toMatchObject({ 'token-policies': ['rewrap-only', 'made-in-place'] });
      await page.goto(`${daemon.url}/ui${authorities}?do=create`);
      await page.check('#purpose-below');
      await page.fill('#field-name', 'plant');
      await page.click('#field-issuing-ca');
      await page.click('[role=option]:has-text("Make a new one")');
      await page.fill('dialog #above-name', 'plant-root');
      await expectAccessible(page);
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog', { state: 'detached' });
      expect(await page.inputValue('#field-issuing-ca')).toBe('plant-root');
      expect(await page.inputValue('#field-name')).toBe('plant');
      await create(page);
      await page.click('a:has-text("Open plant")');
      await page.waitForSelector('h1:has-text("plant")');
      expect(await daemon.request('GET', `${authorities}/plant`)).toMatchObject({ 'issuing-ca': 'plant-root' });
    });
  });
});

describe.skipIf(chromiumPath === undefined)('a policy', () => {
  test('is a matrix, and says before it is saved what changes, for whom, and for one of their tokens', async () => {
    await daemon.request('POST', policies, {
      name: 'clerk',
      'rest-api': { rules: [{ path: `${keyStates}/orders/encrypt`, operations: { execute: 'allow' } }] },
    });
    await daemon.request('POST', approles, { name: 'counter', 'token-policies': ['clerk'] });
    const { accessor } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['clerk', 'user'] })) as {
      readonly accessor: string;
    };
    await walk(async (page) => {
      await page.goto(`${daemon.url}/ui${policies}/clerk`);
      await page.click('.matrix button:has-text("some names")');
      await page.waitForSelector('.matrix li:has-text("orders")');
      await page.waitForSelector('section:has-text("Who has it") a:has-text("counter")');
      await picture(page, 'light', 'policy-as-matrix');
      await expectAccessible(page);
      await page.click('a:has-text("Edit")');
      await page.waitForSelector('text=The policy allows what it allowed.');
      await page.waitForSelector('text=1 token and 1 application are affected');
      await page.selectOption('.rule select >> nth=5', '');
      await page.click('button:has-text("Add a rule")');
      await page.fill('.rule >> nth=1 >> input', `${keys}/*`);
      await page.selectOption('.rule >> nth=1 >> select >> nth=2', 'allow');
      await page.waitForSelector('.chip:has-text("Allowed then, not now: 1")');
      await page.waitForSelector('.chip:has-text("Allowed now, not then: 1")');
      await picture(page, 'light', 'policy-before-saving');
      await expectAccessible(page);
      // Its other policy allows all of it: nothing changes for that token.
      await page.selectOption('#try-as', accessor);
      await page.waitForSelector('text=Nothing changes for root.');
      await page.click('summary:has-text("As JSON")');
      await page.fill('#policy-source', '{"description": "at the counter", "rest-api": {"rules": []}}');
      await page.click('button:has-text("Take it into the rules")');
      await page.waitForSelector('.rule', { state: 'detached' });
      await page.click('button:text-is("Save")');
      await page.waitForSelector('text=It allows nothing.');
      expect(await daemon.request('GET', `${policies}/clerk`)).toMatchObject({ description: 'at the counter', 'rest-api': { rules: [] } });
    });
  });
});
