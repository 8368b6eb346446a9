// Malformed answers of a provider: the sign-in ends with a page. After an internal fault the tenant cannot cause it again.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { catchStrayErrors } from '../../../../core/base/async/last-resort.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';
import type { Responder, Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = { person: { groups: ['g1'] } };
  harness.takeLog();
  // A new revision, so that no metadata of the test before is used.
  await harness.setService();
  await harness.setRole('g1', { 'required-claims': ['email'] });
});

const oddly =
  (status: number): Responder =>
  (_, response) => {
    // The server's own API refuses most of these.
    response.socket?.end(`HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
  };

describe.each([101, 600, 999])('status %i', (status) => {
  test.each(['/metadata', '/token', '/jwks'])('of %s ends the sign-in with 502', async (place) => {
    harness.provider.script = { respond: { [place]: oddly(status) } };
    const browser = harness.browser();
    const start = await browser.get('/login/system/corp');
    const answer = start.status === 303 ? await browser.get(callbackOf(String(start.headers['location']))) : start;
    expect(answer.status).toBe(502);
    expect(harness.takeLog().map(({ fields }) => fields['reason'])).toEqual(['malformed']);
  });

  test('of UserInfo and in the test action is reported', async () => {
    const script: Script = { person: { groups: ['g1'] }, respond: { '/userinfo': oddly(status) } };
    harness.provider.script = script;
    expect((await harness.browser().login(harness.provider)).status).toBe(403);
    harness.provider.script = { respond: { '/metadata': oddly(status) } };
    const { body } = await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
    expect([body.usable, body.findings[0].message]).toEqual([false, 'discovery: malformed']);
  });
});

test('an access token that cannot be sent in a header ends the sign-in with 502', async () => {
  harness.provider.script = { person: { groups: ['g1'] }, accessToken: 'a\nb' };
  expect((await harness.browser().login(harness.provider)).status).toBe(502);
});

test('after an internal fault during a sign-in, no provider of that tenant is called for an hour', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  catchStrayErrors({ tell: () => undefined, give: (error) => others.forEach((other) => other(error as Error, 'uncaughtException')) });
  // Node rethrows an error of a subscriber outside every promise, in the context of the request that made the call.
  const fault = (message: unknown): void => {
    if ((message as { request: { path: string } }).request.path.includes('.well-known')) throw new Error('an internal fault');
  };
  subscribe('http.client.response.finish', fault);
  expect((await harness.browser().get('/login/system/corp')).status).toBe(500);
  unsubscribe('http.client.response.finish', fault);
  process.removeAllListeners('uncaughtException');
  for (const listener of others) process.on('uncaughtException', listener);
  expect(harness.takeLog()).toContainEqual(expect.objectContaining({ level: 'error', message: expect.stringContaining('for an hour') }));

  const asked = harness.provider.requests.length;
  await harness.setService();
  await harness.setService({}, harness.provider, 'another');
  expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
  expect((await harness.browser().get('/login/system/another')).status).toBe(502);
  expect(harness.takeLog().map(({ fields }) => fields['reason'])).toEqual(['set-aside', 'set-aside']);
  expect(harness.provider.requests).toHaveLength(asked);
  harness.clock.advance(3_600);
  expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
});

function callbackOf(authorization: string): string {
  const { pathname, search } = new URL(harness.provider.authorize(authorization));
  return pathname + search;
}

/** JSON.stringify cannot print it; the parser reads it. */
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('an answer nested 200,000 levels deep', () => {
  test.each(['/metadata', '/token', '/jwks'])('of %s ends the sign-in with 502', async (place) => {
    const answer: Responder = (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(`{"keys":[${deep(200_000)}],"access_token":${deep(200_000)}}`);
    };
    harness.provider.script = { person: { groups: ['g1'] }, respond: { [place]: answer } };
    const browser = harness.browser();
    const start = await browser.get('/login/system/corp');
    const reply = start.status === 303 ? await browser.get(callbackOf(String(start.headers['location']))) : start;
    expect(reply.status).toBe(502);
  });

  test('in a claim of the ID token ends the sign-in with 502, and none of it is stored', async () => {
    harness.provider.script = { person: { groups: ['g1'], odd: 'DEEP' }, rawClaims: (text) => text.replace('"DEEP"', deep(200_000)) };
    expect((await harness.browser().login(harness.provider)).status).toBe(502);
    expect(harness.takeLog().map(({ fields }) => fields['reason'])).toEqual(['nested-too-deep']);
  });

  test('in UserInfo is ignored like every other fault of UserInfo', async () => {
    const answer: Responder = (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(`{"sub":"subject-1","email":"a@b","odd":${deep(200_000)}}`);
    };
    harness.provider.script = { person: { groups: ['g1'] }, respond: { '/userinfo': answer } };
    expect((await harness.browser().login(harness.provider)).status).toBe(403);
    expect(harness.takeLog().map(({ fields }) => fields['reason'])).toContain('nested-too-deep');
  });
});
