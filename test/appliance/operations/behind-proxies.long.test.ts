// Behind proxies, with the real daemon: the address that a trusted one names counts for bounds, limits and records, at every port.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, ask, type Asking } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { patienceMs } from '../../harness/patience.ts';
import { startProxy } from '../../harness/proxy.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const directory = at('data');
const [passing, ending] = ['127.0.0.2', '127.0.0.3'];
const self = '/v1/state/keystore/token/info';

let daemon: Daemon;
let bound: string;
const proxies: { close(): void }[] = [];
beforeAll(async () => {
  writeFileSync(at('config.yaml'), `proxies:\n  proxy-protocol: [${passing}]\n  forwarded: [${ending}/32]\n`);
  daemon = await startDaemon({ directory, args: ['--config', at('config.yaml')] });
  const made = await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['user'], 'bound-cidrs': ['192.0.2.7'] });
  bound = (made as { token: string }).token;
});
afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await daemon?.stop();
});

/** A request that comes from this client through the proxy that passes TLS on. */
async function through(url: string, client: string, target: string, asking: Asking = {}): Promise<Answer> {
  const proxy = await startProxy({ port: new URL(url).port, from: passing, client });
  proxies.push(proxy);
  return ask(`https://127.0.0.1:${proxy.port}`, target, { ca: daemon.caPem, ...asking });
}

/** The addresses in the records of a path, once there is one of each of these. */
async function recorded(path: string, ...addresses: readonly string[]): Promise<void> {
  const found = (): string[] =>
    readdirSync(join(directory, 'audit'))
      .flatMap((name) => readFileSync(join(directory, 'audit', name), 'utf8').split('\n'))
      .filter((line) => line.includes(`"path":"${path}"`))
      .map((line) => (JSON.parse(line) as { 'client-ip': string })['client-ip']);
  await expect.poll(found, { timeout: patienceMs }).toEqual(expect.arrayContaining([...addresses]));
}

describe('management', () => {
  test('a token that is bound to an address works from there, whichever proxy is between', async () => {
    expect((await through(daemon.url, '192.0.2.7', self, { method: 'POST', token: bound })).status).toBe(200);
    expect((await through(daemon.url, '192.0.2.8', self, { method: 'POST', token: bound })).status).toBe(401);
    const forwarded = (client: string, from: string): Promise<Answer> =>
      ask(daemon.url, self, {
        method: 'POST',
        ca: daemon.caPem,
        from,
        headers: { authorization: `Bearer ${bound}`, 'x-forwarded-for': client },
      });
    expect((await forwarded('192.0.2.7', ending)).status).toBe(200);
    expect((await forwarded('192.0.2.8', ending)).status).toBe(401);
    expect((await forwarded('192.0.2.7', '127.0.0.4')).status).toBe(401);
  });

  test('a client that is no proxy cannot name an address', async () => {
    const other = await startProxy({ port: new URL(daemon.url).port, from: '127.0.0.4', client: '192.0.2.7' });
    proxies.push(other);
    await expect(ask(`https://127.0.0.1:${other.port}`, '/v1/openapi.json', { ca: daemon.caPem })).rejects.toThrow(
      /socket|ECONNRESET|disconnected/,
    );
    await expect(ask(daemon.url, '/v1/openapi.json', { ca: daemon.caPem, from: passing })).rejects.toThrow(
      /socket|ECONNRESET|disconnected/,
    );
  });

  test('failed logins of one client of a proxy are counted for that one alone, and recorded with its address', async () => {
    const logIn = (client: string): Promise<Answer> =>
      through(daemon.url, client, '/v1/approle-login', { method: 'POST', body: { 'role-id': `of ${client}`, 'secret-id': 'wrong' } });
    for (let count = 0; count < 10; count++) expect((await logIn('192.0.2.9')).status).toBe(401);
    expect((await logIn('192.0.2.9')).status).toBe(429);
    expect((await logIn('192.0.2.10')).status).toBe(401);
    await recorded('/v1/approle-login', '192.0.2.9', '192.0.2.10');
  });
});

test('EST: requests are recorded with the address that the proxy names', async () => {
  const path = '/.well-known/est/nobody/none/simpleenroll';
  expect((await through(daemon.estUrl, '192.0.2.11', path, { method: 'POST', body: 'x' })).status).toBe(404);
  await ask(daemon.estUrl, path, {
    method: 'POST',
    body: 'x',
    ca: daemon.caPem,
    from: ending,
    headers: { 'x-forwarded-for': '192.0.2.12' },
  });
  await recorded('/.well-known/est/nobody/none/simpleenroll', '192.0.2.11', '192.0.2.12');
});

test('sealed: both ports take the word of the proxy, and who tries a PIN is recorded with that address', async () => {
  await daemon.request('POST', '/v1/state/keystore/system/seal');
  const unseal = '/v1/state/keystore/system/unseal';
  await expect
    .poll(async () => (await through(daemon.url, '192.0.2.13', unseal, { method: 'POST', body: { pin: 'wrong' } })).status)
    .not.toBe(503);
  await recorded(unseal, '192.0.2.13');
  expect((await through(daemon.estUrl, '192.0.2.14', '/.well-known/est/x/y/cacerts')).status).toBe(503);
  await expect(ask(daemon.estUrl, '/', { ca: daemon.caPem, from: passing })).rejects.toThrow(/socket|ECONNRESET|disconnected/);
});
