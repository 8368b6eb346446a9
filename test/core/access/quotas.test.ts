// Quotas of tenants: who has used up what is refused until some of it has come back, the others are served, and the administrator sees it all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Meter } from '../../../core/access/meter.ts';
import { Quotas, type TenantUse } from '../../../core/access/quotas.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { SharedUse } from '../../../appliance/monitoring/metrics/tenant-use.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let shop: string;
let neighbour: string;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  [shop, neighbour] = [await makeTenant('shop'), await makeTenant('neighbour')];
});

afterAll(() => appliance.close());

describe('a quota of requests', () => {
  test('holds for a minute, in which some come back evenly; others are served meanwhile', async () => {
    await setQuota('shop', { 'requests-per-minute': 30 });
    for (let count = 0; count < 30; count++) expect((await read(shop)).status).toBe(200);
    const refused = await read(shop);
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota-exceeded' } });
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body.detail).toContain('30 requests in a minute');
    expect((await read(neighbour)).status).toBe(200);
    expect((await read(undefined)).status).toBe(200);
    appliance.clock.advance(4);
    expect((await read(shop)).status).toBe(200);
    expect((await read(shop)).status).toBe(200);
    expect((await read(shop)).status).toBe(429);
  });

  test('refused requests, and what is not the tenant’s, use nothing of it', async () => {
    appliance.clock.advance(60);
    for (let count = 0; count < 40; count++) {
      expect((await appliance.request('GET', '/v1/config/tenants', undefined, { token: shop })).status).toBe(403);
      expect((await appliance.request('GET', '/v1/config/keystore/transit-keys', undefined, { token: 'wrong' })).status).toBe(401);
    }
    for (let count = 0; count < 30; count++) expect((await read(shop)).status).toBe(200);
    for (let count = 0; count < 40; count++) expect((await read(shop)).status).toBe(429);
    appliance.clock.advance(60);
    for (let count = 0; count < 30; count++) expect((await read(shop)).status).toBe(200);
  });

  test('counts a request with a large body, which is judged before it and after it, once', async () => {
    const key = { name: 'sealer' };
    const create = () => appliance.request('POST', '/v1/config/keystore/transit-keys', key, { token: neighbour });
    expect((await create()).status).toBe(201);
    await setQuota('neighbour', { 'requests-per-minute': 4 });
    const body = { plaintext: 'A'.repeat(400_000) };
    const encrypt = () => appliance.request('POST', '/v1/state/keystore/transit-keys/sealer/encrypt', body, { token: neighbour });
    for (let count = 0; count < 4; count++) expect((await encrypt()).status).toBe(200);
    expect((await encrypt()).status).toBe(429);
    await setQuota('neighbour', { 'requests-per-minute': 0 });
  });

  test('is lifted at once', async () => {
    expect((await read(shop)).status).toBe(429);
    await setQuota('shop', { 'requests-per-minute': 0 });
    for (let count = 0; count < 40; count++) expect((await read(shop)).status).toBe(200);
  });
});

test('a quota of time of the token: what was used above it is owed, and comes back in time', async () => {
  const key = { name: 'signer', cipher: 'rsa-2048' };
  expect((await appliance.request('POST', '/v1/config/keystore/transit-keys', key, { token: shop })).status).toBe(201);
  await setQuota('shop', { 'token-seconds-per-minute': 1 });
  const batch = { 'batch-input': Array.from({ length: 1_000 }, () => ({ text: 'AAAA' })) };
  const sign = () => appliance.request('POST', '/v1/state/keystore/transit-keys/signer/sign-batch', batch, { token: shop });
  let count = 0;
  while (count < 20 && (await sign()).status === 200) count++;
  expect(count).toBeGreaterThan(0);
  const refused = await sign();
  expect(refused).toMatchObject({ status: 429, body: { code: 'quota-exceeded' } });
  expect(refused.body.detail).toContain('1 seconds of the HSM in a minute');
  // Another request of the tenant is refused as well: nobody knows before what one takes.
  expect((await read(shop)).status).toBe(429);
  expect((await read(neighbour)).status).toBe(200);
  appliance.clock.advance(Number(refused.headers['retry-after']) + 1);
  expect((await read(shop)).status).toBe(200);
  await setQuota('shop', { 'token-seconds-per-minute': 0 });
});

test('the tenant system has none, since nobody could lift it', async () => {
  for (const quota of [{ 'requests-per-minute': 1 }, { 'token-seconds-per-minute': 1 }]) {
    const refused = await appliance.request('PATCH', '/v1/config/tenants/system', quota);
    expect(refused).toMatchObject({ status: 409, body: { code: 'built-in' } });
  }
});

test('a quota is changed by who may change the policies of a tenant', async () => {
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] });
  const change = (fields: object) => appliance.request('PATCH', '/v1/config/tenants/shop', fields, { token: String(body.token) });
  expect((await change({ 'descriptive-name': 'Shop' })).status).toBe(204);
  for (const field of ['requests-per-minute', 'token-seconds-per-minute']) {
    const refused = await change({ [field]: 1_000_000 });
    expect(refused).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
    expect(refused.body.detail).toContain(`To change "${field}"`);
  }
});

test('what each tenant has used and was refused is in the metrics, and the quotas in the tenant', async () => {
  await setQuota('shop', { 'requests-per-minute': 1_000, 'token-seconds-per-minute': 7 });
  const { body } = await appliance.request('GET', '/v1/config/tenants/shop');
  expect(body).toMatchObject({ 'requests-per-minute': 1_000, 'token-seconds-per-minute': 7 });
  expect((await appliance.request('GET', '/v1/config/tenants/neighbour')).body).toMatchObject({
    'requests-per-minute': 0,
    'token-seconds-per-minute': 0,
  });
  const text = String((await appliance.request('GET', '/v1/state/system/metrics')).body);
  const value = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  expect(value('keystored_tenant_requests_total{tenant="shop"}')).toBeGreaterThan(90);
  expect(value('keystored_tenant_token_seconds_total{tenant="shop"}')).toBeGreaterThan(1);
  expect(value('keystored_tenant_refusals_total{tenant="shop",quota="requests"}')).toBeGreaterThan(40);
  expect(value('keystored_tenant_refusals_total{tenant="shop",quota="token-time"}')).toBeGreaterThan(1);
  expect(value('keystored_tenant_refusals_total{tenant="neighbour",quota="requests"}')).toBe(1);
});

describe('several workers', () => {
  test('have one quota together, as soon as they have heard of each other', async () => {
    await setQuota('shop', { 'requests-per-minute': 100, 'token-seconds-per-minute': 0 });
    const tenantId = String((await appliance.request('GET', '/v1/state/tenants/shop')).body.uuid);
    const workers = [new FakeWorker(1), new FakeWorker(2), new FakeWorker(3)];
    const shared = new SharedUse();
    const exchange = (): void => {
      for (const worker of workers)
        worker.quotas.hear(new Map(Object.entries(shared.exchange(worker, Object.fromEntries(worker.quotas.own())))));
    };
    exchange();
    let admitted = 0;
    // Ten requests between two exchanges: the three of them are ahead of each other by so many at most.
    for (let round = 0; round < 20; round++) {
      for (const worker of workers) for (let count = 0; count < 10; count++) if (worker.admits(tenantId)) admitted++;
      exchange();
      exchange();
    }
    expect(admitted).toBeGreaterThanOrEqual(100);
    expect(admitted).toBeLessThanOrEqual(120);
  });

  test('one that is new owes nothing of what was used before, and one that ended stays counted', async () => {
    const tenantId = String((await appliance.request('GET', '/v1/state/tenants/shop')).body.uuid);
    const shared = new SharedUse();
    const [first, second] = [new FakeWorker(1), new FakeWorker(2)];
    shared.exchange(second, {});
    const use = (requests: number): Record<string, TenantUse> => ({ [tenantId]: { requests, tokenMicros: 0 } });
    shared.exchange(first, use(5_000));
    first.end();
    const heard = shared.exchange(second, use(1));
    expect(heard).toEqual(use(5_000));
    second.quotas.hear(new Map(Object.entries(heard)));
    expect(second.admits(tenantId)).toBe(true);
    expect(shared.exchange(second, use(2))).toEqual(use(5_000));
  });
});

test('a meter saves up no more than a minute, and tells how long what is owed takes', () => {
  const meter = new Meter(60, 1_000, 0);
  expect(meter.waitSeconds(60, 1_059, 0)).toBe(0);
  expect(meter.waitSeconds(60, 1_060, 0)).toBe(1);
  expect(meter.waitSeconds(60, 1_090, 0)).toBe(30);
  expect(meter.waitSeconds(60, 1_090, 31_000)).toBe(0);
  expect(meter.waitSeconds(60, 1_149, 10_000_000)).toBe(0);
  expect(meter.waitSeconds(60, 1_150, 10_000_000)).toBe(1);
});

/** What the supervisor sees of a worker, and its quotas. */
class FakeWorker {
  readonly id: number;
  readonly quotas = new Quotas({ store: appliance.store, hsm: { timeOf: () => 0 }, clock: appliance.clock });
  #ended: () => void = () => undefined;

  constructor(id: number) {
    this.id = id;
  }

  once(_event: string, ended: () => void): this {
    this.#ended = ended;
    return this;
  }

  end(): void {
    this.#ended();
  }

  admits(tenantId: string): boolean {
    try {
      this.quotas.admit(tenantId);
      return true;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }
}

async function makeTenant(name: string): Promise<string> {
  expect((await appliance.request('POST', '/v1/config/tenants', { name })).status).toBe(201);
  return String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body.token);
}

async function setQuota(name: string, fields: object): Promise<void> {
  expect((await appliance.request('PATCH', `/v1/config/tenants/${name}`, fields)).status).toBe(204);
}

function read(token: string | undefined) {
  return appliance.request('GET', '/v1/config/keystore/transit-keys', undefined, token === undefined ? {} : { token });
}
