// A change that the audit trail does not show: too long to be recorded, asked for by the query, one of many, or hidden behind another tenant.
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const policies = '/v1/config/policy/policies';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Recorded = Readonly<Record<string, unknown>> & { readonly 'request-parameters'?: Readonly<Record<string, unknown>> };

/** The records of requests to a path. */
function recordsOf(path: string): readonly Recorded[] {
  const lines = victim.written().split('\n');
  const records = lines.flatMap((line) => (line.startsWith('{"chain"') ? [JSON.parse(line) as Recorded] : []));
  return records.filter((record) => record['path'] === path);
}

beforeAll(async () => {
  victim = await startVictim();
});

test('a policy is in the trail whole, however many rules and however long their paths', async () => {
  const long = `/v1/config/keystore/transit-keys/${'a'.repeat(500)}`;
  const rules = [
    ...Array.from({ length: 400 }, (_, index) => ({ path: `/v1/config/keystore/transit-keys/k${index}`, operations: { read: 'allow' } })),
    { path: long, operations: { all: 'allow' } },
  ];
  const sent = { name: 'vast', 'rest-api': { rules } };
  expect(await victim.verdict('POST', policies, sent)).toBe('201 done');
  expect(recordsOf(policies).at(-1)?.['request-parameters']).toEqual(sent);
  expect(await victim.verdict('PUT', `${policies}/vast`, { 'rest-api': { rules } })).toMatch(/^20/);
  expect(recordsOf(`${policies}/vast`).at(-1)?.['request-parameters']).toEqual({ 'rest-api': { rules } });
});

test('what does not fit has a digest, with which it can be told afterwards', async () => {
  const description = 'd'.repeat(1_000);
  await victim.request('PATCH', `${policies}/vast`, { description });
  expect(recordsOf(`${policies}/vast`).at(-1)?.['request-parameters']).toEqual({ description });
  const domains = Array.from({ length: 300 }, (_, index) => `host-${index}.example.com`);
  const ca = '/v1/config/keystore/tls/ca';
  await victim.request('POST', ca, {
    name: 'many',
    est: { enabled: true, 'initial-enroll-secret': 'S3CRET-of-devices', 'allowed-domains': domains },
  });
  expect(recordsOf(ca).at(-1)?.['request-parameters']).toMatchObject({
    est: { 'allowed-domains': { items: 300, sha256: sha256(JSON.stringify(domains)) }, 'initial-enroll-secret': { bytes: 17 } },
  });
  expect(victim.written()).not.toContain('S3CRET-of-devices');
  expect(victim.written()).not.toContain(sha256('S3CRET-of-devices'));
});

test('the query is part of the record', async () => {
  await victim.request('POST', keys, { name: 'asked' });
  await victim.request('PATCH', `${keys}/asked?lists=replace&validate=true`, { exportable: true });
  await victim.request('PATCH', `${keys}/asked`, { exportable: true });
  await victim.request('PATCH', `${keys}/asked`, {}, { headers: { 'content-type': 'application/merge-patch+json' } });
  await victim.request('GET', `${keys}?contains=ask&limit=5`);
  await victim.request('PATCH', `${keys}/asked?not-there=secret`, {});
  expect(recordsOf(`${keys}/asked`).map((record) => record['query'])).toEqual([
    { lists: 'replace', validate: 'true' },
    undefined,
    { lists: 'replace' },
    undefined,
  ]);
  expect(recordsOf(keys).at(-1)).toMatchObject({ query: { contains: 'ask', limit: '5' } });
});

test('each key that a batch makes is there with what it was made with', async () => {
  const items = [
    { name: 'one', exportable: true, reference: 'r' },
    { name: 'Wrong Name' },
    { name: 'two', cipher: 'ed25519', 'allow-plaintext-backup': true },
  ];
  expect(await victim.verdict('POST', `${keys}-batch`, { 'batch-input': items })).toBe('200 done');
  expect(recordsOf(`${keys}-batch`).at(-1)).toMatchObject({
    created: ['one', 'two'],
    'request-parameters': {
      items: 3,
      failed: 1,
      documents: [
        { name: 'one', exportable: true },
        { name: 'two', cipher: 'ed25519', 'allow-plaintext-backup': true },
      ],
    },
  });
  expect(await victim.verdict('POST', `${keys}-batch?validate=true`, { 'batch-input': [{ name: 'three' }] })).toBe('200 done');
  expect(recordsOf(`${keys}-batch`).at(-1)).not.toHaveProperty('created');
});

test('a batch of uses has what its requests asked for', async () => {
  await victim.request('POST', keys, { name: 'signer', cipher: 'rsa-2048' });
  const items = [{ text: 'YQ==', 'hash-algorithm': 'sha512' }, { text: 'YQ==' }, { text: 'YQ==', 'hash-algorithm': 'sha256' }];
  const expected = { items: 3, failed: 0, 'hash-algorithm': ['sha512', 'sha256'], 'batch-input': { items: 3 } };
  for (const action of ['sign', 'sign-batch']) {
    expect(await victim.verdict('POST', `${state}/signer/${action}`, { 'batch-input': items })).toBe('200 done');
    expect(recordsOf(`${state}/signer/${action}`).at(-1)?.['request-parameters']).toEqual(expected);
  }
});

test('a wrapped export says under which key', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const der = publicKey.export({ type: 'spki', format: 'der' });
  await victim.request('POST', keys, { name: 'leaving', exportable: true });
  expect(await victim.verdict('POST', `${state}/leaving/export`, { format: 'wrapped', 'wrapping-key': pem })).toBe('200 done');
  expect(recordsOf(`${state}/leaving/export`).at(-1)?.['request-parameters']).toEqual({
    format: 'wrapped',
    'wrapping-key': { sha256: createHash('sha256').update(der).digest('hex') },
  });
});

test('failed logins are in the trail of every tenant whose approle has the role-id, also when others chose the same', async () => {
  const tenants = ['mine', 'theirs'];
  const tokens: string[] = [];
  for (const name of tenants) {
    const token = await victim.makeTenant(name, ['root']);
    tokens.push(token);
    const approle = { name: `job-${name}`, 'token-policies': ['rewrap-only'], 'fixed-role-id': 'build-server-1' };
    expect(await victim.verdict('POST', '/v1/config/keystore/authentication/approles', approle, { token })).toBe('201 done');
  }
  await victim.request('POST', '/v1/approle-login', { 'role-id': 'build-server-1', 'secret-id': 'guess' }, { token: undefined });
  const records = recordsOf('/v1/approle-login');
  expect(new Set(records.map((record) => [record['tenant'], record['user'], record['code']].join(' ')))).toEqual(
    new Set(tenants.map((tenant) => `${tenant} job-${tenant} login-failed`)),
  );
  expect(records).toHaveLength(tenants.length);
  expect(new Set(records.map((record) => record['request-id'])).size).toBe(1);
  for (const record of records) expect(record).toMatchObject({ 'possible-tenants': 2, 'client-ip': expect.any(String) });
  for (const token of tokens) {
    const seen = (await recordsSeen(token)).filter((record) => record['kind'] === 'login');
    expect(seen).toMatchObject([{ code: 'login-failed' }]);
    for (const field of ['client-ip', 'user-agent', 'possible-tenants']) expect(seen[0]).not.toHaveProperty(field);
  }
  // The role-id of one tenant alone hides nothing from it.
  const [mine = ''] = tokens;
  const approle = '/v1/config/keystore/authentication/approles/job-mine';
  expect(await victim.verdict('PATCH', approle, { 'fixed-role-id': 'build-server-2' }, { token: mine })).toBe('204 done');
  await victim.request('POST', '/v1/approle-login', { 'role-id': 'build-server-2', 'secret-id': 'guess' }, { token: undefined });
  const last = (await recordsSeen(mine)).filter((record) => record['kind'] === 'login').at(-1);
  expect(last).toMatchObject({ code: 'login-failed', 'client-ip': expect.any(String) });
});

test('the records of a tenant do not count what others write', async () => {
  const token = await victim.makeTenant('counting', ['root']);
  const write = () => victim.request('POST', keys, { name: 'own' }, { token });
  expect((await write()).status).toBe(201);
  const seen = await recordsSeen(token);
  expect(seen.length).toBeGreaterThan(0);
  for (const record of seen) expect(record).not.toHaveProperty('store-revision');
  expect(recordsOf(keys).some((record) => record['store-revision'] !== undefined)).toBe(true);
});

test('what was asked for stays in the record of what succeeds, beside what came of it', async () => {
  const authentication = 'keystore/authentication/approles';
  const approle = `/v1/state/${authentication}/recorded`;
  expect(await victim.verdict('POST', `/v1/config/${authentication}`, { name: 'recorded' })).toBe('201 done');
  const bounds = { ttl: '1h', 'num-uses': 3, 'bound-cidrs': ['127.0.0.0/8', '::1/128'] };
  const { body: secret } = await victim.request('POST', `${approle}/generate-secret-id`, bounds);
  expect(parametersOf(`${approle}/generate-secret-id`)).toEqual({ ...bounds, made: secret.accessor });

  await victim.request('POST', '/v1/config/keystore/tls/ca', { name: 'recorded' });
  const serials = ['4f9a2c51d07b83e6'];
  const importing = '/v1/state/keystore/tls/ca/recorded/import-revocations';
  // A serial number that the CA never gave is refused from now on.
  expect(await victim.verdict('POST', importing, { serials })).toBe('200 done');
  expect(parametersOf(importing)).toEqual({ serials, revoked: 0, 'never-issued': 1, 'known-before': 0 });
});

test('what lets somebody in, and what somebody ends by its value, is in the record by its accessor', async () => {
  const authentication = 'keystore/authentication/approles';
  const approle = `/v1/state/${authentication}/entering`;
  expect(await victim.verdict('POST', `/v1/config/${authentication}`, { name: 'entering' })).toBe('201 done');
  const { body: secret } = await victim.request('POST', `${approle}/generate-secret-id`, {});
  const { body: known } = await victim.request('GET', approle);
  const credentials = { 'role-id': known['role-id'], 'secret-id': secret['secret-id'] };
  const { body: login } = await victim.request('POST', '/v1/approle-login', credentials, { token: undefined });
  expect(parametersOf('/v1/approle-login')).toMatchObject({ 'secret-id-accessor': secret.accessor });
  expect(await victim.verdict('POST', `${approle}/disable-secret-id`, { 'secret-id': secret['secret-id'] })).toBe('204 done');
  expect(parametersOf(`${approle}/disable-secret-id`)).toMatchObject({ accessor: secret.accessor });
  const disable = '/v1/state/keystore/token/disable';
  expect(await victim.verdict('POST', disable, { token: login.token })).toBe('204 done');
  expect(parametersOf(disable)).toMatchObject({ accessor: login.accessor });
});

const parametersOf = (path: string): unknown => recordsOf(path).at(-1)?.['request-parameters'];

/** The trail as a tenant reads it. */
async function recordsSeen(token: string): Promise<Record<string, unknown>[]> {
  const { body } = await victim.request('GET', '/v1/state/topics/system:audit-trail-log', undefined, { token });
  return String(body)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
