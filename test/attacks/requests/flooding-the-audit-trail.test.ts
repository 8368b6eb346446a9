// Audit logs that unauthenticated callers can fill (vault#18943, #3725, vault-k8s-operator#1040): a full disk stops the service, rotation deletes old records.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
let isClosed = false;
let fenced: string;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('appliance'), unauthenticatedLimit: { burst: 100, perMinute: 0 } });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['rewrap-only'] });
  fenced = String(made.body.token);
});
afterAll(async () => {
  if (!isClosed) await appliance.close();
});

function records(): Record<string, unknown>[] {
  const files = readdirSync(at('appliance', 'audit')).filter((name) => name.endsWith('.jsonl'));
  const lines = files.flatMap((name) => readFileSync(at('appliance', 'audit', name), 'utf8').split('\n'));
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** So many requests, a few at a time. */
async function flood(times: number, request: (n: number) => Promise<{ readonly status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < times; n = next++) statuses.push((await request(n)).status);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return statuses;
}

test('unauthenticated requests cannot fill the disk: a burst of records, the rest is counted, all are refused', async () => {
  const targets: readonly (readonly [string, string, unknown, string | undefined])[] = [
    ['POST', '/v1/state/keystore/transit-keys/k/encrypt', { plaintext: '' }, undefined],
    ['GET', '/v1/config/tenants', undefined, 'rubbish'],
    ['POST', '/v1/approle-login', { 'role-id': 'nobody', 'secret-id': 'x' }, undefined],
    ['POST', '/v1/approle-login', 'no JSON', undefined],
    ['GET', '/v1/nothing', undefined, undefined],
    ['DELETE', '/v1/approle-login', undefined, undefined],
  ];
  const statuses = await flood(180, (n) => {
    const [method, path, body, token] = targets[n % targets.length] as (typeof targets)[number];
    return appliance.request(method, path, body, { token });
  });
  expect(statuses.every((status) => status >= 400 && status < 500)).toBe(true);
  expect(records().filter((one) => one['accessor'] === undefined && one['kind'] !== 'trail')).toHaveLength(100);
});

test('while they do, nothing a known caller does goes unrecorded, paths and methods that do not exist among it', async () => {
  const before = records().length;
  const tries = [
    ['GET', '/v1/config/tenants', '/v1/config/tenants', 403, 'policy-denied'],
    ['GET', '/v1/config/tenants/a/secret-looking-rest', '/v1/config/tenants/…', 404, 'not-found'],
    ['DELETE', '/v1/config/tenants', '/v1/config/tenants', 405, 'method-not-allowed'],
    ['GET', '/nowhere', '/…', 404, 'not-found'],
  ] as const;
  await flood(40, async (n) => {
    const [method, path] = tries[n % tries.length] as (typeof tries)[number];
    return appliance.request(method, path, undefined, { token: fenced });
  });
  const found = records().slice(before);
  expect(found).toHaveLength(40);
  for (const [method, , path, status, code] of tries) {
    const of = found.filter((one) => one['method'] === method && one['path'] === path && one['code'] === code);
    expect([path, of.length]).toEqual([path, 10]);
    expect(of[0]).toMatchObject({ status, tenant: 'system', user: 'root', accessor: expect.any(String), 'client-ip': '127.0.0.1' });
  }
});

test('at the latest when the appliance stops, the trail says how many there were', async () => {
  isClosed = true;
  await appliance.close();
  const count = records().find((one) => one['code'] === 'strangers-counted');
  const counted = Object.values(count?.['request-parameters'] ?? {}).reduce((sum: number, one) => sum + Number(one), 0);
  // Paths and methods that no endpoint has are not even counted.
  expect([count?.['kind'], counted]).toEqual(['system', 120 - 100]);
});
