// Random tokens and requests: through the API of Vault a token may do exactly what it may do at our own, and both are on record alike.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncProperty, assert, constantFrom, record } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeCsr, makeKeys } from '../ca/pki.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;

const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown, token: string = appliance.rootToken) =>
  appliance.request(method, `/v1/${path}`, body, { token });

async function tokenWith(name: string, list: readonly object[]): Promise<string> {
  expect((await ours('POST', 'config/policy/policies', { name, 'rest-api': { rules: list } })).status).toBe(201);
  return (await ours('POST', 'state/keystore/token/create', { policies: [name], ttl: '1h' })).body.token;
}

const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${(
  await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=a.example.test', names: [{ type: 'dns', value: 'a.example.test' }] })
).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
const ca = 'state/keystore/tls/ca/web';
const approle = 'state/keystore/authentication/approles/shop';

beforeAll(async () => {
  appliance = await startTestAppliance({
    directory: at('vault'),
    configuration: { vault: { tenants: { system: {} }, pkiMounts: { pki: { tenant: 'system', ca: 'web' } } } },
  });
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  expect((await ours('POST', 'config/keystore/tls/ca', { name: 'web', est })).status).toBe(201);
  const role = { name: 'shop', 'token-policies': ['user'] };
  expect((await ours('POST', 'config/keystore/authentication/approles', role)).status).toBe(201);
});
afterAll(() => appliance.close());

/** Both ways to do the same. */
const acts = [
  ['POST', 'transit/encrypt/k', { plaintext: 'eA==' }, 'POST', 'state/keystore/transit-keys/k/encrypt', { plaintext: 'eA==' }],
  ['POST', 'transit/encrypt/k', { plaintext: '?' }, 'POST', 'state/keystore/transit-keys/k/encrypt', { plaintext: '?' }],
  ['POST', 'transit/encrypt/none', { plaintext: 'eA==' }, 'POST', 'state/keystore/transit-keys/none/encrypt', { plaintext: 'eA==' }],
  [
    'POST',
    'transit/hmac/k',
    { input: 'eA==' },
    'POST',
    'state/keystore/transit-keys/k/hmac',
    { plaintext: 'eA==', 'hash-algorithm': 'sha256' },
  ],
  ['POST', 'transit/keys/k/rotate', undefined, 'POST', 'state/keystore/transit-keys/k/rotate', undefined],
  ['GET', 'transit/keys/k', undefined, 'GET', 'state/keystore/transit-keys/k', undefined],
  ['GET', 'transit/keys?list=true', undefined, 'GET', 'config/keystore/transit-keys?keys=true', undefined],
  [
    'POST',
    'transit/keys/k/config',
    { min_decryption_version: 1 },
    'PATCH',
    'config/keystore/transit-keys/k',
    { 'min-decryption-version': 1 },
  ],
  ['DELETE', 'transit/keys/k', undefined, 'DELETE', 'config/keystore/transit-keys/k', undefined],
  [
    'POST',
    'transit/keys/k',
    { exportable: true },
    'POST',
    'config/keystore/transit-keys',
    { name: 'k', cipher: 'aes256-gcm96', exportable: true },
  ],
  ['GET', 'auth/token/lookup-self', undefined, 'POST', 'state/keystore/token/info', {}],
  ['POST', 'pki/sign/web', { csr, ttl: '1h' }, 'POST', `${ca}/sign-csr`, { csr, ttl: '1h' }],
  ['POST', 'pki/sign-verbatim', { csr, ttl: '90d' }, 'POST', `${ca}/sign-csr`, { csr, ttl: '90d' }],
  [
    'POST',
    'pki/issue/web',
    { common_name: 'a.example.test', ttl: '1h' },
    'POST',
    `${ca}/issue`,
    { subject: 'CN=a.example.test', 'dns-names': ['a.example.test'], ttl: '1h' },
  ],
  ['PUT', 'pki/root/sign-intermediate', { csr, ttl: 3_600 }, 'POST', `${ca}/certify-ca`, { csr, ttl: '1h' }],
  ['GET', 'transit/export/encryption-key/k', undefined, 'POST', 'state/keystore/transit-keys/k/export', { format: 'clear' }],
  ['GET', 'transit/backup/k', undefined, 'POST', 'state/keystore/transit-keys/k/backup', undefined],
  ['GET', 'transit/wrapping_key', undefined, 'GET', 'state/keystore/wrapping-key', undefined],
  ['POST', 'auth/approle/role/shop/secret-id', { ttl: '1h' }, 'POST', `${approle}/generate-secret-id`, { ttl: '1h' }],
  ['GET', 'auth/approle/role/shop/role-id', undefined, 'GET', approle, undefined],
  ['LIST', 'auth/approle/role/shop/secret-id', undefined, 'GET', `${approle}/secret-ids?keys=true`, undefined],
  ['GET', 'pki/certs?list=true', undefined, 'GET', `${ca}/certificates?keys=true&limit=1000`, undefined],
  ['GET', 'pki/cert/aa:bb', undefined, 'GET', `${ca}/certificates/aabb`, undefined],
  ['POST', 'pki/revoke', { serial_number: 'aa:bb' }, 'POST', `${ca}/revoke`, { serial: 'aabb' }],
] as const;
const rules = [
  { path: '/v1/state/keystore/transit-keys/*/encrypt', operations: { execute: 'allow' } },
  { path: '/v1/state/keystore/transit-keys/**', operations: { execute: 'allow' } },
  { path: '/v1/state/keystore/transit-keys/k/rotate', operations: { execute: 'reject' } },
  { path: '/v1/state/**', operations: { read: 'allow' }, 'hide-fields': ['exportable'] },
  { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' }, 'allowed-values': { exportable: [false] } },
  { path: '/v1/config/keystore/**', operations: { read: 'allow', update: 'allow' } },
  { path: `/v1/${ca}/sign-csr`, operations: { execute: 'allow' } },
  { path: `/v1/${ca}/sign-csr`, operations: { execute: 'allow' }, 'allowed-values': { ttl: ['1h'] } },
  { path: `/v1/${ca}/issue`, operations: { execute: 'allow' } },
  { path: `/v1/${ca}/certify-ca`, operations: { execute: 'allow' }, 'allowed-values': { 'path-length': [1] } },
  { path: `/v1/${approle}/**`, operations: { all: 'allow' }, 'hide-fields': ['accessor'] },
  { path: '/v1/state/keystore/transit-keys/k/export', operations: { execute: 'allow' } },
  { path: `/v1/${ca}/*`, operations: { all: 'allow' }, 'hide-fields': ['chain'] },
] as const;

/** What was asked, by whom, and how it was decided: without what only tells the two requests apart. */
function recordsById(): ReadonlyMap<string, unknown> {
  const directory = join(appliance.directory, 'audit');
  const lines = readdirSync(directory).flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  );
  const known = ['tenant', 'user', 'user-kind', 'accessor', 'path', 'method', 'status', 'code', 'query'] as const;
  return new Map(
    lines.map((line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      return [String(entry['request-id']), Object.fromEntries(known.map((name) => [name, entry[name]]))];
    }),
  );
}

test('random tokens may do here exactly what they may do at the own API, and both are on record alike', async () => {
  const cases = record({ act: constantFrom(...acts), first: constantFrom(...rules), second: constantFrom(...rules) });
  let count = 0;
  const pairs: (readonly [string, string])[] = [];
  const meaning = (status: number): string => (status === 403 || status === 401 ? 'refused' : status < 400 ? 'done' : 'wrong');
  const holds = asyncProperty(cases, async ({ act: [method, path, body, ourMethod, ourPath, ourBody], first, second }) => {
    const token = await tokenWith(`random-${count++}`, first === second ? [first] : [first, second]);
    await ours('POST', 'config/keystore/transit-keys', { name: 'k' });
    const there = await ask(method, path, body, token);
    const here = await ours(ourMethod, ourPath, ourBody, token);
    const isCreation = ourMethod === 'POST' && ourPath === 'config/keystore/transit-keys';
    // A key that exists is no error there, and a list without entries is 404.
    const isEmpty = Array.isArray(here.body) && here.body.length === 0;
    const expected = isCreation && here.status === 409 ? 'done' : isEmpty ? 'wrong' : meaning(here.status);
    expect([meaning(there.status), path], JSON.stringify([first, second, there.body, here.body])).toEqual([expected, path]);
    pairs.push([String(there.headers['request-id']), String(here.headers['request-id'])]);
  });
  await assert(holds, { numRuns: 600 });
  const all = recordsById();
  // The record of an empty list is that of our list.
  for (const [there, here] of pairs) expect(all.get(there)).toEqual(all.get(here));
  expect(pairs.filter(([there]) => all.has(there)).length).toBeGreaterThan(200);
});
