// What the API shows of a cluster: who is in, how far they are, and the removal of one that is lost for ever.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { acknowledgedIn } from '../../../core/audit/chains.ts';
import { parseLine } from '../../../core/audit/line.ts';
import type { RemovalOutcome } from '../../../core/cluster/entry.ts';
import type { ClusterState, ClusterWay } from '../../../appliance/cluster/cluster-way.ts';
import { batchLimits } from '../../../core/cluster/transaction.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const [path, health, metrics] = ['/v1/state/system/cluster', '/v1/state/system/health', '/v1/state/system/metrics'];
const member = { version: '0.1.0', levels: { oldest: 1, newest: 2 }, state: 'in', applied: 100, silentMs: 210.4 } as const;
const members: ClusterState['members'] = [
  { ...member, id: 'id-b', name: 'plant-b' },
  { ...member, id: 'id-a', name: 'plant-a', state: 'out', applied: 40, silentMs: 60_000 },
];
const state = { id: 'id-b', epoch: 'epoch', position: 102, isValid: true };
const asItIs = {
  isValid: true,
  isIsolated: false,
  missing: [] as string[],
  answers: true,
  members,
  outcome: 'removed' as RemovalOutcome,
};
const seen = { ...asItIs };
const asked: (readonly [id: string, evenIfAlive: boolean])[] = [];
const unused = (): never => {
  throw new Error('the store of this test is not shared');
};
const cluster: ClusterWay = {
  ...{
    appliance: 'id-b',
    batch: batchLimits,
    commit: unused,
    wrappedKeys: unused,
    replaceWrappedKeys: unused,
    bootstrap: unused,
    enter: unused,
    onForeignWrites: () => undefined,
    untilValid: unused,
    untilSettled: unused,
    settled: Number.POSITIVE_INFINITY,
    othersMs: undefined,
    members: [],
    over: undefined,
  },
  get isValid() {
    return seen.isValid;
  },
  get missing() {
    return seen.missing;
  },
  get isIsolated() {
    return seen.isIsolated;
  },
  remove: async (...which) => {
    asked.push(which);
    return seen.outcome;
  },
  state: () =>
    seen.answers ? Promise.resolve({ ...state, members: seen.members }) : Promise.reject(new Error('it is being started again')),
  servers: async ({ alone: isAlone = false } = {}) => [
    { appliance: 'id-b', url: 'https://192.0.2.11:2379', isLeader: true, isLearner: false, version: '3.6.16', bytes: 20_480 },
    ...(isAlone
      ? [{ appliance: 'id-a', url: 'https://192.0.2.10:2379', isLeader: false, isLearner: false, problem: 'it does not answer' }]
      : []),
  ],
  close: async () => undefined,
};
let alone: TestAppliance;
let one: TestAppliance;
/** of the root of another tenant */
let foreign: string;

beforeAll(async () => {
  [alone, one] = await Promise.all([
    startTestAppliance({ directory: temporary('alone') }),
    startTestAppliance({ directory: temporary('one'), cluster }),
  ]);
  await one.request('POST', '/v1/config/tenants', { name: 'foreign', policies: ['root'] });
  foreign = String((await one.request('POST', '/v1/state/keystore/token/create-root', { name: 'foreign' })).body.token);
});
afterEach(() => Object.assign(seen, asItIs));
afterAll(() => Promise.all([alone.close(), one.close()]));

test('an appliance that stands alone says so, and its health says nothing of a cluster', async () => {
  expect(await alone.request('GET', path)).toMatchObject({
    status: 200,
    body: { shape: 'alone', revision: 0, level: 1, members: [], removed: [] },
  });
  expect((await alone.request('GET', health)).body).not.toHaveProperty('cluster');
  expect((await alone.request('GET', metrics)).text).not.toMatch(/^keystored_cluster_\w+\{/m);
});

test('the members by name, which of them answers, and what each lacked', async () => {
  const { status, body } = await one.request('GET', path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ shape: 'cluster', epoch: 'epoch', revision: 102, level: 1 });
  expect(body.members).toEqual([
    expect.objectContaining({ name: 'plant-a', state: 'out', self: false, behind: 62, 'silent-milliseconds': 60_000 }),
    expect.objectContaining({
      name: 'plant-b',
      state: 'in',
      self: true,
      behind: 2,
      'silent-milliseconds': 210,
      version: '0.1.0',
      'newest-level': 2,
    }),
  ]);
});

test('one that is cut off says so, and which members it reaches', async () => {
  seen.isValid = false;
  const { status, body } = await one.request('GET', path);
  expect([status, body['cut-off'], body.revision]).toEqual([200, true, 102]);
  expect(body.warnings).toEqual([expect.stringMatching(/cut off from the majority.*reaches etcd of plant-b; it does not reach plant-a\./)]);
  const { token } = (await one.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body;
  expect(await one.request('GET', path, undefined, { token: String(token) })).toMatchObject({
    status: 503,
    body: { code: 'cluster-unavailable' },
  });
  seen.isValid = true;
  expect((await one.request('GET', path)).body).not.toHaveProperty('cut-off');
});

test('different public-urls of members are warned of; one that is out, or says none, counts for nothing', async () => {
  const withUrls = (...urls: readonly (readonly [url: string | undefined, state: 'in' | 'out'])[]): void => {
    seen.members = urls.map(([publicUrl, now], index) => ({ ...member, id: `id-${index}`, name: `plant-${index}`, state: now, publicUrl }));
  };
  const [all, own] = ['https://keys.example:4646', 'https://192.0.2.11:4646'];
  withUrls([all, 'in'], [all, 'in'], [undefined, 'in'], [own, 'out']);
  const { body } = await one.request('GET', path);
  expect(body).not.toHaveProperty('warnings');
  expect(body.members).toMatchObject([{ 'public-url': all }, { 'public-url': all }, {}, { 'public-url': own }]);
  withUrls([all, 'in'], [own, 'in'], [all, 'in']);
  expect((await one.request('GET', path)).body.warnings).toEqual([
    expect.stringContaining(`different public-urls: plant-0, plant-2 have ${all}; plant-1 has ${own}. `),
  ]);
});

test('one URL is set for all, checked, shown in place of the warning, and cleared; alone it is of the configuration', async () => {
  const set = (who: TestAppliance, url: string) => who.request('POST', `${path}/set-public-url`, { 'public-url': url });
  expect(await set(alone, 'https://keys.example')).toMatchObject({
    status: 409,
    body: { code: 'operation-refused', detail: expect.stringContaining('"public-url" in its configuration') },
  });
  for (const wrong of ['http://keys.example', 'keys.example', '']) expect((await set(one, wrong)).status, wrong).toBe(400);
  expect(await set(one, 'https://keys.example:4646/')).toMatchObject({ status: 200, body: { 'public-url': 'https://keys.example:4646' } });
  seen.members = ['https://a', 'https://b'].map((publicUrl) => ({ ...member, id: publicUrl, name: publicUrl, publicUrl }));
  const { body } = await one.request('GET', path);
  expect(body).toMatchObject({ 'public-url': 'https://keys.example:4646' });
  expect(body).not.toHaveProperty('warnings');
  expect((await one.request('POST', `${path}/clear-public-url`, {})).status).toBeLessThan(300);
  const cleared = (await one.request('GET', path)).body;
  expect(cleared).not.toHaveProperty('public-url');
  expect(cleared.warnings).toHaveLength(1);
  const { token } = (await one.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body;
  for (const [caller, status] of [
    [String(token), 403],
    [foreign, 404],
  ] as const)
    expect((await one.request('POST', `${path}/set-public-url`, { 'public-url': 'https://x' }, { token: caller })).status).toBe(status);
});

test('other tenants learn nothing of it', async () => {
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
  seen.isIsolated = true;
  expect(await one.request('GET', health)).toMatchObject({ status: 200, body: { status: 'degraded', cluster: { state: 'isolated' } } });
});

test('metrics of each member', async () => {
  const { text } = await one.request('GET', metrics);
  expect(text).toContain('keystored_cluster_member_in{appliance="plant-a"} 0');
  expect(text).toContain('keystored_cluster_member_in{appliance="plant-b"} 1');
  expect(text).toContain('keystored_cluster_member_behind_revisions{appliance="plant-a"} 62');
  expect(text).toContain('keystored_cluster_member_silent_seconds{appliance="plant-a"} 60');
});

test('the wrapping key is rotated by one of them, and each sees to its own copy of the key of the store', () => {
  const jobsOf = ({ jobs }: TestAppliance): readonly (readonly [name: string, isOfEach: true | undefined])[] =>
    jobs.flatMap(({ name, isOfEach }) => (name === 'rewrapping' || name === 'store-key-copy' ? [[name, isOfEach]] : []));
  expect(jobsOf(one)).toEqual([
    ['rewrapping', undefined],
    ['store-key-copy', true],
  ]);
  expect(jobsOf(alone)).toEqual([['rewrapping', undefined]]);
});

describe('the removal of an appliance', () => {
  const remove = `${path}/remove-member`;
  const present = [...members, { ...member, id: 'id-c', name: 'plant-c' }];
  const removal = (member: string, more: object = {}, from = one) => from.request('POST', remove, { member, ...more });

  test.each<[string, string, Partial<typeof seen>, number, string, string]>([
    ['of one that nobody knows', 'plant-x', {}, 404, 'not-found', '"plant-x"'],
    ['of the one that is asked', 'plant-b', {}, 409, 'operation-refused', 'none removes itself'],
    ['of the one that is asked, by its id', 'id-b', {}, 409, 'operation-refused', 'none removes itself'],
    ['of the last', 'plant-b', { members: [{ ...member, id: 'id-b', name: 'plant-b' }] }, 409, 'operation-refused', 'the last appliance'],
    ['of one that sends heartbeats', 'plant-c', { outcome: 'alive' }, 409, 'operation-refused', '0.2 s ago'],
    ['of one that went meanwhile', 'plant-c', { outcome: 'unknown' }, 404, 'not-found', '"plant-c"'],
  ])('%s is refused, and nothing is recorded', async (_, which, change, status, code, text) => {
    Object.assign(seen, { members: present }, change);
    expect(await removal(which)).toMatchObject({ status, body: { code, detail: expect.stringContaining(text) } });
    expect((await one.request('GET', path)).body.removed).toEqual([]);
  });

  test('is refused where there is no other, to other tenants, and to all but the root of the system', async () => {
    expect(await removal('plant-a', {}, alone)).toMatchObject({ status: 409, body: { code: 'operation-refused' } });
    expect(await one.request('POST', remove, { member: 'plant-a' }, { token: foreign })).toMatchObject({ status: 404 });
    const user = String((await one.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body.token);
    expect((await one.request('POST', remove, { member: 'plant-a' }, { token: user })).status).toBe(403);
    expect((await removal('plant-a', { 'even-if-alive': 'yes' })).status).toBe(400);
  });

  test('ends what it held, is on record with the loss of its trail, and repeated it is the same', async () => {
    const { store } = one;
    const [holder, chains, seenTime] = [store.table('job-holder'), store.table('audit-chains'), store.table('seen-time')];
    await store.write((transaction) => {
      transaction.put(holder, ['term'], { appliance: 'id-a', term: 'theirs', beats: 0 });
      transaction.put(chains, ['id-a-worker-1', 'signed'], { sequence: 7, hash: 'a'.repeat(64) });
      transaction.put(chains, ['id-b-worker-1', 'signed'], { sequence: 9, hash: 'b'.repeat(64) });
      for (const id of ['id-a', 'id-b']) transaction.put(seenTime, ['time', id], 1);
    });
    const first = await removal('plant-a');
    expect(first).toMatchObject({
      status: 200,
      body: { name: 'plant-a', id: 'id-a', 'removed-by': 'root', 'lost-chains': ['id-a-worker-1'] },
    });
    expect(asked.at(-1)).toEqual(['id-a', false]);
    store.refresh();
    expect(holder.get(['term'])).toBeUndefined();
    expect([seenTime.get(['time', 'id-a']), seenTime.get(['time', 'id-b'])]).toEqual([undefined, 1]);
    seen.members = members.map((shown) => (shown.id === 'id-a' ? { ...shown, state: 'removed' as const } : shown));
    const { body } = await one.request('GET', path);
    expect(body.members).toEqual([expect.objectContaining({ name: 'plant-b' })]);
    expect(body.removed).toEqual([{ name: 'plant-a', id: 'id-a', 'removed-by': 'root', 'removed-at': expect.stringMatching(/Z$/) }]);
    expect((await one.request('GET', metrics)).text).not.toContain('appliance="plant-a"');
    expect((await removal('id-a', { 'even-if-alive': true })).body).toEqual(first.body);
    expect(asked.at(-1)).toEqual(['id-a', true]);
    const audit = join(one.directory, 'audit');
    const lines = readdirSync(audit).flatMap((name) => readFileSync(join(audit, name), 'utf8').split('\n'));
    const losses = lines.flatMap((line) => {
      const record = parseLine(Buffer.from(line));
      return record === undefined ? [] : (acknowledgedIn(record) ?? []);
    });
    const loss = { appliance: 'id-a', chains: ['id-a-worker-1'] };
    expect(losses).toEqual([loss, loss]);
  });
});
