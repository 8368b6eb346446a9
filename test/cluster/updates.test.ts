// npm run test:cluster: three whole appliances are updated one after the other, while callers change and use keys at whichever answers.
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layout } from '../../core/cluster/layout.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { endMember, type Member, prepareCluster, refusalOf, type Shared, startMember } from './daemons.ts';
import { authoritiesIn } from './certificates.ts';
import { makeNextVersion, migratedRecord, nextVersion } from './next-version.ts';

const path = temporaryDirectory();
const [keys, state] = ['/v1/config/keystore/transit-keys', '/v1/state/system/cluster'];
const operation = (key: string, name: string): string => `/v1/state/keystore/transit-keys/${key}/${name}`;
const names = ['a', 'b', 'c'] as const;

let shared: Shared;
let next: string;
const members = new Map<string, Member>();

type Seen = { readonly level: number; readonly members: readonly Readonly<Record<string, unknown>>[] };
const seenBy = async (name: string): Promise<Seen> => (await member(name).request('GET', state)) as Seen;

function member(name: string): Member {
  const found = members.get(name);
  if (found === undefined) throw new Error(`${name} does not run`);
  return found;
}

async function replace(name: string, program?: string): Promise<void> {
  await endMember(member(name));
  members.delete(name);
  members.set(name, await startMember(shared, name, program === undefined ? {} : { program }));
}

/** Whether the migration to the next level has run: keys of records are in clear in etcd. */
async function isMigrated(): Promise<boolean> {
  const client = authoritiesIn(path).clientWith('ours', 'appliance', shared.etcd.urls);
  try {
    const { kvs } = await client.range({ ...layout.records, keys_only: true });
    return kvs.some(({ key }) => key.includes(migratedRecord));
  } finally {
    client.close();
  }
}

beforeAll(async () => {
  next = makeNextVersion(path('next'));
  const prepared = await prepareCluster(path);
  const first = await startMember(prepared, 'a');
  shared = { ...prepared, rootToken: first.rootToken };
  members.set('a', first);
  for (const name of ['b', 'c']) members.set(name, await startMember(shared, name));
  await first.request('POST', keys, { name: 'used' });
});

afterAll(async () => {
  for (const one of members.values()) await endMember(one).catch(() => undefined);
  await shared.etcd.stop();
});

/** A caller with the addresses of all: what one does not answer is asked of the next, as keystorectl does. */
class Caller {
  readonly acknowledged: string[] = [];
  readonly opened: (string | undefined)[] = [];
  /** rounds in which no appliance did what was asked: its longest time, and what was answered */
  readonly refusals: string[] = [];
  longestMs = 0;
  #turn = 0;

  async ask(path: string, body: unknown, done: readonly number[]): Promise<unknown> {
    const begunMs = performance.now();
    const answers: string[] = [];
    for (let tried = 0; tried < 2 * names.length; tried++) {
      const one = members.get(names[this.#turn++ % names.length] ?? '');
      const answer = await one?.exchange('POST', path, body).catch(() => undefined);
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

test('three are updated one after the other: no request stays refused, nothing acknowledged is lost, and the records wait for the last one', async () => {
  const load = new AbortController();
  const callers = [0, 1, 2].map(() => new Caller());
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
      expect(await seenBy(name)).toMatchObject({ level: 1 });
      expect(await isMigrated()).toBe(false);
      await replace(name, next);
    }
    await expect.poll(async () => (await seenBy('a')).level, { timeout: 30_000 }).toBe(2);
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
  expect((await seenBy('b')).members).toMatchObject(names.map((name) => ({ name, version: nextVersion, 'newest-level': 2, state: 'in' })));
});

test('the former version is refused from then on, and says what to install', async () => {
  await endMember(member('c'));
  members.delete('c');
  expect(await refusalOf(startMember(shared, 'c'))).toContain(
    'works with records of the levels 1 to 1, and the cluster has level 2: install the version of the other appliances',
  );
});
