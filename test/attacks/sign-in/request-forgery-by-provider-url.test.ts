// Eviden VULN-03 and others: a URL that a caller can set made the server call hosts of its own network.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let inside: Server;
let asked = 0;
const list = '/v1/config/keystore/authentication/oidc';
const service = {
  'client-id': 'c',
  'client-secret': 's',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
};

beforeAll(async () => {
  victim = await startVictim();
  inside = createServer((_, response) => {
    asked++;
    response.end('{"secret":"of the inside"}');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
});
afterAll(() => inside.close());

test('discovery URLs must be https, in every disguise', async () => {
  const { port } = inside.address() as AddressInfo;
  const urls = [
    `http://127.0.0.1:${port}/.well-known/openid-configuration`,
    `HTTP://127.0.0.1:${port}/`,
    `//127.0.0.1:${port}/`,
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:application/json,{}',
    'ldap://127.0.0.1/',
    ` http://127.0.0.1:${port}/`,
    `https://user:password@127.0.0.1:${port}/`,
    'https://',
    '',
  ];
  for (const [index, url] of urls.entries()) {
    const name = `forged-${index}`;
    const { status } = await victim.request('POST', list, { name, ...service, 'discovery-url': url });
    // A loopback appliance accepts loopback providers without TLS; their answers are still not shown.
    if (status === 201) await victim.request('GET', `/login/system/${name}`, undefined, { token: undefined });
    const tried = await victim.request('POST', `/v1/state/keystore/authentication/oidc/${name}/test`, {});
    expect(JSON.stringify(tried.body)).not.toContain('of the inside');
  }
});

test('no request carries a URL that is fetched: redirect URIs and hosts come from the configuration', async () => {
  const before = asked;
  const { port } = inside.address() as AddressInfo;
  const url = encodeURIComponent(`http://127.0.0.1:${port}/`);
  for (const query of [`redirect_uri=${url}`, `next=${url}`, `url=${url}`, `iss=${url}`]) {
    for (const path of ['/login', '/login/system/corp', '/oidc-callback'])
      await victim.raw('GET', `${path}?${query}`, { token: undefined });
  }
  await victim.raw('GET', '/login/system/corp', {
    token: undefined,
    headers: { host: `127.0.0.1:${port}`, 'x-forwarded-host': 'evil.example' },
  });
  await victim.raw('GET', `http://127.0.0.1:${port}/v1/config/tenants`);
  expect(asked).toBe(before);
});
