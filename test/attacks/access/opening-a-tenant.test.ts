// An administrator of the tenant system opens another tenant only where that allows it, reads alone, not for long, and not unseen.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Answer, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const reason = 'case 4711: the key orders is not found';
let appliance: TestAppliance;
let [tenantRoot, clerk] = ['', ''];

const code = ({ status, body }: Answer): string => `${status} ${(body as { code?: string } | undefined)?.code ?? 'done'}`;
const ask = async (method: string, path: string, body?: unknown, token?: string): Promise<string> =>
  code(await appliance.request(method, path, body, token === undefined ? {} : { token }));
const post = (path: string, body: unknown, token?: string) => appliance.request('POST', path, body, token === undefined ? {} : { token });
const open = (token?: string, why = reason) => post('/v1/state/tenants/pay/open-as', { reason: why }, token);
const allow = (allowed: boolean, token = tenantRoot) => post('/v1/state/open-as/allow', { allowed }, token);
const tokenIn = ({ body }: Answer): string => (body as { token: string }).token;
const trail = (): string =>
  readdirSync(at(), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('audit') && name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(at(), name), 'utf8'))
    .join('');

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at() });
  await post('/v1/config/tenants', { name: 'pay' });
  tenantRoot = tokenIn(await post('/v1/state/keystore/token/create-root', { name: 'pay' }));
  clerk = tokenIn(await post('/v1/state/keystore/token/create', { policies: ['user'] }, tenantRoot));
  await post('/v1/config/keystore/transit-keys', { name: 'orders' }, tenantRoot);
});
afterEach(async () => expect(await appliance.check()).toEqual([]));
afterAll(() => appliance.close());

test('nobody opens a tenant that has not allowed it, and only its administrators allow it', async () => {
  expect(code(await open())).toBe('409 operation-refused');
  expect(code(await allow(true, clerk))).toBe('403 policy-denied');
  expect(code(await post('/v1/state/open-as/allow', { allowed: true }))).toBe('409 operation-refused');
  expect((await appliance.request('GET', '/v1/state/open-as', undefined, { token: clerk })).body).toEqual({ allowed: false, openings: [] });
});

test('it reads, and changes, uses, renews, approves and hands on nothing', async () => {
  await allow(true);
  for (const short of ['', 'because', 'x'.repeat(501)]) expect(code(await open(undefined, short))).toBe('400 invalid-value');
  const user = tokenIn(await post('/v1/state/keystore/token/create', { policies: ['user'] }));
  expect(code(await open(user))).toBe('403 policy-denied');
  expect(code(await open(tenantRoot))).toMatch(/^40[34]/);
  const answer = await open();
  expect(answer.body).toMatchObject({ tenant: 'pay' });
  const token = tokenIn(answer);
  expect(await ask('GET', '/v1/config/keystore/transit-keys/orders', undefined, token)).toBe('200 done');
  expect(await ask('GET', '/v1/state/open-as', undefined, token)).toBe('200 done');
  const wrappingKey = '/v1/state/keystore/wrapping-key';
  expect(await ask('GET', wrappingKey, undefined, token)).toBe('404 not-found');
  const { body: made } = await appliance.request('GET', wrappingKey, undefined, { token: tenantRoot });
  expect((await appliance.request('GET', wrappingKey, undefined, { token })).body).toEqual(made);
  const refused: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/v1/state/keystore/transit-keys/orders/encrypt', { plaintext: 'aGFsbG8=' }],
    ['POST', '/v1/state/keystore/transit-keys/orders/export', { version: 'latest' }],
    ['POST', '/v1/config/keystore/transit-keys', { name: 'other' }],
    ['PATCH', '/v1/config/keystore/transit-keys/orders', { exportable: true }],
    ['DELETE', '/v1/config/keystore/transit-keys/orders'],
    ['POST', '/v1/state/keystore/token/refresh', {}],
    ['POST', '/v1/state/keystore/token/create', {}],
    ['POST', '/v1/state/open-as/allow', { allowed: false }],
    ['POST', '/v1/state/approvals/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/approve', { digest: 'a' }],
    ['POST', '/v1/config/policy/policies', { name: 'mine', 'rest-api': { rules: [] } }],
    ['POST', '/v1/state/hand-over/create', { text: 'a' }],
  ];
  for (const [method, path, body] of refused)
    expect([path, await ask(method, path, body, token)]).toEqual([path, expect.stringMatching(/^40[34] /)]);
  expect(await ask('POST', '/v1/state/policy/check', { path: '/v1/config/tenants', operation: 'read' }, token)).toBe('200 done');
});

test('the tenant sees who has it open, and why; both trails have the reason', async () => {
  const tokens = (await appliance.request('GET', '/v1/state/keystore/tokens', undefined, { token: tenantRoot })).body as object[];
  expect(tokens).toContainEqual(expect.objectContaining({ user: 'system/root', opened: { by: 'root', reason } }));
  const notices = (await appliance.request('GET', '/v1/state/notices', undefined, { token: clerk })).body as { name: string }[];
  expect(notices.map(({ name }) => name)).toContain('opened-as');
  expect((await appliance.request('GET', '/v1/state/open-as', undefined, { token: tenantRoot })).body).toMatchObject({
    openings: [{ by: 'root', reason }],
  });
  const records = trail()
    .split('\n')
    .filter((line) => line.includes('open-as') && line.includes(reason) && line.includes('"status":200'))
    .map((line) => JSON.parse(line) as { tenant: string; 'tenant-id': string });
  const tenants = Object.fromEntries(records.map((record) => [record.tenant, record['tenant-id']]));
  expect(Object.keys(tenants).sort()).toEqual(['pay', 'system']);
  expect(new Set(Object.values(tenants)).size).toBe(2);
});

test('it ends when the tenant forbids it, when the token of the opener ends, and after 15 minutes', async () => {
  const reads = (token: string): Promise<string> => ask('GET', '/v1/config/keystore/transit-keys', undefined, token);
  const byRoot = tokenIn(await open());
  expect(await reads(byRoot)).toBe('200 done');
  await allow(false);
  expect(await reads(byRoot)).toBe('401 invalid-token');
  await allow(true);
  expect(await reads(byRoot)).toBe('401 invalid-token');
  const parent = await post('/v1/state/keystore/token/create', { policies: ['root'] });
  const byChild = tokenIn(await open(tokenIn(parent)));
  expect(await reads(byChild)).toBe('200 done');
  await post('/v1/state/keystore/token/disable', { accessor: (parent.body as { accessor: string }).accessor });
  expect(await reads(byChild)).toBe('401 invalid-token');
  const brief = tokenIn(await open(tokenIn(await post('/v1/state/keystore/token/create', { policies: ['root'], ttl: '60s' }))));
  const long = tokenIn(await open());
  appliance.clock.advance(61);
  expect([await reads(brief), await reads(long)]).toEqual(['401 invalid-token', '200 done']);
  appliance.clock.advance(840);
  expect(await reads(long)).toBe('401 invalid-token');
  const left = tokenIn(await open());
  expect(await ask('POST', '/v1/logout', {}, left)).toMatch(/^20/);
  expect(await reads(left)).toBe('401 invalid-token');
});
