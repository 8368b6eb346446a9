// Eviden VULN-13, VULN-06, COSMIAN-2026-017 and -018, OpenBao CVE-2025-6000: internal keys found by name, internals disclosed to
// unauthenticated callers, actions that did not check the owner, and an API that set file paths.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let tenant: string;
beforeAll(async () => {
  victim = await startVictim();
  tenant = await victim.makeTenant('tenant', ['root']);
});

describe('keys of the appliance itself', () => {
  const names = [
    'store',
    'keystored',
    'keystored-wrapping-key',
    'keystored-binding-key',
    'audit-trail',
    'audit',
    'appliance',
    'wrapping-key',
    'import',
    'system',
  ];

  test.each(names)('%s is no transit key, by no action and in no tenant', async (name) => {
    for (const token of [victim.rootToken, tenant]) {
      for (const action of ['export', 'backup', 'encrypt', 'decrypt', 'sign', 'rotate']) {
        const answer = await victim.request('POST', `/v1/state/keystore/transit-keys/${name}/${action}`, {}, { token });
        expect([action, answer.status, answer.body.code]).toEqual([action, 404, 'not-found']);
      }
    }
  });

  test('the CA of the listeners signs for nobody but the appliance', async () => {
    expect((await victim.request('GET', '/v1/state/keystore/tls/ca/appliance', undefined, { token: tenant })).status).toBe(404);
    for (const action of ['sign-csr', 'renew', 'revoke', 'import-cert']) {
      expect((await victim.request('POST', `/v1/state/keystore/tls/ca/appliance/${action}`, {}, { token: tenant })).status).toBe(404);
    }
  });
});

test('without a token nothing tells versions, modules, slots, paths or names of the inside', async () => {
  const open = victim.app.routes.filter(({ access, method }) => access === 'public' && method === 'GET');
  for (const { path } of open) {
    const { body, headers } = await victim.request('GET', path.replaceAll(/\{[^}]+\}/g, 'x'), undefined, { token: undefined });
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
    const text = JSON.stringify(body);
    expect(text).not.toContain(victim.directory);
    // The description names a module as an example, the same on every appliance.
    const inside =
      path.startsWith('/v1/openapi') || path.startsWith('/v1/docs') ? /node_modules|at file:\/\// : /node_modules|softhsm|at file:\/\//i;
    expect([path, inside.test(text)]).toEqual([path, false]);
  }
  for (const path of ['/v1/state/system/hsm', '/v1/state/system/metrics', '/v1/state/system/audit', '/v1/state/topics']) {
    expect(await victim.verdict('GET', path, undefined, { token: undefined })).toBe('401 invalid-token');
  }
  for (const path of ['/v1/state/system/hsm', '/v1/state/system/metrics', '/v1/state/system/audit']) {
    expect(await victim.verdict('GET', path, undefined, { token: tenant })).toBe('404 not-found');
  }
});

test('every act on a named thing looks at its owner: what a tenant has is absent for all others', async () => {
  await victim.request(
    'POST',
    '/v1/config/keystore/transit-keys',
    { name: 'theirs', exportable: true, 'allow-plaintext-backup': true },
    { token: tenant },
  );
  const named = victim.app.routes.filter(({ path }) => path.startsWith('/v1/state/keystore/transit-keys/{name}/'));
  expect(named.length).toBeGreaterThan(12);
  for (const { method, path } of named) {
    const answer = await victim.request(method, path.replace('{name}', 'theirs'), method === 'GET' ? undefined : {});
    expect([path, answer.status]).toEqual([path, 404]);
  }
});

test('no request sets a path of a file, a command or a module', () => {
  const taken = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'properties') for (const field of Object.keys(inner as object)) taken.add(field);
      collect(inner);
    }
  };
  const { paths, components } = victim.app.openapi();
  for (const operations of Object.values(paths)) for (const operation of Object.values(operations)) collect(operation.requestBody);
  for (const [name, schema] of Object.entries(components.schemas)) if (/Creation|Replacement|Merge/.test(name)) collect(schema);
  expect(taken.size).toBeGreaterThan(60);
  expect(taken).toContain('client-secret');
  // `path` is that of a policy's rule, and the directory of `directory-host` one of people.
  const words = new Set(['file', 'directory', 'folder', 'module', 'command', 'plugin', 'script', 'exec', 'dir', 'library']);
  taken.delete('directory-host');
  expect([...taken].filter((name) => name.split('-').some((word) => words.has(word)))).toEqual([]);
});
