// npm test -- cluster: three whole appliances are updated one after the other, while callers change and use keys at whichever answers; over an
// etcd that somebody else runs, and over the members that they run themselves.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memberFiles } from '../../appliance/cluster/membership/files.ts';
import { layout } from '../../core/cluster/layout.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import type { Daemon, DaemonOptions } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { authoritiesIn } from './certificates.ts';
import { endMember, prepareCluster, refusalOf, startMember } from './daemons.ts';
import { makeNextVersion, migratedRecord, nextVersion } from './next-version.ts';
import { OwnMembers, seenBy } from './own-members.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const operation = (key: string, name: string): string => `/v1/state/keystore/transit-keys/${key}/${name}`;
const names = ['a', 'b', 'c'] as const;

type Running = { readonly daemon: Daemon; end(this: void): Promise<unknown> };
/** Three that are there, and how one is started again. */
type Cluster = {
  readonly first: readonly Running[];
  start(this: void, name: string, options?: Partial<DaemonOptions>): Promise<Running>;
  client(this: void): EtcdClient;
  stop(this: void): Promise<void>;
};

async function overForeignEtcd(): Promise<Cluster> {
  const prepared = await prepareCluster(path);
  let shared: Parameters<typeof startMember>[0] = prepared;
  const start: Cluster['start'] = async (name, options) => {
    const member = await startMember(shared, name, options);
    shared = { ...prepared, rootToken: member.rootToken };
    return { daemon: member, end: () => endMember(member) };
  };
  return {
    ...{ start, first: [await start('a'), await start('b'), await start('c')] },
    client: () => authoritiesIn(path).clientWith('ours', 'appliance', prepared.etcd.urls),
    stop: () => prepared.etcd.stop(),
  };
}

async function overOwnMembers(): Promise<Cluster> {
  const inside = (...names: string[]): string => path('own', ...names);
  const members = await OwnMembers.prepare(inside);
  const running = (daemon: Daemon): Running => ({ daemon, end: () => daemon.stop() });
  const a = await members.start('a');
  await members.found(a);
  const [b, c] = [await members.join('b', a), await members.join('c', a)];
  const urls = (await seenBy(a)).etcd.map(({ url }) => url);
  return {
    first: [a, b, c].map(running),
    start: async (name, options) => running(await members.start(name, options)),
    client() {
      const { key, certificate, authority } = memberFiles(inside('data-a')).ofRole('client');
      const tls = { ca: readFileSync(authority), certificate: readFileSync(certificate), key: readFileSync(key) };
      return new EtcdClient({ endpoints: urls, tls, nowMs: () => performance.now() });
    },
    stop: async () => undefined,
  };
}

/** A caller with the addresses of all: what one does not answer is asked of the next, as keystorectl does. */
class Caller {
  readonly #running: ReadonlyMap<string, Running>;
  readonly acknowledged: string[] = [];
  readonly opened: (string | undefined)[] = [];
  /** rounds in which no appliance did what was asked: its longest time, and what was answered */
  readonly refusals: string[] = [];
  longestMs = 0;
  #turn = 0;

  constructor(running: ReadonlyMap<string, Running>) {
    this.#running = running;
  }

  async ask(path: string, body: unknown, done: readonly number[]): Promise<unknown> {
    const begunMs = performance.now();
    const answers: string[] = [];
    for (let tried = 0; tried < 2 * names.length; tried++) {
      const one = this.#running.get(names[this.#turn++ % names.length] ?? '');
      const answer = await one?.daemon.exchange('POST', path, body).catch(() => undefined);
      if (answer !== undefined && done.includes(answer.status)) {
        this.longestMs = Math.max(this.longestMs, performance.now() - begunMs);
        return answer.body;
      }
      answers.push(answer === undefined ? 'none' : `${answer.status} ${JSON.stringify(answer.body)}`);
    }
    this.refusals.push(`${path}: ${answers.join(', ')}`);
    return undefined;
  }
}

describe.each([
  { etcd: 'an etcd that somebody else runs', make: overForeignEtcd },
  { etcd: 'etcd that the appliances run', make: overOwnMembers },
])('over $etcd', ({ make }) => {
  let cluster: Cluster;
  let next: string;
  const running = new Map<string, Running>();

  function member(name: string): Daemon {
    const found = running.get(name);
    if (found === undefined) throw new Error(`${name} does not run`);
    return found.daemon;
  }
  async function end(name: string): Promise<void> {
    const ending = running.get(name);
    running.delete(name);
    await ending?.end();
  }
  /** Whether the migration to the next level has run: keys of records are in clear in etcd. */
  async function isMigrated(): Promise<boolean> {
    const client = cluster.client();
    try {
      const { kvs } = await client.range({ ...layout.records, keys_only: true });
      return kvs.some(({ key }) => key.includes(migratedRecord));
    } finally {
      client.close();
    }
  }

  beforeAll(async () => {
    next = makeNextVersion(path(`next-of-${make.name}`));
    cluster = await make();
    cluster.first.forEach((one, index) => running.set(names[index] ?? '', one));
    await member('a').request('POST', keys, { name: 'used' });
  });
  afterAll(async () => {
    for (const name of names.toReversed()) await end(name).catch(() => undefined);
    await cluster.stop();
  });

  test('three are updated one after the other: no request stays refused, nothing acknowledged is lost, and the records wait for the last one', async () => {
    const load = new AbortController();
    const callers = [0, 1, 2].map(() => new Caller(running));
    const calling = callers.map(async (caller, index) => {
      for (let n = 0; !load.signal.aborted; n++) {
        const name = `key-${index}-${n}`;
        // Cut off by a stop, it may have been made: the next one answers that it is there.
        if ((await caller.ask(keys, { name }, [201, 409])) !== undefined) caller.acknowledged.push(name);
        const sealed = await caller.ask(operation('used', 'encrypt'), { plaintext: 'aGVsbG8=' }, [200]);
        const { ciphertext } = (sealed ?? {}) as { readonly ciphertext?: string };
        const opened = ciphertext === undefined ? undefined : await caller.ask(operation('used', 'decrypt'), { ciphertext }, [200]);
        caller.opened.push((opened as { readonly plaintext?: string } | undefined)?.plaintext);
        await setTimeout(20);
      }
    });
    try {
      for (const name of names) {
        expect(await seenBy(member(name))).toMatchObject({ level: 1 });
        expect(await isMigrated()).toBe(false);
        await end(name);
        running.set(name, await cluster.start(name, { program: next }));
      }
      await expect.poll(async () => (await seenBy(member('a'))).level, { timeout: 30_000 }).toBe(2);
      await expect.poll(isMigrated, { timeout: 60_000 }).toBe(true);
    } finally {
      load.abort();
      await Promise.all(calling);
    }
    expect(callers.flatMap(({ refusals }) => refusals)).toEqual([]);
    expect(new Set(callers.flatMap(({ opened }) => opened))).toEqual(new Set(['aGVsbG8=']));
    const made = callers.flatMap(({ acknowledged }) => acknowledged);
    console.log(
      `${made.length} keys made, the slowest request took ${Math.round(Math.max(...callers.map(({ longestMs }) => longestMs)))} ms`,
    );
    expect(made.length).toBeGreaterThan(10);
    for (const name of names) {
      for (const key of made) expect((await member(name).exchange('GET', `${keys}/${key}`)).status).toBe(200);
    }
    expect((await seenBy(member('b'))).members).toMatchObject(
      names.map((name) => ({ name, version: nextVersion, 'newest-level': 2, state: 'in' })),
    );
  });

  test('the former version is refused from then on, and says what to install', async () => {
    await end('c');
    expect(await refusalOf(cluster.start('c'))).toContain(
      'works with records of the level 1, and the cluster has level 2: install the version of the other appliances',
    );
  });
});
