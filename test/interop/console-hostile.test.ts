// A hostile pass over the console, in Chromium over the real daemon: texts of others in every place that takes some, pages of others around it
// and beside it, a stolen page, a stolen cookie, and what of all that is on record.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { openPage, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const authorities = '/v1/config/keystore/tls/ca';
const authorityStates = '/v1/state/keystore/tls/ca';
const policies = '/v1/config/policy/policies';
const approles = '/v1/config/keystore/authentication/approles';
const oidc = '/v1/config/keystore/authentication/oidc';
const trail = '/v1/state/topics/system:audit-trail-log';

/** Markup, a link that runs, text that turns around, a bell, and a character without width. */
const texts = {
  markup: '<img src=x onerror=alert(1)><svg onload=alert(2)></svg>',
  link: 'javascript:alert(3)',
  'end of an attribute': '"><script>alert(4)</script>',
  bidi: 'safe\u202Egnp.exe\u2066',
  control: 'bell\u0007\u001B[2Jclear',
  'no width': 'pay\u200Broll\uFEFF',
};
/** Characters that must not be on a page as they are. */
const hidden = '[\\u0000-\\u0008\\u000E-\\u001F\\u007F-\\u009F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u2069\\uFEFF]';

let daemon: Daemon;
let chromium: Chromium;
/** addresses of what was taken */
const places: string[] = [];
let taken = 0;

async function offer(method: string, to: string, body: object, shownAt: string): Promise<boolean> {
  const { status } = await daemon.exchange(method, to, body);
  expect(status, `${method} ${to}`).toBeLessThan(500);
  if (status >= 300) return false;
  taken += 1;
  places.push(shownAt);
  return true;
}

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  daemon = await startDaemon({ directory: path('data') });
  const rules = [{ path: '/v1/config/tenants', operations: { read: 'allow' } }];
  await daemon.request('POST', authorities, { name: 'plain' });
  const deviceKeys = await makeKeys('P-256');
  for (const [index, text] of Object.values(texts).entries()) {
    const named = encodeURIComponent(text);
    for (const [list, fields] of [
      [keys, {}],
      [policies, { 'rest-api': { rules } }],
      [approles, { 'token-policies': ['user'] }],
      [authorities, {}],
      ['/v1/config/tenants', {}],
    ] as const)
      await offer('POST', list, { name: text, ...fields }, `${list}/${named}`);
    await offer('POST', policies, { name: `p${index}`, description: text, 'rest-api': { rules } }, `${policies}/p${index}`);
    await offer(
      'POST',
      policies,
      { name: `r${index}`, 'rest-api': { rules: [{ ...rules[0], path: `/v1/${text}` }] } },
      `${policies}/r${index}`,
    );
    await offer('POST', '/v1/config/tenants', { name: `t${index}`, 'descriptive-name': text }, `/v1/config/tenants/t${index}`);
    await offer('POST', keys, { name: `k${index}`, labels: { team: text } }, `${keys}/k${index}`);
    await offer('POST', authorities, { name: `c${index}`, subject: `CN=${text}` }, `${authorities}/c${index}`);
    const service = {
      'discovery-url': 'https://127.0.0.1:1/',
      'client-id': text,
      'client-secret': 'none',
      'role-select': { 'role-claim': text },
    };
    await offer(
      'PUT',
      `${oidc}/o${index}`,
      { ...service, 'allowed-redirect-uris': ['https://keys.test/oidc-callback'] },
      `${oidc}/o${index}`,
    );
    await offer('PUT', `${oidc}/u${index}`, { ...service, 'allowed-redirect-uris': [text] }, `${oidc}/u${index}`);
    const der = await makeCsr({ keys: deviceKeys, subject: `CN=${text.replaceAll(/[,+"\\<>;=#]/g, '\\$&')}`, names: [] }).catch(
      () => undefined,
    );
    if (der !== undefined) {
      const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
      const { status, body } = await daemon.exchange('POST', `${authorityStates}/plain/sign-csr`, { csr });
      if (status < 300) places.push(`${authorityStates}/plain/certificates/${body.serial}`);
      if (status < 300) taken += 1;
    }
    // Into the trail and the log: a path, an agent, a name that fails to sign in.
    await daemon.exchange('GET', `${keys}/${named}`, undefined, daemon.rootToken, { 'user-agent': text.replaceAll(/[^\x20-\x7E]/g, '?') });
    await daemon.exchange('POST', '/v1/approle-login', { 'role-id': text, 'secret-id': text }, 'none');
  }
  chromium = await launchChromium();
}, 180_000);
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await daemon.stop();
});

/** What of the page would run, lead elsewhere, or is not seen as it is. */
async function wrongOn(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`(() => {
    const wrong = [];
    // Refusals of the appliance itself are pages without the application.
    const page = document.getElementById('app') ?? document.querySelector('main');
    for (const one of page.querySelectorAll('img, script, iframe, object, embed, base, link, style, form[action]'))
      wrong.push('element ' + one.outerHTML.slice(0, 80));
    for (const one of page.querySelectorAll('*'))
      for (const { name } of one.attributes) if (name.startsWith('on') || name === 'style' && one.closest('svg') === null) wrong.push('attribute ' + name + ' of ' + one.tagName);
    for (const one of page.querySelectorAll('a[href]'))
      if (one.protocol !== 'https:') wrong.push('link ' + one.getAttribute('href'));
    const texts = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
      if (/${hidden}/.test(text.data)) wrong.push('text ' + JSON.stringify(text.data.slice(0, 60)));
    if (/${hidden}/.test(document.title)) wrong.push('title ' + JSON.stringify(document.title));
    return wrong;
  })()`);
}

describe.skipIf(chromiumPath === undefined)('texts of others', () => {
  test('are text in every view, with what cannot be seen made visible, and every link leads by https', { timeout: 300_000 }, async () => {
    // Names are plain by the rules of the API; what takes any text has to have taken these.
    expect(taken).toBeGreaterThan(3 * Object.keys(texts).length);
    const { context, page, faults } = await openPage(chromium);
    let dialogs = 0;
    page.on('dialog', () => (dialogs += 1));
    const traffic = watchTraffic(page);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    const lists = [
      keys,
      policies,
      approles,
      authorities,
      '/v1/config/tenants',
      oidc,
      trail,
      '/v1/state/topics/system:logs',
      '/v1/state/keystore/tokens',
    ];
    const more = places.flatMap((place) => (place.startsWith('/v1/config') ? [place, `${place}?do=edit`, `${place}?do=delete`] : [place]));
    const never = Object.values(texts).map((text) => `${keys}/${encodeURIComponent(text)}`);
    const asked = Object.values(texts).map((text) => `${keys}?contains=${encodeURIComponent(text)}`);
    const found: string[] = [];
    for (const to of [...lists, `${authorityStates}/plain/certificates`, ...more, ...never, ...asked, `${trail}?where=alert`]) {
      await page.goto(`${daemon.url}/ui${to}`);
      await traffic.settled();
      for (const panel of await page.locator('main details:not([open]) > summary').all())
        await panel.click({ timeout: 2_000 }).catch(() => undefined);
      found.push(...(await wrongOn(page)).map((wrong) => `${to}: ${wrong}`));
    }
    expect([...new Set(found)]).toEqual([]);
    expect(dialogs).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('pages of others', () => {
  let server: Server;
  let other: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      const framed = ['/ui', '/ui/sign-in', '/ui/v1/config/tenants', '/ui/no-such-page', '/v1/docs', '/login'];
      response.end(
        request.url === '/frames'
          ? framed.map((one) => `<iframe src="${daemon.url}${one}"></iframe>`).join('')
          : `<form id="key" method="post" enctype="text/plain" action="${daemon.url}${keys}"><input name='{"name":"forged","x' value='":""}'></form>
             <form id="out" method="post" action="${daemon.url}/ui/sign-out-of-console"></form>
             <form id="in" method="post" action="${daemon.url}/ui/sign-in"><input name="way" value="token"><input name="token" value="${daemon.rootToken}"></form>`,
      );
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  test('cannot show the console in a frame, nor a refusal of it', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    const outer = await context.newPage();
    await outer.goto(`${other}/frames`, { waitUntil: 'load' });
    const frames = outer.frames().slice(1);
    expect(frames.length).toBe(6);
    // The page has loaded before the browser has put its own page in the place of the last one.
    for (const frame of frames) await expect.poll(() => frame.url(), { timeout: 30_000 }).toBe('chrome-error://chromewebdata/');
    await context.close();
  });

  test('at another port of the host, where cookies are sent along, change nothing and sign nobody in or out', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    const before = (await context.cookies()).map(({ value }) => value);
    for (const form of ['key', 'out', 'in']) {
      const outer = await context.newPage();
      await outer.goto(other);
      const answered = outer.waitForResponse((response) => response.url().startsWith(daemon.url));
      await outer.evaluate(`document.getElementById('${form}').submit()`);
      expect((await answered).status(), form).toBeOneOf(form === 'out' ? [200] : [401, 403, 415]);
      await outer.close();
    }
    const outer = await context.newPage();
    await outer.goto(other);
    const sent = await outer.evaluate<string>(`fetch('${daemon.url}${keys}', { method: 'POST', credentials: 'include', mode: 'cors',
      headers: { 'content-type': 'application/json', authorization: 'Console guessed' }, body: '{"name":"forged"}' }).then(() => 'sent', () => 'refused')`);
    expect(sent).toBe('refused');
    expect((await daemon.exchange('GET', `${keys}/forged`)).status).toBe(404);
    expect((await context.cookies()).map(({ value }) => value)).toEqual(before);
    await page.click('.main-pages a:has-text("Keys")');
    await page.waitForSelector('h1 bdi:text-is("Keys")');
    expect(await page.locator('.problem').count()).toBe(0);
    await context.close();
  });
});

describe.skipIf(chromiumPath === undefined)('a thief', () => {
  test('of the page has no cookie, of the cookie no page, and neither is anybody to the API', async () => {
    const { context, page } = await openPage(chromium);
    await signInWithToken(page, daemon.url, daemon.rootToken);
    const cookies = await context.cookies();
    const secret = await page.evaluate<string>("sessionStorage.getItem('keystored-console')");
    expect(secret.length).toBeGreaterThan(40);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const sent = { 'sec-fetch-site': 'same-origin' };
    const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await ask(daemon.url, keys, { ca: daemon.caPem, headers: { ...sent, ...headers } })).status;
    expect(await statusOf({ cookie, authorization: `Console ${secret}` })).toBe(200);
    expect(await statusOf({ authorization: `Console ${secret}` })).toBe(401);
    expect(await statusOf({ cookie })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${secret}` })).toBe(401);
    expect(await statusOf({ cookie, authorization: `Console ${secret}`, 'sec-fetch-site': 'same-site' })).toBe(401);
    expect(await page.evaluate('document.cookie')).toBe('');
    const thief = await openPage(chromium);
    await thief.context.addCookies(cookies);
    await thief.page.goto(`${daemon.url}/ui${keys}`);
    await thief.page.waitForSelector('text=Sign in again');
    expect(await thief.page.locator('table').count()).toBe(0);
    await thief.context.close();
    await context.close();
  });
});

test.skipIf(chromiumPath === undefined)('everything that a person did in the console is on record as done in the console', async () => {
  const { context, page } = await openPage(chromium);
  await signInWithToken(page, daemon.url, daemon.rootToken);
  await page.goto(`${daemon.url}/ui${keys}?do=create`);
  await page.fill('#field-name', 'on-record');
  await page.click('button:has-text("Create")');
  await page.waitForSelector('h1:has-text("on-record")');
  const { text } = await daemon.exchange('GET', `${trail}?limit=1000`);
  type Line = {
    readonly 'user-agent'?: string;
    readonly path?: string;
    readonly method?: string;
    readonly via?: string;
    readonly status: number;
  };
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const inBrowser = lines.filter(
    (line) => line['user-agent']?.includes('Chrome') === true && line.path?.startsWith('/v1/') === true && line.status < 400,
  );
  expect(inBrowser.some(({ method, path: where }) => method === 'POST' && where?.startsWith(keys))).toBe(true);
  expect(inBrowser.filter(({ via }) => via !== 'console')).toEqual([]);
  await context.close();
});
