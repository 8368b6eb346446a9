// The addresses of the console: headers of its page, its files, and the ways there.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { shellPage, type ShellFacts } from '../../../plugins/console/pages/shell.ts';
import { factsOf, openBrowser, shown, signIn } from './console.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let page: string;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  const browser = openBrowser(appliance);
  await signIn(browser, { way: 'token', token: appliance.rootToken });
  page = String((await browser.get('/ui/v1/config/keystore/transit-keys', shown)).body);
});
afterAll(() => appliance.close());

const scriptIn = (text: string): string => /src="(\/ui\/assets\/[\w-]+\.js)"/.exec(text)?.[1] ?? '';
const script = (): string => scriptIn(page);

describe('the page', () => {
  test('allows scripts and styles of this origin alone, and no code that makes markup of texts', async () => {
    const browser = openBrowser(appliance);
    await signIn(browser, { way: 'token', token: appliance.rootToken });
    const { headers, status } = await browser.get('/ui', shown);
    expect(status).toBe(200);
    const policy = String(headers['content-security-policy']);
    for (const directive of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(directive);
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' });
  });

  test('has no script and no style of its own, and loads nothing from elsewhere', () => {
    expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
    expect(page.match(/(?:src|href)="(?!\/ui\/|\/v1\/docs|data:)[^"]*"/g)).toBeNull();
  });

  test('says without a script what is missing', () => {
    expect(/<noscript>[^]*JavaScript[^]*<\/noscript>/.test(page)).toBe(true);
  });

  test('leads to the page of the account without a script, for those who signed in at a provider', () => {
    const bodyOf = (facts: ShellFacts): string => String(shellPage('en', { script: '/ui/a.js', styles: [] }, facts).body);
    const withoutScript = /<noscript>([^]*)<\/noscript>/;
    expect(withoutScript.exec(bodyOf({ 'idle-seconds': 1, account: '/ui/account' }))?.[1]).toContain('href="/ui/account"');
    expect(bodyOf({ 'idle-seconds': 1 })).not.toContain('/ui/account');
  });

  test.each([
    ['en', {}],
    ['en', { 'accept-language': 'fr-CH, en;q=0.8, de;q=0.5' }],
    ['de', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' }],
    ['en', { 'accept-language': 'de', cookie: '__Host-keystored-language=en' }],
    ['de', { 'accept-language': 'en', cookie: '__Host-keystored-language=de' }],
    ['de', { 'accept-language': 'de', cookie: '__Host-keystored-language=de"><script>' }],
  ])('is in the language that the person chose, else the browser: %s for %j', async (language, headers) => {
    const browser = openBrowser(appliance);
    for (const path of ['/ui/sign-in', '/login', '/ui/open']) {
      const body = String((await browser.get(path, { ...shown, ...headers })).body);
      expect(/<html lang="(\w+)">/.exec(body)?.[1]).toBe(language);
      expect(body).toContain(
        { en: path === '/ui/open' ? 'needs JavaScript' : 'Sign in', de: path === '/ui/open' ? 'braucht JavaScript' : 'Anmelden' }[language],
      );
    }
  });

  test.each(['/ui', '/ui/v1/config/keystore/transit-keys'])('at %s leads to the sign-in without a session', async (to) => {
    const answer = await openBrowser(appliance).get(to, shown);
    expect(answer.status).toBe(303);
    expect(String(answer.headers['location'])).toMatch(/^\/ui\/sign-in/);
  });

  test('that opens a hand-over is for everybody, under the same policy, and takes no secret from a session', async () => {
    const browser = openBrowser(appliance);
    const { location } = (await browser.post('/ui/sign-in', { way: 'token', token: appliance.rootToken })).headers;
    expect(location).toBeDefined();
    // The secret is handed to the next page that is shown, and this one is not it.
    const open = await browser.get('/ui/open', shown);
    expect(open.status).toBe(200);
    expect(Object.keys(factsOf(open))).toEqual(['idle-seconds']);
    expect(open.headers['content-security-policy']).toContain("trusted-types 'none'");
    expect(factsOf(await browser.get('/ui', shown)).secret).toBeDefined();
    expect((await openBrowser(appliance).get('/ui/open', shown)).status).toBe(200);
  });

  test('is where the address without a path leads', async () => {
    expect(await openBrowser(appliance).get('/')).toMatchObject({ status: 303, headers: { location: '/ui' } });
  });
});

describe('a file', () => {
  test('is kept by browsers for good, because another content has another name', async () => {
    const { status, headers } = await appliance.request('GET', script());
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    const again = await appliance.request('GET', script(), undefined, { headers: { 'if-none-match': String(headers['etag']) } });
    expect(again.status).toBe(304);
  });

  test.each(['en', 'de'])('is compressed as the browser takes it, and the first view in %s is below 150 KiB', async (language) => {
    const address = scriptIn(String((await openBrowser(appliance).get('/ui/open', { ...shown, 'accept-language': language })).body));
    const fetch = async (coding: string): Promise<Buffer> => {
      const response = await openBrowser(appliance).get(address, { 'accept-encoding': coding });
      expect(response.headers['content-encoding']).toBe(coding === 'identity' ? undefined : coding);
      return response.octets;
    };
    const [plain, br, gzip] = [await fetch('identity'), await fetch('br'), await fetch('gzip')];
    expect(brotliDecompressSync(br).equals(plain)).toBe(true);
    expect(gunzipSync(gzip).equals(plain)).toBe(true);
    expect(gzip.length + page.length).toBeLessThan(150 * 1024);
    expect(plain.includes('Zertifizierungsstelle')).toBe(language === 'de');
  });

  test.each(['main-AAAAAAAA.js', 'manifest.json', '..%2Fmanifest.json', '%2e%2e'])(
    'that is unknown (%s) is 404, never the page',
    async (name) => {
      const answer = await appliance.request('GET', `/ui/assets/${name}`, undefined, { headers: { accept: '*/*' } });
      expect(answer.status).toBe(404);
      expect(JSON.stringify(answer.body)).not.toContain('id="app"');
    },
  );
});
