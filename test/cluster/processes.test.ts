// npm test -- cluster: the follower as a process of its own, which is killed and stopped beside those that serve.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { type FollowerProcess, keepFollower } from '../../appliance/cluster/replication/follower-process.ts';
import { FollowerLink } from '../../appliance/cluster/replication/link.ts';
import { type FollowerOrders, followerRequests, linkRequests } from '../../appliance/cluster/replication/messages.ts';
import { socketPort } from '../../appliance/cluster/replication/socket-port.ts';
import { openChannel } from '../../appliance/processes/channel.ts';
import { awaitWrappedKeys } from '../../appliance/runtime.ts';
import { defined } from '../../core/base/defined.ts';
import { Secret } from '../../core/base/secret.ts';
import { batchLimits } from '../../core/cluster/transaction.ts';
import { machineMoment } from '../../core/cluster/validity.ts';
import { type OpenStore, openStore } from '../../core/store/open.ts';
import type { Table } from '../../core/store/store.ts';
import { endWithTests } from '../harness/children.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { securedIn } from './certificates.ts';
import { type EtcdMember, maxOperations, startEtcd } from './etcd.ts';

const temporary = temporaryDirectory();
const require = createRequire(import.meta.url);
const dataKey = new Secret(new Uint8Array(32).fill(1));
let closing: (() => unknown)[] = [];
let runs = 0;

afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

/** A process that serves, as far as its store goes. */
type Serving = {
  readonly link: FollowerLink;
  readonly store: OpenStore;
  readonly table: Table<number>;
  add(this: void, key?: string): Promise<number>;
};
type Appliance = {
  readonly follower: FollowerProcess;
  readonly socket: string;
  readonly directory: string;
  serve(this: void, caller?: number): Promise<Serving>;
};

async function startAppliance(
  name: string,
  urls: readonly string[],
  limits = { operations: maxOperations, bytes: 1_400_000 },
  tlsOf: () => FollowerOrders['tls'] = () => undefined,
): Promise<Appliance> {
  const root = (part: string): string => temporary(`${part}-${name}-${runs}`);
  const directory = root('store');
  const logs = { directory: root('logs'), level: 'info', maxFileBytes: 1 << 20, retainFiles: 2 } as const;
  const orders = {
    socket: root('socket'),
    directory,
    id: name,
    name,
    version: '1',
    run: 'r',
    publicUrl: '',
    endpoints: [...urls],
    limits,
    logs,
  };
  const follower = await keepFollower(() => ({ ...orders, ...defined({ tls: tlsOf() }) }), 100);
  closing.push(() => follower.stop());
  const newLink = (caller = 0): FollowerLink => {
    const link = new FollowerLink({ appliance: name, caller, socket: root('socket'), moment: machineMoment, report: () => undefined });
    closing.push(() => link.close());
    return link;
  };
  if (name === 'first') {
    await (await openStore({ directory, dataKey })).close();
    await newLink().bootstrap(Buffer.from('keys'));
  }
  return {
    ...{ follower, socket: root('socket'), directory },
    async serve(caller = 1) {
      const link = newLink(caller);
      await link.enter();
      await vi.waitUntil(() => link.isValid, { timeout: 20_000 });
      const store = await openStore({ directory, dataKey, shared: link });
      closing.push(() => store.close());
      const table = store.table<number>('things');
      return {
        ...{ link, store, table },
        add: (key = 'count') =>
          store.write((tx) => {
            const next = (tx.get(table, [key]) ?? 0) + 1;
            tx.put(table, [key], next);
            return next;
          }),
      };
    },
  };
}

async function startThree(): Promise<Appliance[]> {
  runs++;
  const etcd = await startEtcd(3);
  closing.push(() => etcd.stop());
  const appliances: Appliance[] = [];
  for (const name of ['first', 'second', 'third']) appliances.push(await startAppliance(name, etcd.urls));
  return appliances;
}

test('kill -9 of the follower: what it had sent counts once, because its successor knows what became of it', async () => {
  const [first, second] = (await startThree()) as [Appliance, Appliance];
  const serving = [await first.serve(), await second.serve()];
  const load = new AbortController();
  const acknowledged: number[] = [];
  const errors: unknown[] = [];
  let ofFirst = 0;
  const adding = serving.flatMap(({ add }, index) =>
    [1, 2, 3].map(async () => {
      while (!load.signal.aborted) {
        try {
          acknowledged.push(await add());
          if (index === 0) ofFirst++;
        } catch (error) {
          errors.push(error);
        }
      }
    }),
  );
  const kills = 5;
  for (let kill = 0; kill < kills; kill++) {
    // A caller of the one that is killed was answered since: its follower serves again.
    const before = ofFirst;
    await vi.waitUntil(() => ofFirst > before + 2, { timeout: 60_000 });
    await setTimeout(Math.random() * 20);
    const { pid } = first.follower;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => first.follower.pid !== undefined && first.follower.pid !== pid, { timeout: 30_000 });
  }
  load.abort();
  await Promise.all(adding);
  // A machine under load may take longer to start a follower than a caller waits; then it is told that it may have happened.
  expect(errors.filter((error) => (error as { readonly code?: string }).code !== 'cluster-unavailable')).toEqual([]);
  const last = ((await serving[1]?.add()) ?? 0) - 1;
  console.log(`${kills} kills, ${acknowledged.length} acknowledged, ${errors.length} unknown, counted ${last}`);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(last).toBeGreaterThanOrEqual(acknowledged.length);
  expect(last).toBeLessThanOrEqual(acknowledged.length + errors.length);
});

test('kill -9 of the follower: a change that it waited for with others of its appliance counts once', async () => {
  const [first, second, third] = (await startThree()) as [Appliance, Appliance, Appliance];
  const serving = [await first.serve(1), await first.serve(2), await first.serve(3)];
  await second.serve();
  const silent = await third.serve();
  const { pid: silentPid = 0 } = third.follower;
  process.kill(silentPid, 'SIGSTOP');
  // Committed one after another, so that each could take the place of the one before; none is answered while the third is waited for.
  const adding: Promise<number>[] = [];
  for (const [index, { add, store, table }] of serving.entries()) {
    adding.push(add(`count-${index}`));
    await vi.waitUntil(() => (store.refresh(), table.get([`count-${index}`]) === 1));
  }
  const { pid = 0 } = first.follower;
  process.kill(pid, 'SIGKILL');
  expect(await Promise.all(adding)).toEqual([1, 1, 1]);
  process.kill(silentPid, 'SIGCONT');
  await vi.waitUntil(() => silent.link.isValid, { timeout: 30_000 });
  silent.store.refresh();
  expect(serving.map((_, index) => silent.table.get([`count-${index}`]))).toEqual([1, 1, 1]);
});

test('a change that is asked for again before there is an answer counts once', async () => {
  const [first, second, third] = (await startThree()) as [Appliance, Appliance, Appliance];
  await first.serve();
  await Promise.all([second.serve(), third.serve()]);
  const socket = createConnection(first.socket);
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  const handlers = { over: () => undefined, state: () => undefined, foreignWrites: () => false };
  const report = (): void => undefined;
  const channel = openChannel({ port: socketPort(socket), asks: followerRequests, serves: linkRequests, handlers, report });
  const { pid = 0 } = third.follower;
  const store = await openStore({
    directory: first.directory,
    dataKey,
    shared: {
      ...{ appliance: 'first', batch: batchLimits, settled: 0, untilSettled: async () => undefined },
      async commit(intent) {
        process.kill(pid, 'SIGSTOP');
        const asked = { caller: 7, name: randomUUID(), intent };
        const [one, two] = await Promise.all([channel.request('commit', asked), channel.request('commit', asked)]);
        process.kill(pid, 'SIGCONT');
        expect([one, two]).toEqual([{ outcome: 'committed' }, { outcome: 'committed' }]);
        return 'committed';
      },
    },
  });
  closing.push(() => store.close());
  const table = store.table<number>('things');
  await store.write((tx) => tx.put(table, ['count'], (tx.get(table, ['count']) ?? 0) + 1));
  store.refresh();
  expect(table.get(['count'])).toBe(1);
});

test('an appliance that does not follow any more says so when none of its processes may answer', async () => {
  const [first, second, third] = (await startThree()) as [Appliance, Appliance, Appliance];
  const one = await first.serve();
  await second.serve();
  const { link } = await third.serve();
  // Nothing is applied while somebody else writes to its replica; its heartbeats go on.
  const writing = spawn(process.execPath, ['-e', holdLock, require.resolve('lmdb'), third.directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithTests(writing);
  await once(writing.stdout, 'data');
  await one.add();
  expect(link.isValid).toBe(false);
  writing.kill('SIGKILL');
  await vi.waitUntil(() => link.isValid, { timeout: 30_000 });
});

/** Writes to the LMDB of a directory, without an end. */
const holdLock = `
  const { open } = require(process.argv[1]);
  open({ path: process.argv[2], noSubdir: false }).transactionSync(() => {
    require('node:fs').writeSync(1, 'writing');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

test('a follower that is stopped takes the validity of its appliance with it, and a revocation does not wait for ever', async () => {
  const [first, second, third] = (await startThree()) as [Appliance, Appliance, Appliance];
  const [one, , three] = [await first.serve(), await second.serve(), await third.serve()];
  const { pid = 0 } = third.follower;
  process.kill(pid, 'SIGSTOP');
  await one.add();
  expect(three.link.isValid).toBe(false);
  three.store.refresh();
  expect(three.table.get(['count'])).toBeUndefined();
  process.kill(pid, 'SIGCONT');
  await vi.waitUntil(() => three.link.isValid, { timeout: 30_000 });
  three.store.refresh();
  expect(three.table.get(['count'])).toBe(1);
  expect((await three.link.state()).members.map(({ name, state }) => [name, state])).toEqual([
    ['first', 'in'],
    ['second', 'in'],
    ['third', 'in'],
  ]);
});

test('a start goes on when etcd answers again; until then others are told that it does not', async () => {
  runs++;
  const etcd = await startEtcd(1);
  closing.push(() => etcd.stop());
  const [member] = etcd.members as [EtcdMember];
  const { link } = await (await startAppliance('first', etcd.urls)).serve();
  await member.signal('SIGSTOP');
  await expect(link.wrappedKeys()).rejects.toMatchObject({ code: 'cluster-unavailable' });
  const awaited = awaitWrappedKeys(link);
  await setTimeout(1_000);
  await member.signal('SIGCONT');
  expect(Buffer.from((await awaited) ?? []).toString()).toBe('keys');
});

test('an appliance with records of its own, and one whose etcd takes too few operations, are refused at start', async () => {
  const etcd = await startEtcd(1, { flags: ['--max-txn-ops=64'] });
  closing.push(() => etcd.stop());
  runs++;
  await expect(startAppliance('first', etcd.urls)).rejects.toThrow(`start all its members with --max-txn-ops=${maxOperations}`);
  runs++;
  await startAppliance('first', etcd.urls, { operations: 64, bytes: 1_400_000 });
  runs++;
  // Another one that has stood alone.
  const alone = await openStore({ directory: temporary(`store-first-${runs}`), dataKey });
  await alone.write((tx) => tx.put(alone.table<number>('things'), ['own'], 1));
  await alone.close();
  await expect(startAppliance('first', etcd.urls, { operations: 64, bytes: 1_400_000 })).rejects.toThrow('records of its own');
});

test('a renewed certificate is used without a new start, and one that etcd does not take is not', async () => {
  const secure = securedIn(temporary);
  secure.makeAuthority('others');
  secure.issue('intruder', 'others');
  secure.issue('renewed', 'ours');
  const etcd = await startEtcd(1, { secure });
  closing.push(() => etcd.stop());
  runs++;
  let identity = 'appliance';
  const text = (name: string): string => readFileSync(temporary(name), 'utf8');
  const tlsOf = () => ({ ca: text('ours.pem'), certificate: text(`${identity}.pem`), key: text(`${identity}-key.pem`) });
  const { follower, serve } = await startAppliance('first', etcd.urls, undefined, tlsOf);
  const { add, link } = await serve();
  const { pid } = follower;
  const logs = temporary(`logs-first-${runs}`);
  const isUsed = (): boolean =>
    existsSync(logs) && readdirSync(logs).some((name) => readFileSync(join(logs, name), 'utf8').includes('the renewed certificate'));
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  identity = 'intruder';
  await vi.waitUntil(() => said.mock.calls.some(([line]) => String(line).includes('is not used yet')), { timeout: 60_000 });
  expect([isUsed(), link.isValid]).toEqual([false, true]);
  identity = 'renewed';
  await vi.waitUntil(isUsed, { timeout: 20_000 });
  await vi.waitUntil(() => link.isValid, { timeout: 20_000 });
  expect(await add()).toBe(1);
  expect(follower.pid).toBe(pid);
});

test('a change takes as many operations as etcd does; a larger one is refused, and told what helps', async () => {
  const etcd = await startEtcd(1);
  closing.push(() => etcd.stop());
  runs++;
  const { serve } = await startAppliance('first', etcd.urls, { operations: 128, bytes: 1_400_000 });
  const { store, table } = await serve();
  const put = (count: number): Promise<void> =>
    store.write((tx) => {
      for (let n = 0; n < count; n++) tx.put(table, [`of-${count}`, n], n);
    });
  await put(400);
  await expect(put(600)).rejects.toMatchObject({ code: 'cluster-unavailable', message: expect.stringContaining('--max-txn-ops=') });
  store.refresh();
  expect([table.count(['of-400']), table.count(['of-600'])]).toEqual([400, 0]);
});
