// OpenBao GHSA-xp3c-3jw3-4vcr: LIST went past a deny. Here: lists, both trees, HEAD, batches and field selection against refusals.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

beforeAll(async () => {
  victim = await startVictim();
  for (const name of ['a', 'b']) await victim.request('POST', keys, { name });
  await victim.request('POST', keys, { name: 'signer', cipher: 'rsa-2048' });
});

describe('a list', () => {
  test('is a path of its own: refused entries do not open it, a refused list cannot be read another way', async () => {
    await victim.makePolicy('no-list', [
      { path: `${keys}/*`, operations: { read: 'allow' } },
      { path: keys, operations: { all: 'reject' } },
      { path: state, operations: { all: 'reject' } },
    ]);
    const token = await victim.makeToken(['no-list']);
    expect(await victim.verdict('GET', `${keys}/a`, undefined, { token })).toBe('200 done');
    for (const path of [keys, `${keys}/`, `${keys}?keys=true`, `${keys}?count=true`, `${keys}?limit=1`, `${keys}?fields=name`, state]) {
      expect(await victim.verdict('GET', path, undefined, { token })).toBe('403 policy-denied');
      expect((await victim.request('HEAD', path, undefined, { token })).status).toBe(403);
    }
    for (const method of ['LIST', 'SEARCH', 'PROPFIND'])
      expect((await victim.raw(method, keys, { token })).status).toBeGreaterThanOrEqual(400);
  });

  test('method overrides in headers and queries count for nothing', async () => {
    await victim.makePolicy('reader', [{ path: `${keys}/**`, operations: { read: 'allow' } }]);
    const token = await victim.makeToken(['reader']);
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      expect(await victim.verdict('GET', `${keys}/a`, undefined, { token, headers: { [header]: 'DELETE' } })).toBe('200 done');
    }
    expect(await victim.verdict('GET', `${keys}/a?_method=DELETE`, undefined, { token })).toBe('400 unknown-parameter');
    expect(await victim.verdict('GET', `${keys}/a`)).toBe('200 done');
  });
});

describe('a batch', () => {
  test('is held to the allowed values request by request', async () => {
    await victim.makePolicy('sha256-only', [
      { path: `${state}/*/sign`, operations: { execute: 'allow' }, 'allowed-values': { 'hash-algorithm': ['sha256'] } },
    ]);
    const token = await victim.makeToken(['sha256-only']);
    const sign = (body: unknown) => victim.verdict('POST', `${state}/signer/sign`, body, { token });
    expect(await sign({ text: '', 'hash-algorithm': 'sha256' })).toBe('200 done');
    expect(await sign({ text: '', 'hash-algorithm': 'sha512' })).toBe('403 policy-denied');
    expect(await sign({ 'batch-input': [{ text: '' }, { text: '', 'hash-algorithm': 'sha512' }] })).toBe('403 policy-denied');
  });

  test('and its answers lose what single ones lose', async () => {
    await victim.makePolicy('blind', [{ path: `${state}/*/decrypt`, operations: { execute: 'allow' }, 'hide-fields': ['plaintext'] }]);
    const token = await victim.makeToken(['blind']);
    const { ciphertext } = (await victim.request('POST', `${state}/a/encrypt`, { plaintext: 'aGVsbG8=' })).body;
    for (const body of [{ ciphertext }, { 'batch-input': [{ ciphertext }, { ciphertext }] }]) {
      const answer = await victim.request('POST', `${state}/a/decrypt`, body, { token });
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain('aGVsbG8=');
    }
  });
});

test('a data key can be had wrapped only, if the policy says so, also by leaving the type out', async () => {
  await victim.makePolicy('wrapped-only', [
    { path: `${state}/*/generate-data-key`, operations: { execute: 'allow' }, 'allowed-values': { type: ['wrapped'] } },
  ]);
  const token = await victim.makeToken(['wrapped-only']);
  const ask = (body: unknown) => victim.request('POST', `${state}/a/generate-data-key`, body, { token });
  expect((await ask({ type: 'plaintext' })).body.code).toBe('policy-denied');
  for (const body of [{}, { type: 'wrapped' }]) expect((await ask(body)).body).not.toHaveProperty('plaintext');
});

test('hidden fields stay hidden in both trees, in lists, and when they are asked for by name', async () => {
  await victim.makePolicy('no-versions', [
    { path: `${keys}/**`, operations: { read: 'allow' }, 'hide-fields': ['cipher', 'keys'] },
    { path: `${state}/**`, operations: { read: 'allow' }, 'hide-fields': ['cipher', 'keys'] },
  ]);
  const token = await victim.makeToken(['no-versions']);
  for (const path of [
    keys,
    state,
    `${keys}/signer`,
    `${state}/signer`,
    `${state}/signer?fields=keys,cipher,name`,
    `${state}?fields=keys/1`,
  ]) {
    const { status, body } = await victim.request('GET', path, undefined, { token });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toMatch(/BEGIN PUBLIC KEY|rsa-2048/);
  }
});

describe('a creation through the list', () => {
  const refused = '403 policy-denied';
  const oidc = '/v1/config/keystore/authentication/oidc';

  test.each([
    [keys, { cipher: 'aes256-gcm96' }],
    ['/v1/config/keystore/tls/ca', {}],
    ['/v1/config/keystore/authentication/approles', {}],
    ['/v1/config/policy/policies', {}],
    ['/v1/config/tenants', {}],
    [`${oidc}/idp/roles`, {}],
  ])('%s: makes nothing under a name whose own path is refused, and tells nothing of it', async (path, body) => {
    await victim.request('POST', oidc, {
      name: 'idp',
      'discovery-url': 'https://idp.example/.well-known/openid-configuration',
      'client-id': 'c',
      'client-secret': 'a secret that is long enough',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
    });
    const policy = `makes-${path.split('/').slice(3).join('-').toLowerCase()}`;
    await victim.makePolicy(policy, [
      { path: `${path}/**`, operations: { all: 'allow' } },
      { path: `${path}/reserved`, operations: { create: 'reject' } },
      { path: `${path}/taken/**`, operations: { all: 'reject' } },
    ]);
    const token = await victim.makeToken([policy, 'default']);
    await victim.request('POST', path, { name: 'taken', ...body });
    const make = (name: string, query = '') => victim.verdict('POST', `${path}${query}`, { name, ...body }, { token });
    for (const name of ['reserved', 'taken'])
      for (const query of ['', '?validate=true']) expect([name, await make(name, query)]).toEqual([name, refused]);
    expect(await victim.verdict('GET', `${path}/reserved`)).toBe('404 not-found');
    expect(await make('free')).toBe('201 done');
  });

  test('in a batch: an entry that is refused fails alone', async () => {
    const token = await victim.makeToken(['makes-keystore-transit-keys', 'default']);
    const items = ['reserved', 'taken', 'in-a-batch'].map((name) => ({ name }));
    const { body } = await victim.request('POST', `${keys}-batch`, { 'batch-input': items }, { token });
    expect((body['batch-results'] as { code?: string }[]).map(({ code }) => code)).toEqual(['policy-denied', 'policy-denied', undefined]);
  });

  test('has the values alone that the path of the entry allows as well', async () => {
    await victim.makePolicy('makes-plain-ones', [
      { path: keys, operations: { create: 'allow' } },
      { path: `${keys}/payroll`, operations: { create: 'allow' }, 'allowed-values': { exportable: [false] } },
    ]);
    const token = await victim.makeToken(['makes-plain-ones']);
    const make = (name: string, exportable: boolean) => victim.verdict('POST', keys, { name, exportable }, { token });
    expect(await make('payroll', true)).toBe(refused);
    expect(await make('payroll', false)).toBe('201 done');
    // Where no rule speaks of the entry, that of the list decides.
    expect(await make('anything', true)).toBe('201 done');
  });
});

test.each([
  ['refuses', { operations: { create: 'reject' } }],
  ['limits', { operations: { create: 'allow' }, 'allowed-values': { exportable: [false], cipher: ['aes256-gcm96'] } }],
])('a rule for the list that %s what is made counts whichever way it comes', async (word, rule) => {
  await victim.makePolicy(`list-${word}`, [
    { path: '/v1/**', operations: { all: 'allow' } },
    { path: keys, ...rule },
  ]);
  const token = await victim.makeToken([`list-${word}`]);
  const ask = (method: string, path: string, body: unknown) => victim.verdict(method, path, body, { token });
  const wrong = { exportable: true, cipher: 'ed25519' };
  const refused = '403 policy-denied';
  expect(await ask('POST', keys, { name: `${word}-a`, ...wrong })).toBe(refused);
  expect(await ask('POST', `${keys}-batch`, { 'batch-input': [{ name: `${word}-b`, ...wrong }] })).toBe(refused);
  expect(await ask('PUT', `${keys}/${word}-c`, wrong)).toBe(refused);
  expect(await ask('PUT', `${keys}/${word}-c?validate=true`, wrong)).toBe(refused);
  const right = { exportable: false, cipher: 'aes256-gcm96' };
  expect(await ask('PUT', `${keys}/${word}-e`, right)).toBe(word === 'refuses' ? refused : '201 done');
  // What is there is changed by the rules for it.
  expect(await ask('PUT', `${keys}/a`, {})).toBe('204 done');
  const check = { path: `${keys}/${word}-f`, operation: 'create' };
  const { body } = await victim.request('POST', '/v1/state/policy/check', check, { token });
  expect(body.allowed).toBe(word === 'limits');
});

test('a rule for all below the list is weighed against those for the entry, where the more exact one decides', async () => {
  await victim.makePolicy('one-of-many', [
    { path: '/v1/config/**', operations: { all: 'reject' } },
    { path: `${keys}/mine`, operations: { create: 'allow', update: 'allow' } },
  ]);
  const token = await victim.makeToken(['one-of-many']);
  expect(await victim.verdict('PUT', `${keys}/mine`, {}, { token })).toBe('201 done');
  expect(await victim.verdict('PUT', `${keys}/other`, {}, { token })).toBe('403 policy-denied');
});
