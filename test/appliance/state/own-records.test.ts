// What belongs to one appliance keeps to it in a shared store, and what there is once for all is there once.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findRunning, takeLease } from '../../../appliance/backup/run/lease.ts';
import { watchClock } from '../../../appliance/machine/clock-watch.ts';
import { bootstrapJob, offerBootstrap } from '../../../appliance/provisioning/bootstrap.ts';
import { tableKinds } from '../../../appliance/table-kinds.ts';
import { dropOwnRecords } from '../../../core/store/records/table-kinds.ts';
import { findSecretId, issueSecretId, useSecretId } from '../../../core/access/approles/secret-ids.ts';
import { createSystemTenant } from '../../../core/access/system-tenant.ts';
import { Secret } from '../../../core/base/secret.ts';
import { TestClock } from '../../harness/clock.ts';
import { openStore } from '../../../core/store/open.ts';
import { standAlone } from '../../../core/store/replica.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const hsm = { random: async (octets: number) => randomBytes(octets) } as unknown as Hsm;
let cluster: ModelCluster;
let first: ModelAppliance;
let second: ModelAppliance;
let third: ModelAppliance;

beforeAll(async () => {
  cluster = new ModelCluster();
  [first, second, third] = [
    await cluster.join('first', temporary('first')),
    await cluster.join('second', temporary('second')),
    await cluster.join('third', temporary('third')),
  ];
});
afterAll(() => cluster.close());

const runtimeOf = ({ store }: ModelAppliance) => ({ hsm, store, close: async () => undefined });
const refreshAll = (): void => [first, second, third].forEach(({ store }) => store.refresh());

test('of appliances that start at once on a new store, one has the root token', async () => {
  const made = await Promise.all([first, second, third].map(({ store }) => createSystemTenant(store, hsm, new TestClock())));
  expect(made.filter((one) => one !== undefined)).toHaveLength(1);
});

test('a secret-id of ten uses is used ten times by all appliances together', async () => {
  const clock = new TestClock();
  const secretId = new Secret('a secret-id');
  const grant = { tenantId: 't', approle: 'a', approleId: 'i', boundCidrs: [], ttlSeconds: undefined, numUses: 10 };
  await first.store.write((transaction) => issueSecretId(transaction, first.store, clock.now(), secretId, grant));
  const login = ({ store }: ModelAppliance): Promise<boolean> =>
    store.write((transaction) => {
      const record = findSecretId((table, key) => transaction.get(table, key), store, clock.now(), 'a secret-id', '127.0.0.1');
      if (record !== undefined) useSecretId(transaction, store, record);
      return record !== undefined;
    });
  const logins = await Promise.all([first, second, third].flatMap((appliance) => Array.from({ length: 8 }, () => login(appliance))));
  expect(logins.filter(Boolean)).toHaveLength(10);
});

test('one credential for the first login: a second appliance offers none while there is one', async () => {
  const unclaimed = new ModelCluster();
  const [one, two] = [await unclaimed.join('one', temporary('one')), await unclaimed.join('two', temporary('two'))];
  try {
    mkdirSync(temporary('files'), { recursive: true });
    const [mine, other] = [temporary('files/one'), temporary('files/two')];
    const clock = new TestClock();
    expect(await offerBootstrap(runtimeOf(one), clock, mine)).toBe(true);
    const credential = readFileSync(mine, 'utf8');
    two.store.refresh();
    expect(await offerBootstrap(runtimeOf(two), clock, other)).toBe(false);
    expect(existsSync(other)).toBe(false);
    one.store.refresh();
    await bootstrapJob(one.store, clock, mine).run(new AbortController().signal);
    expect(readFileSync(mine, 'utf8')).toBe(credential);
    // When it has expired, the appliance that starts next has the next one, and the former file goes.
    clock.advance(86_401);
    expect(await offerBootstrap(runtimeOf(two), clock, other)).toBe(true);
    one.store.refresh();
    await bootstrapJob(one.store, clock, mine).run(new AbortController().signal);
    expect([existsSync(mine), existsSync(other)]).toEqual([false, true]);
  } finally {
    await unclaimed.close();
  }
});

test('a clock that is ahead does not hold up the other appliances', async () => {
  const [right, ahead] = [new TestClock('2026-01-01T00:00:00Z'), new TestClock('2027-01-01T00:00:00Z')];
  const earliest = Temporal.Instant.from('2025-01-01T00:00:00Z');
  const doubtOf = async ({ store }: ModelAppliance, clock: TestClock): Promise<string | undefined> => {
    store.refresh();
    const watch = watchClock(store, clock, { earliest });
    await watch.job.run(new AbortController().signal);
    watch.stop();
    return watch.clock.doubt;
  };
  expect(await doubtOf(first, ahead)).toBeUndefined();
  expect(await doubtOf(second, right)).toBeUndefined();
  // Its own clock, set back, is doubted.
  expect(await doubtOf(first, right)).toMatch('the clock says 2026-01-01');
});

test('one backup at a time in the whole cluster, and one of another machine is not judged by process numbers of this one', async () => {
  const clock = new TestClock();
  const lease = await takeLease(first.store, clock, 'now');
  refreshAll();
  await second.store.write((transaction) => {
    const table = second.store.table<{ pid: number }>('backup-running');
    // No process of this machine has it.
    transaction.put(table, ['running'], { ...(transaction.get(table, ['running']) as { pid: number }), pid: 2 ** 22 + 1 });
  });
  refreshAll();
  await expect(takeLease(second.store, clock, 'request')).rejects.toMatchObject({ code: 'backup-running' });
  expect(findRunning(third.store, clock)).toBeDefined();
  // Its own are judged so: that process is gone.
  expect(findRunning(first.store, clock)).toBeUndefined();
  await lease.end();
});

test('the copy of one replica is a whole appliance: it opens alone, without what the others had for themselves', async () => {
  const copy = temporary('copy');
  await second.store.write((transaction) => transaction.put(second.store.table<string>('tenants'), ['kept'], 'kept'));
  await third.store.backup(copy);
  // As a restore does.
  await standAlone(copy);
  const alone = await openStore({ directory: copy, dataKey: new Secret(new Uint8Array(32).fill(1)) });
  try {
    expect(alone.appliance).toBeUndefined();
    expect([...alone.check()]).toEqual([]);
    alone.refresh();
    expect(alone.table('tenants').get(['kept'])).toBe('kept');
    expect([...alone.table('seen-time').keys([])]).toEqual([
      ['machine', 'first'],
      ['machine', 'second'],
    ]);
    await alone.write((transaction) => transaction.put(alone.table<number>('tenants'), ['more'], 1));
    await dropOwnRecords(alone, tableKinds);
    alone.refresh();
    expect([...alone.table('seen-time').keys([])]).toEqual([]);
    expect(alone.table('tenants').count([])).toBeGreaterThan(2);
  } finally {
    await alone.close();
  }
});
