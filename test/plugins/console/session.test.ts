// The session of the console: cookie and second secret together are the caller, each alone is nobody; what ends it ends it at once.
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { consoleHeaders, factsOf, openBrowser, shown, signIn } from './console.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const info = '/v1/state/keystore/token/info';
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
});

const withRootToken = () => ({ way: 'token', token: appliance.rootToken });

async function childToken(policies: readonly string[] = ['user']): Promise<{ readonly token: string; readonly accessor: string }> {
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies });
  return body as { readonly token: string; readonly accessor: string };
}

describe('a request of the console', () => {
  test('with cookie and secret acts as the caller who signed in, and the audit record names the console', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    const answer = await browser.send('POST', info, { ...consoleHeaders(secret), 'content-type': 'application/json' });
    expect(answer).toMatchObject({ status: 200, body: { user: 'root', tenant: 'system', policies: ['root'] } });
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
    const records = auditLines().filter((record) => record['path'] === keys && record['method'] === 'GET');
    expect(records.at(-1)).toMatchObject({ user: 'root', tenant: 'system', via: 'console', accessor: answer.body.accessor });
  });

  test('has exactly the policies of who signed in', async () => {
    const browser = openBrowser(appliance);
    const { token } = await childToken(['default']);
    const secret = await signIn(browser, { way: 'token', token });
    expect(await browser.get('/v1/config/tenants', consoleHeaders(secret))).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
  });

  test.each<readonly [string, (secret: string) => Readonly<Record<string, string>>, boolean]>([
    ['the cookie alone', () => ({ accept: 'application/json', 'sec-fetch-site': 'same-origin' }), true],
    ['the secret alone', (secret) => consoleHeaders(secret), false],
    ['another secret', () => consoleHeaders('A'.repeat(43)), true],
    ['an empty secret', () => consoleHeaders(''), true],
    ['another port of the same host', (secret) => consoleHeaders(secret, 'same-site'), true],
    ['another site', (secret) => consoleHeaders(secret, 'cross-site'), true],
    ['a browser that does not say where the request comes from', (secret) => ({ authorization: `Console ${secret}` }), true],
    ['the secret as a bearer token', (secret) => ({ ...consoleHeaders(secret), authorization: `Bearer ${secret}` }), true],
  ])('of %s is nobody', async (_, headersOf, hasCookie) => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    const answer = await (hasCookie ? browser : openBrowser(appliance)).get(keys, headersOf(secret));
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });

  test('with the secret of another session is nobody', async () => {
    const [one, other] = [openBrowser(appliance), openBrowser(appliance)];
    await signIn(one, withRootToken());
    expect((await one.get(keys, consoleHeaders(await signIn(other, withRootToken())))).status).toBe(401);
  });
});

test('one token signs in 600 times a minute, and takes nothing of another one', { timeout: 240_000 }, async () => {
  const [eager, other] = [await childToken(), await childToken()];
  const statusOf = async ({ token }: { readonly token: string }): Promise<number> =>
    (await openBrowser(appliance).post('/ui/sign-in', { way: 'token', token })).status;
  // The clock stands: all of them are of the same minute, in whatever order they come.
  for (let count = 0; count < 600; count += 20) {
    const some = await Promise.all(Array.from({ length: 20 }, () => statusOf(eager)));
    expect(new Set(some)).toEqual(new Set([303]));
  }
  expect(await statusOf(eager)).toBe(429);
  expect(await statusOf(other)).toBe(303);
  appliance.clock.advance(1);
  expect(await statusOf(eager)).toBe(303);
});

describe('the second secret', () => {
  test('is given to one load of the page', async () => {
    const browser = openBrowser(appliance);
    await signIn(browser, withRootToken());
    expect(factsOf(await browser.get('/ui', shown)).secret).toBeUndefined();
  });

  test('is not given to what fetches or embeds the page, and the load after it still gets it', async () => {
    const browser = openBrowser(appliance);
    await browser.post('/ui/sign-in', withRootToken());
    for (const dest of ['empty', 'iframe', 'script'])
      expect(factsOf(await browser.get('/ui', { ...shown, 'sec-fetch-dest': dest })).secret).toBeUndefined();
    expect(factsOf(await browser.get('/ui', shown)).secret).toMatch(/^[\w-]{43}$/);
  });

  test('is not given ten seconds after the sign-in', async () => {
    const browser = openBrowser(appliance);
    await browser.post('/ui/sign-in', withRootToken());
    appliance.clock.advance(11);
    expect(factsOf(await browser.get('/ui', shown)).secret).toBeUndefined();
  });

  test('is in no record of the store as it is', async () => {
    const secret = await signIn(openBrowser(appliance), withRootToken());
    expect(auditText()).not.toContain(secret);
    expect(JSON.stringify(appliance.logged)).not.toContain(secret);
  });
});

describe('a session ends', () => {
  test('with the token that it was signed in with, at once', async () => {
    const browser = openBrowser(appliance);
    const { token, accessor } = await childToken();
    const secret = await signIn(browser, { way: 'token', token });
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
    expect((await appliance.request('POST', '/v1/state/keystore/token/disable', { accessor })).status).toBe(204);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(401);
  });

  test('by signing out, and the token that it was signed in with goes on', async () => {
    const browser = openBrowser(appliance);
    const { token } = await childToken();
    const secret = await signIn(browser, { way: 'token', token });
    const cookies = new Map(browser.cookies);
    expect((await browser.send('POST', '/ui/sign-out-of-console', consoleHeaders(secret))).status).toBe(200);
    expect(browser.cookies.has('__Host-keystored-session')).toBe(false);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(401);
    expect((await appliance.request('POST', info, {}, { token })).status).toBe(200);
  });

  test('not by a sign-out that lacks the secret', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    const cookies = new Map(browser.cookies);
    await browser.send('POST', '/ui/sign-out-of-console', consoleHeaders('A'.repeat(43)));
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
  });

  test('not by a form of another site or port, which does not make the browser forget it either', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await browser.send('POST', '/ui/sign-out-of-console', consoleHeaders(secret, site))).status).toBe(200);
    expect(browser.cookies.has('__Host-keystored-session')).toBe(true);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
  });

  test('not by a link to the account page of those who signed in at a provider', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    expect((await browser.get('/ui/account', { 'sec-fetch-site': 'cross-site' })).status).toBe(303);
    expect(browser.cookies.has('__Host-keystored-session')).toBe(true);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
  });

  test('after its idle time, and use keeps it', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    for (let used = 0; used < 3; used += 1) {
      appliance.clock.advance(1_200);
      expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
      // The use is noted behind the answer: writes are in order.
      await appliance.store.write(() => undefined);
    }
    appliance.clock.advance(1_860);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(401);
  });

  test('after its idle time also while a stream is followed, which is no use of it, and the stream ends with it', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    const trail = '/v1/state/topics/system:audit-trail-log?follow=true&limit=1';
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = request(`${appliance.url}${trail}`, {
      headers: { ...consoleHeaders(secret), cookie },
      rejectUnauthorized: false,
      agent: false,
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    const ended = once(response, 'close');
    appliance.clock.advance(1_200);
    // Each record that comes asks whether the caller is still one.
    expect((await appliance.request('GET', '/v1/config/tenants?limit=7')).status).toBe(200);
    let text = '';
    response.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await vi.waitFor(() => expect(text).toContain('/v1/config/tenants'), { timeout: 30_000 });
    await appliance.store.write(() => undefined);
    appliance.clock.advance(700);
    await ended;
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(401);
  });

  test('after its time, however much it is used', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    for (let used = 0; used < 23; used += 1) {
      appliance.clock.advance(1_200);
      expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(200);
      // The use is noted behind the answer: writes are in order.
      await appliance.store.write(() => undefined);
    }
    appliance.clock.advance(1_200);
    expect((await browser.get(keys, consoleHeaders(secret))).status).toBe(401);
  });

  test('when the same browser signs in again', async () => {
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, withRootToken());
    const before = new Map(browser.cookies);
    await signIn(browser, withRootToken());
    const old = openBrowser(appliance);
    for (const [name, value] of before) old.cookies.set(name, value);
    expect((await old.get(keys, consoleHeaders(secret))).status).toBe(401);
  });
});

describe('signing in', () => {
  test('as an approle', async () => {
    const approles = '/v1/config/keystore/authentication/approles';
    expect((await appliance.request('POST', approles, { name: 'robot', 'token-policies': ['user'] })).status).toBe(201);
    const state = '/v1/state/keystore/authentication/approles/robot';
    const { 'role-id': roleId } = (await appliance.request('GET', state)).body;
    const made = await appliance.request('POST', `${state}/generate-secret-id`, {});
    const browser = openBrowser(appliance);
    const secret = await signIn(browser, { way: 'approle', 'role-id': roleId, 'secret-id': made.body['secret-id'] });
    const answer = await browser.send('POST', info, { ...consoleHeaders(secret), 'content-type': 'application/json' });
    expect(answer.body).toMatchObject({ user: 'robot', approle: 'robot' });
  });

  test('with the cookie of a session in the place of a token is refused', async () => {
    const browser = openBrowser(appliance);
    await signIn(browser, withRootToken());
    const token = browser.cookies.get('__Host-keystored-session') ?? '';
    expect((await openBrowser(appliance).post('/ui/sign-in', { way: 'token', token })).status).toBe(401);
  });

  test('with a wrong token is refused with a page that repeats nothing, and counts as a failed login', async () => {
    const answer = await openBrowser(appliance, '127.0.7.1').post('/ui/sign-in', { way: 'token', token: '"><script>alert(1)</script>' });
    expect(answer.status).toBe(401);
    expect(String(answer.body)).not.toContain('alert(1)');
    expect(auditLines().at(-1)).toMatchObject({ kind: 'login', status: 401, code: 'login-failed' });
  });

  test('with a wrong token is not looked at after sixty in a minute from the address; a right one always is', async () => {
    const browser = openBrowser(appliance, '127.0.7.2');
    for (let tried = 0; tried < 60; tried += 1) await browser.post('/ui/sign-in', { way: 'token', token: 'nonsense' });
    expect((await browser.post('/ui/sign-in', { way: 'token', token: 'nonsense' })).status).toBe(429);
    expect((await browser.post('/ui/sign-in', withRootToken())).status).toBe(303);
  });

  test.each(['cross-site', 'same-site', 'none'])('by a form that came %s is refused', async (site) => {
    const answer = await openBrowser(appliance).post('/ui/sign-in', withRootToken(), { 'sec-fetch-site': site });
    expect(answer.status).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test.each([
    ['/ui/v1/config/keystore/transit-keys?after=m', '/ui/v1/config/keystore/transit-keys?after=m'],
    ['//evil.example/ui/v1', undefined],
    ['https://evil.example/ui/v1/x', undefined],
    [String.raw`/\evil.example/ui/v1`, undefined],
    ['/ui/v1/../../v1/docs', undefined],
    ['javascript:alert(1)', undefined],
  ])('leads to %s afterwards only if it is a page of the console', async (to, expected) => {
    const browser = openBrowser(appliance);
    await browser.get(`/ui/sign-in?to=${encodeURIComponent(to)}`);
    await browser.post('/ui/sign-in', withRootToken());
    const answer = await browser.get('/ui', shown);
    expect(answer.status === 303 ? answer.headers['location'] : undefined).toBe(expected);
  });
});

function auditText(): string {
  const directory = join(appliance.directory, 'audit');
  return readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('');
}

function auditLines(): readonly Readonly<Record<string, unknown>>[] {
  return auditText()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}
