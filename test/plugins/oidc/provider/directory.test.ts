// Group overage with a directory over TLS: paging, limits, and that the person's token goes nowhere else.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { selfSignedIdentity } from '../../../harness/tls.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, textOf, type OidcHarness } from '../harness.ts';
import { sendJson, signToken, makeKey, type Responder, type Script } from '../scripted-provider.ts';

const path = temporaryDirectory();
const directory = '/v1.0/me/transitiveMemberOf';
const key = makeKey('ES256', 'x');
let harness: OidcHarness;
/** a host that a token names and nobody may ask */
let outsider: Server;
let outsiderOrigin = '';
const foreignCalls: string[] = [];

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  mkdirSync(path('outsider'));
  const identity = selfSignedIdentity(path('outsider'));
  outsider = createServer({ key: identity.key, cert: identity.cert }, (request, response) => {
    foreignCalls.push(`${request.url} ${request.headers.authorization}`);
    sendJson(response, { value: [{ id: 'g1' }] });
  });
  await new Promise<void>((resolve) => outsider.listen(0, '127.0.0.1', resolve));
  outsiderOrigin = `https://127.0.0.1:${(outsider.address() as AddressInfo).port}`;
  await harness.setService({ 'ca-certs': harness.provider.ca + identity.cert });
  await harness.setRole('g1');
  await harness.setRole('g1499');
});
afterAll(async () => {
  outsider.close();
  await harness.close();
});
beforeEach(() => {
  harness.takeLog();
  foreignCalls.length = 0;
});

const host = (): string => new URL(harness.provider.origin).host;
const withDirectory = (metadata: Record<string, unknown>): Record<string, unknown> => ({ ...metadata, msgraph_host: host() });
const overage = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.windows.net/t/users/o/getMemberObjects' } },
};
const groups = (...ids: string[]) => ids.map((id) => ({ '@odata.type': '#microsoft.graph.group', id }));

async function login(
  respond: Responder | undefined,
  script: Script = {},
  fields: Record<string, unknown> = {},
): Promise<{ status: number; text: string; log: ReturnType<OidcHarness['takeLog']> }> {
  harness.provider.script = {
    person: overage,
    metadata: withDirectory,
    ...(respond === undefined ? {} : { respond: { [directory]: respond } }),
    ...script,
  };
  await harness.appliance.request('PATCH', '/v1/config/keystore/authentication/oidc/corp', {
    'display-name': `Corp ${Math.random()}`,
    ...fields,
  });
  harness.takeLog();
  const { status, body } = await harness.browser().login(harness.provider);
  return { status, text: textOf(body), log: harness.takeLog() };
}

const calls = () => harness.provider.requestsTo(directory);

describe('the groups are fetched as the person', () => {
  test('from the host of the metadata, with the access token of this login, and a role matches', async () => {
    const before = calls().length;
    const answer = await login((_request, response) => sendJson(response, { value: groups('g0', 'g1') }), {
      accessToken: 'opaque-graph-token',
    });
    expect(answer.status).toBe(303);
    expect(calls()).toHaveLength(before + 1);
    expect(calls().at(-1)).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer opaque-graph-token' } });
    expect(answer.log).toEqual([]);
  });

  test('over 15 pages of 100', async () => {
    const answer = await login(pages(15, 100), { person: overage });
    expect(answer.status).toBe(303);
    expect(harness.loginRecords().at(-1)).toMatchObject({ 'request-parameters': { roles: ['g1', 'g1499'] } });
  });

  test('other objects than groups do not count', async () => {
    const value = [
      { '@odata.type': '#microsoft.graph.directoryRole', id: 'g1' },
      { '@odata.type': '#microsoft.graph.group' },
      { id: 7 },
      null,
      'g1',
    ];
    expect((await login((_request, response) => sendJson(response, { value }))).status).toBe(403);
  });

  test('hasgroups marks it too', async () => {
    expect((await login((_request, response) => sendJson(response, { value: groups('g1') }), { person: { hasgroups: true } })).status).toBe(
      303,
    );
  });

  test('a busy directory that asks for a second gets it, once', async () => {
    let asked = 0;
    const answer = await login((_request, response) => {
      asked += 1;
      if (asked === 1) sendJson(response, {}, 429, { 'retry-after': '1' });
      else sendJson(response, { value: groups('g1') });
    });
    expect(answer.status).toBe(303);
    expect(asked).toBe(2);
  });

  test('groups that are there are not fetched again', async () => {
    const before = calls().length;
    expect((await login(undefined, { person: { ...overage, groups: ['g1'] } })).status).toBe(303);
    expect(calls()).toHaveLength(before);
  });
});

const named = (endpoint: string) => ({ _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint, access_token: 'x' } } });

describe('the person’s token goes to no host that a claim or a page names', () => {
  test('an endpoint in _claim_sources is not followed, with a directory in the metadata', async () => {
    const answer = await login((_request, response) => sendJson(response, { value: [] }), {
      person: named(`${outsiderOrigin}/getMemberObjects`),
    });
    expect(answer.status).toBe(403);
    expect(foreignCalls).toEqual([]);
  });

  test('nor without one', async () => {
    const answer = await login(undefined, { person: named(`${outsiderOrigin}/getMemberObjects`), metadata: (metadata) => metadata });
    expect(answer.status).toBe(403);
    expect(foreignCalls).toEqual([]);
    expect(answer.log[0]).toMatchObject({ fields: { stage: 'directory', reason: 'directory-unknown' } });
  });

  test('a next page on another host is not followed', async () => {
    const answer = await login((_request, response) =>
      sendJson(response, { value: [], '@odata.nextLink': `${outsiderOrigin}/v1.0/me?$skiptoken=x` }),
    );
    expect(answer.status).toBe(403);
    expect(foreignCalls).toEqual([]);
    expect(answer.log[0]).toMatchObject({ fields: { reason: 'next-page-elsewhere' } });
  });

  test('a redirect is not followed', async () => {
    await login((_request, response) => void response.writeHead(307, { location: `${outsiderOrigin}/` }).end());
    expect(foreignCalls).toEqual([]);
  });
});

describe('a fetch that fails leaves the person without groups, and the log says why (spec, errors of OIDC login)', () => {
  test.each<[string, Responder | undefined, Script, Record<string, unknown>]>([
    [
      '403: the permission is missing',
      (_request, response) =>
        sendJson(
          response,
          { error: { code: 'Authorization_RequestDenied', message: 'Insufficient privileges', innerError: { 'request-id': 'r-1' } } },
          403,
        ),
      {},
      {
        reason: 'directory-refused',
        'provider-status': 403,
        'provider-error': 'Authorization_RequestDenied',
        'provider-request-id': 'r-1',
        hint: expect.stringMatching(/User\.Read/),
      },
    ],
    [
      '401: the token is not for the directory',
      (_request, response) => sendJson(response, {}, 401, { 'www-authenticate': 'Bearer' }),
      {},
      { reason: 'directory-refused' },
    ],
    ['500', (_request, response) => void response.writeHead(500).end(), {}, { reason: 'directory-refused', 'provider-status': 500 }],
    [
      'HTML',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      {},
      { reason: 'directory-malformed' },
    ],
    ['a connection that breaks', (_request, response) => void response.destroy(), {}, { reason: 'directory-unreachable' }],
    [
      'pages in a circle',
      (_request, response) =>
        sendJson(response, { value: [], '@odata.nextLink': `${harness.provider.origin}${directory}?$select=id&$top=999` }),
      {},
      { reason: 'too-many-pages' },
    ],
    [
      'more than 10,000 groups',
      (_request, response) => sendJson(response, { value: groups(...Array.from({ length: 10_001 }, (_, index) => `x${index}`)) }),
      {},
      { reason: 'too-many-groups' },
    ],
    [
      'an access token for this application',
      undefined,
      { accessToken: signToken({ alg: 'none' }, { aud: 'api://client-provider' }, key) },
      { reason: 'token-for-this-application', hint: expect.stringMatching(/profile and email/) },
    ],
    [
      'an access token for another API',
      undefined,
      { accessToken: signToken({ alg: 'none' }, { aud: 'https://vault.azure.net' }, key) },
      { reason: 'token-for-another-api' },
    ],
  ])('%s', async (_, respond, script, fields) => {
    const answer = await login(respond, script);
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('You have no role here') });
    expect(answer.log[0]).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/role-select claim groups is missing/),
      fields: { stage: 'directory', ...fields },
    });
    expect(answer.log[1]).toMatchObject({ fields: { code: 'no-role' } });
  });

  test('an access token for the directory by any of its names is used', async () => {
    for (const aud of ['00000003-0000-0000-c000-000000000000', 'https://graph.microsoft.com', 'https://graph.microsoft.com/']) {
      const answer = await login((_request, response) => sendJson(response, { value: groups('g1') }), {
        accessToken: signToken({ alg: 'none' }, { aud }, key),
      });
      expect(answer.status).toBe(303);
    }
  });

  test('a slow directory ends after five seconds in all', async () => {
    let page = 0;
    const answer = await login((_request, response) => {
      page += 1;
      setTimeout(
        () => sendJson(response, { value: groups(`x${page}`), '@odata.nextLink': `${harness.provider.origin}${directory}?page=${page}` }),
        1_200,
      );
    });
    expect(answer.status).toBe(403);
    expect(page).toBeLessThanOrEqual(5);
    expect(answer.log[0]).toMatchObject({ fields: { reason: 'directory-unreachable' } });
  });
});

/** A directory of `count` pages with `size` groups each: g0, g1 … */
function pages(count: number, size: number): Responder {
  let page = 0;
  return (_request, response) => {
    const first = page * size;
    page += 1;
    const value = groups(...Array.from({ length: size }, (_, index) => `g${first + index}`));
    sendJson(
      response,
      page < count ? { value, '@odata.nextLink': `${harness.provider.origin}${directory}?$skiptoken=${page}` } : { value },
    );
  };
}
