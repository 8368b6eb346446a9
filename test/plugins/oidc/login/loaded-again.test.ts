// A callback that the browser loads again, by a reload, the back button or a second click: R22, R24.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { pathOf, startOidcHarness, textOf, type Browser, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1');
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.provider.script = { person: { groups: ['g1'] } };
});

/** Path and query of the callback of a new sign-in. */
async function callback(browser: Browser, begin = '/login/system/corp'): Promise<string> {
  const start = await browser.get(begin);
  expect(start.status).toBe(303);
  return pathOf(harness.provider.authorize(String(start.headers['location'])));
}

describe('R22: a callback that is loaded again', () => {
  test('shows who is signed in the way on, in place of a refusal; the answer stays 400, and the session lives', async () => {
    const browser = harness.browser();
    const to = await callback(browser);
    expect((await browser.get(to)).status).toBe(303);
    const again = await browser.get(to);
    expect(again.status).toBe(400);
    expect(textOf(again.body)).toMatch(/already done.*you are still signed in.*Continue/);
    expect(textOf(again.body)).not.toMatch(/expired|start again|administrator/i);
    expect(String(again.body)).toContain('href="/ui"');
    expect(textOf((await browser.get('/oidc-callback')).body)).toContain('already done');
    expect((await browser.get('/ui')).status).toBe(200);
    expect((await browser.get(to, { accept: 'application/json' })).body).toMatchObject({ code: 'login-expired' });
  });

  test.each([
    ['has signed out', (browser: Browser) => void browser.cookies.delete('__Host-keystored-session')],
    ['has a cookie of no session', (browser: Browser) => void browser.cookies.set('__Host-keystored-session', 'x')],
    ['was idle for half an hour', () => harness.clock.advance(31 * 60)],
  ])('shows who %s that it has expired', async (_, end) => {
    const browser = harness.browser();
    const to = await callback(browser);
    expect((await browser.get(to)).status).toBe(303);
    end(browser);
    expect(textOf((await browser.get(to)).body)).toContain('expired');
  });
});

test('R24: a second callback before the first is answered shows the way on, and ends no command line’s login', async () => {
  const ask = { tenant: 'system', service: 'corp' };
  const { body } = await harness.appliance.request('POST', '/v1/oidc-login', ask, { token: undefined });
  const browser = harness.browser();
  const to = await callback(browser, pathOf(String(body['login-url'])));
  // Both wait for the metadata, which has to be fetched again, with a state that is not used yet.
  const asked = Promise.withResolvers<void>();
  const both = Promise.withResolvers<void>();
  const metadata: Record<string, unknown> = {};
  harness.provider.script = {
    ...harness.provider.script,
    metadata: (correct) => Object.assign(metadata, correct),
  };
  await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
  harness.provider.script = {
    ...harness.provider.script,
    respond: {
      '/metadata': async (_request, response) => {
        asked.resolve();
        await both.promise;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
      },
    },
  };
  harness.clock.advance(301);
  const first = browser.get(to);
  await asked.promise;
  const second = browser.get(to);
  // Answered after the second has arrived.
  for (let others = 0; others < 5; others += 1) await browser.get('/login');
  both.resolve();
  const [done, again] = (await Promise.all([first, second])).toSorted((left, right) => left.status - right.status);
  expect([done?.status, again?.status]).toEqual([303, 400]);
  const confirm = String(done?.headers['location']);
  expect(String(again?.body)).toContain(`href="${confirm}"`);
  expect(textOf(again?.body)).not.toMatch(/expired|has ended/);
  expect(textOf((await browser.get(confirm)).body)).toContain(String(body['user-code']));
});
