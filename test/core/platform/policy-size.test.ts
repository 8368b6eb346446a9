// Policies and questions about them with more names than anybody means: refused, or answered for the first of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(() => appliance.close());

const named = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field-${index}`, 'x']));
const check = (body: object) =>
  appliance.request('POST', '/v1/state/policy/check', { path: '/v1/config/tenants', operation: 'read', ...body });

test('an object of a body has 1,024 members at most, whatever it is sent to', async () => {
  for (const [method, target, body] of [
    ['POST', '/v1/state/policy/check', { path: '/v1', operation: 'read', names: named(60_000) }],
    ['POST', '/v1/config/keystore/transit-keys', { name: 'k', labels: named(1_025) }],
    ['PATCH', '/v1/config/tenants/system', named(1_025)],
  ] as const) {
    const answer = await appliance.request(method, target, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid-json', detail: expect.stringContaining('more than 1024 members') },
    });
  }
});

test('a question names 64 fields at most, on a path of 64 segments', async () => {
  expect(await check({ names: named(65) })).toMatchObject({ status: 400, body: { detail: expect.stringContaining('at most 64 fields') } });
  const long = { path: `/v1${'/a'.repeat(64)}` };
  expect(await check(long)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('at most 64 segments') } });
  expect(await check({ path: `/v1${'/a'.repeat(63)}` })).toMatchObject({ status: 200, body: { exists: false } });
});

test('a policy full of unknown fields is warned of the first hundred', async () => {
  const hidden = (rule: number) => Array.from({ length: 200 }, (_, index) => `field-${rule}-${index}`);
  const rules = Array.from({ length: 100 }, (_, rule) => ({
    path: `/v1/config/tenants/t${rule}`,
    ...{ operations: { read: 'allow' }, 'hide-fields': hidden(rule) },
  }));
  const { status, body } = await appliance.request('POST', '/v1/config/policy/policies', { name: 'full', 'rest-api': { rules } });
  expect(status).toBe(201);
  expect(body.warnings).toHaveLength(101);
  expect(body.warnings.at(-1)).toContain('first 100');
});
