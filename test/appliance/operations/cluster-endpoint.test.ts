// What the API shows of a cluster: who is in, how far they are, and what an appliance that shares its token does not do.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ClusterState, ClusterWay } from '../../../appliance/state/cluster-way.ts';
import { batchLimits } from '../../../core/cluster/transaction.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const [path, health, metrics] = ['/v1/state/system/cluster', '/v1/state/system/health', '/v1/state/system/metrics'];
const member = { version: '0.1.0', state: 'in', applied: 100, silentMs: 210.4 } as const;
const state: ClusterState = {
  ...{ id: 'id-b', epoch: 'epoch', position: 102, isValid: true },
  members: [
    { ...member, id: 'id-b', name: 'plant-b' },
    { ...member, id: 'id-a', name: 'plant-a', state: 'out', applied: 40, silentMs: 60_000 },
  ],
};
const seen = { isValid: true, missing: [] as string[], answers: true };
const unused = (): never => {
  throw new Error('the store of this test is not shared');
};
const cluster: ClusterWay = {
  ...{ appliance: 'id-b', batch: batchLimits, commit: unused, wrappedKeys: unused, found: unused, enter: unused, untilValid: unused },
  get isValid() {
    return seen.isValid;
  },
  get missing() {
    return seen.missing;
  },
  state: () => (seen.answers ? Promise.resolve(state) : Promise.reject(new Error('it is being started again'))),
  close: async () => undefined,
};
let alone: TestAppliance;
let one: TestAppliance;

beforeAll(async () => {
  [alone, one] = await Promise.all([
    startTestAppliance({ directory: temporary('alone') }),
    startTestAppliance({ directory: temporary('one'), cluster }),
  ]);
});
afterEach(() => Object.assign(seen, { isValid: true, missing: [], answers: true }));
afterAll(() => Promise.all([alone.close(), one.close()]));

test('an appliance that stands alone says so, and its health says nothing of a cluster', async () => {
  expect(await alone.request('GET', path)).toMatchObject({ status: 200, body: { shape: 'alone', revision: 0, members: [] } });
  expect((await alone.request('GET', health)).body).not.toHaveProperty('cluster');
  expect((await alone.request('GET', metrics)).text).not.toMatch(/^keystored_cluster_\w+\{/m);
});

test('the members by name, which of them answers, and what each lacked', async () => {
  const { status, body } = await one.request('GET', path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ shape: 'cluster', epoch: 'epoch', revision: 102 });
  expect(body.members).toEqual([
    expect.objectContaining({ name: 'plant-a', state: 'out', self: false, behind: 62, 'silent-milliseconds': 60_000 }),
    expect.objectContaining({ name: 'plant-b', state: 'in', self: true, behind: 2, 'silent-milliseconds': 210, version: '0.1.0' }),
  ]);
});

test('other tenants learn nothing of it', async () => {
  await one.request('POST', '/v1/config/tenants', { name: 'foreign', policies: ['root'] });
  const foreign = String((await one.request('POST', '/v1/state/keystore/token/create-root', { name: 'foreign' })).body.token);
  expect(await one.request('GET', path, undefined, { token: foreign })).toMatchObject({ status: 404 });
});

test('while its follower starts again, it says that it does not know', async () => {
  seen.answers = false;
  expect(await one.request('GET', path)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'cluster-unavailable' },
  });
  expect((await one.request('GET', metrics)).status).toBe(200);
});

test('health: who is cut off is down, who misses others is degraded, and nobody is named', async () => {
  expect((await one.request('GET', health)).body).toMatchObject({ status: 'ok', cluster: { state: 'up' } });
  seen.missing = ['plant-a'];
  const degraded = await one.request('GET', health);
  expect(degraded).toMatchObject({ status: 200, body: { status: 'degraded', cluster: { state: 'incomplete' } } });
  expect(degraded.text).not.toContain('plant-a');
  seen.isValid = false;
  expect(await one.request('GET', health)).toMatchObject({ status: 503, body: { status: 'down', cluster: { state: 'cut-off' } } });
});

test('metrics of each member', async () => {
  const { text } = await one.request('GET', metrics);
  expect(text).toContain('keystored_cluster_member_in{appliance="plant-a"} 0');
  expect(text).toContain('keystored_cluster_member_in{appliance="plant-b"} 1');
  expect(text).toContain('keystored_cluster_member_behind_revisions{appliance="plant-a"} 62');
  expect(text).toContain('keystored_cluster_member_silent_seconds{appliance="plant-a"} 60');
});

test('the wrapping key is not rotated, because the others keep the key of the store under it', async () => {
  const rotate = '/v1/state/system/rotate-wrapping-key';
  expect(await one.request('POST', rotate, {})).toMatchObject({ status: 409, body: { code: 'operation-refused' } });
  expect(one.jobs.map(({ name }) => name)).not.toContain('rewrapping');
  expect(alone.jobs.map(({ name }) => name)).toContain('rewrapping');
});
