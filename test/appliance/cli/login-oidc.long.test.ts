// login oidc: keystorectl shows address and code, a person approves in the browser, and the token arrives, whatever the network does meanwhile.
import { mkdirSync, readFileSync } from 'node:fs';
import { request as httpsRequest, createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fieldOf, pathOf, startOidcHarness, textOf, type OidcHarness } from '../../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl, type Run } from './run.ts';

const path = temporaryDirectory();
let harness: OidcHarness;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  harness = await startOidcHarness(path('appliance'));
  await harness.setService();
  await harness.setRole('g1', { 'claim-mappings': { email: 'username' }, 'token-policies': ['user'] });
  harness.provider.script = { person: { groups: ['g1'], email: 'eve@x.test' } };
  ctl = ctlFor(harness.appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => harness.close());

/** Runs the login while a person behind the shown address decides; `before` is called with the page of the decision. */
async function logIn(decision: 'approve' | 'deny', by: Ctl = ctl, before: (page: string) => unknown = () => undefined): Promise<Run> {
  const shown = Promise.withResolvers<string>();
  const onStderr = (text: string): void => shown.resolve(/https:\/\/\S+/.exec(text)?.[0] ?? '');
  const running = by(['login', 'oidc', '--tenant', 'system', '--service', 'corp'], { environment: { KEYSTORED_TOKEN: '' }, onStderr });
  const browser = harness.browser();
  const begun = await browser.get(pathOf(await shown.promise));
  const back = await browser.get(pathOf(harness.provider.authorize(String(begun.headers['location']))));
  const page = String((await browser.get(String(back.headers['location']))).body);
  await before(page);
  await browser.post('/login/confirm', { request: fieldOf(page, 'request'), 'form-token': fieldOf(page, 'form-token'), decision });
  return running;
}

test('what a person approves logs in, says as whom, and the profile has the token', async () => {
  let page = '';
  const { code, stderr } = await logIn('approve', ctl, (shown) => (page = textOf(shown)));
  expect(stderr).toMatch(/confirm there that the code is [A-Z]{4}-[A-Z]{4}/);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`logged in at ${harness.appliance.url}`) });
  expect(stderr).toMatch(/as eve@x\.test of tenant system[\s\S]*policies: user[\s\S]*until: \d{4}-\d\d-\d\d \d\d:\d\d UTC, in 8 hours\n/);
  const info = await ctl(['do', 'token', 'info'], { environment: { KEYSTORED_TOKEN: '' } });
  expect(JSON.parse(info.stdout)).toMatchObject({ user: 'eve@x.test' });
  expect(page).toContain('keystorectl/0.');
});

test('what a person denies is exit code 3', async () => {
  expect(await logIn('deny')).toMatchObject({ code: 3, stderr: expect.stringContaining('access-denied') });
});

test('every request of every command names the program and its version', async () => {
  const seen = new Set<string | undefined>();
  const gateway = await startGateway(({ headers }) => {
    seen.add(headers['user-agent']);
    return false;
  });
  try {
    await logIn('approve', gateway.ctl);
    const environment = { KEYSTORED_TOKEN: '' };
    for (const words of ['list policies', 'do token info', 'create oidc --help', 'hsm status', '__complete show policies ', 'logout'])
      await gateway.ctl(words.split(' '), { environment });
    expect([...seen]).toEqual([expect.stringMatching(/^keystorectl\/\d+\.\d+\.\d+$/)]);
  } finally {
    await gateway.close();
  }
});

describe('while a person decides, the login outlives', () => {
  const disturb: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    'a connection that is cut': (response) => response.destroy(),
    'an answer that is cut': (response) => response.writeHead(200, { 'content-length': '500' }).write('{', () => response.destroy()),
    'a 503 of a restart': (response) =>
      response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' }).end('{}'),
    'a 429 with Retry-After': (response) =>
      response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' }).end('{}'),
    'a 502 of a gateway': (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<p>Bad gateway'),
  };

  test.concurrent.each(Object.keys(disturb))('%s, and is delivered', async (name) => {
    const polls: number[] = [];
    const gateway = await startGateway((request, response) => {
      if (request.url !== '/v1/oidc-login/poll') return false;
      polls.push(polls.length);
      if (polls.length > 2) return false;
      disturb[name]?.(response);
      return true;
    });
    try {
      const { code, stderr } = await logIn('approve', gateway.ctl);
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('as eve@x.test') });
      expect(stderr.match(/asking again/g)).toHaveLength(1);
      expect(polls.length).toBeGreaterThan(2);
    } finally {
      await gateway.close();
    }
  });

  test('nothing for longer than the sign-in lasts: then it is exit code 6', async () => {
    const gateway = await startGateway((request, response) => {
      if (request.url === '/v1/oidc-login') {
        const asked = { 'login-url': 'https://x.test/', 'user-code': 'BCDF-GHJK', 'poll-token': 'x', interval: 1, 'expires-in': 3 };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked));
        return true;
      }
      if (request.url !== '/v1/oidc-login/poll') return false;
      response.destroy();
      return true;
    });
    try {
      const run = await gateway.ctl(['login', 'oidc', '--tenant', 'system', '--service', 'corp']);
      expect(run).toMatchObject({ code: 6, stderr: expect.stringContaining('no answer until the sign-in expired') });
    } finally {
      await gateway.close();
    }
  });
});

type Gateway = { readonly ctl: Ctl; close(): Promise<void> };

/** A way to the appliance that `intercept` may answer in its place. */
async function startGateway(intercept: (request: IncomingMessage, response: ServerResponse) => boolean): Promise<Gateway> {
  const [cert, key] = ['tls-cert.pem', 'tls-key.pem'].map((name) => readFileSync(path('appliance', name), 'utf8')) as [string, string];
  const server: Server = createServer({ cert, key }, (request, response) => {
    if (intercept(request, response)) return;
    const { method, headers, url = '' } = request;
    const onward = httpsRequest(harness.appliance.url + url, { method, headers, ca: cert }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const home = join(path('home'), String(port));
  mkdirSync(home);
  return {
    ctl: ctlFor({ url: `https://127.0.0.1:${port}`, rootToken: '' }, cert, home),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
