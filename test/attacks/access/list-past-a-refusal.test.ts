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
