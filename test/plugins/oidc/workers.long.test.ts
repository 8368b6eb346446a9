// The real daemon with two workers: either worker can finish a login, once.
import { equal } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../core/base/time.ts';
import { ask } from '../../harness/client.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { Browser, pathOf, referenceOf, textOf, type Sender } from './harness.ts';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';

const path = temporaryDirectory();
let daemon: Daemon;
let provider: ScriptedProvider;

beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data'), workers: 2 });
  // The daemon listens on loopback only, so it takes a provider there without TLS.
  provider = await startScriptedProvider({ directory: path(), clock: systemClock, tls: false });
  const services = '/v1/config/keystore/authentication/oidc';
  await daemon.request('POST', services, {
    name: 'corp',
    'discovery-url': provider.issuer,
    'client-id': provider.clientId,
    'client-secret': provider.clientSecret,
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': ['https://other.example/oidc-callback', `${daemon.url}/oidc-callback`],
  });
  await daemon.request('POST', `${services}/corp/roles`, { name: 'g1', 'token-policies': ['user'] });
  provider.script = { person: { groups: ['g1'] } };
});
afterAll(async () => {
  await provider.close();
  equal(await daemon.stop(), 0);
});

/** Every request on a connection of its own, so that any worker may get it. */
const overNewConnections: Sender = (method, to, body, headers) => ask(daemon.url, to, { method, headers, body, ca: daemon.caPem });

test('twenty logins, each over several connections, all end in a session; the redirect URI is the one of the public URL', async () => {
  for (let count = 0; count < 20; count += 1) {
    const browser = new Browser(overNewConnections);
    const url = await browser.start();
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${daemon.url}/oidc-callback`);
    expect((await browser.get(pathOf(provider.authorize(url)))).status).toBe(303);
    expect(textOf((await browser.get('/ui/account')).body)).toContain('You are signed in');
  }
});

test('one state sent to both workers at once makes one token request', async () => {
  for (let count = 0; count < 5; count += 1) {
    const browser = new Browser(overNewConnections);
    const to = pathOf(provider.authorize(await browser.start()));
    const before = provider.requestsTo('/token').length;
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.get(to)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(provider.requestsTo('/token')).toHaveLength(before + 1);
  }
});

test('the reference on a failure page is found in system:logs', async () => {
  provider.script = { person: { groups: [] } };
  const answer = await new Browser(overNewConnections).login(provider);
  expect(answer.status).toBe(403);
  const reference = referenceOf(answer.body);
  const logged = readdirSync(path('data', 'logs')).map((file) => readFileSync(path('data', 'logs', file), 'utf8'));
  expect(logged.join()).toContain(reference);
});

test('twenty callers sent to a provider that answers 600 get a page each, and no worker ends', async () => {
  await daemon.request('POST', '/v1/config/keystore/authentication/oidc', {
    name: 'odd',
    'discovery-url': provider.issuer,
    'client-id': provider.clientId,
    'client-secret': provider.clientSecret,
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': [`${daemon.url}/oidc-callback`],
  });
  const odd = 'HTTP/1.1 600 X\r\ncontent-length: 2\r\n\r\n{}';
  provider.script = { respond: { '/metadata': (_, response) => void response.socket?.end(odd) } };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => overNewConnections('GET', '/login/system/odd', undefined, { accept: 'text/html' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(502));
  expect(daemon.output()).not.toContain('ended');
});

test('a provider URL that leads to the appliance itself is not called, and the test action says so', async () => {
  for (const [name, url] of [
    ['own-url', daemon.url],
    ['own-address', daemon.url.replace(/\/\/[^:/]+/, '//127.9.9.9')],
  ] as const) {
    await daemon.request('POST', '/v1/config/keystore/authentication/oidc', {
      name,
      'discovery-url': url,
      'client-id': 'x',
      'client-secret': 'x',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': [`${daemon.url}/oidc-callback`],
    });
    const report = await daemon.request('POST', `/v1/state/keystore/authentication/oidc/${name}/test`, {});
    expect(report).toMatchObject({ usable: false, findings: [{ message: 'discovery: forbidden-address' }] });
    expect(report).not.toHaveProperty('certificate-chain');
  }
});
