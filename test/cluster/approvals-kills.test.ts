// npm test -- cluster: five people ask, approve, take back, reject and send at three whole appliances, which are killed one after another. Never an act
// without enough approvals that count, never twice, and nothing that was acknowledged is lost. APPROVALS_SEED says from which seed, APPROVALS_KILLS how often.
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findUnapproved } from '../../core/approvals/in-trail.ts';
import { Dice } from '../fuzz/cases.ts';
import type { Answer } from '../harness/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { isMember, OwnMembers } from './own-members.ts';

const path = temporaryDirectory();
const seed = Number(process.env['APPROVALS_SEED'] ?? randomInt(2 ** 32));
const kills = Number(process.env['APPROVALS_KILLS'] ?? 6);
const dice = new Dice(seed);
const approvers = ['anna', 'bert', 'cleo'] as const;
const people = ['asker', 'other', ...approvers] as const;
type Name = (typeof people)[number];
const [needed, versions] = [2, 4];
const list = '/v1/config/keystore/transit-keys';
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const names = ['a', 'b', 'c'] as const;
const alive = new Map<string, Daemon>();
const tokens = new Map<Name, string>();
let members: OwnMembers;

beforeAll(async () => {
  members = await OwnMembers.prepare(path);
  const a = await members.start('a');
  alive.set('a', a);
  await members.found(a);
  for (const name of ['b', 'c']) alive.set(name, await members.join(name, a));
  await a.request('POST', list, { name: 'payments', exportable: true });
  for (let version = 2; version <= versions; version++) await a.request('POST', '/v1/state/keystore/transit-keys/payments/rotate', {});
  for (const name of people) {
    await a.request('POST', '/v1/config/keystore/authentication/approles', { name, 'token-policies': ['root'] });
    const own = `/v1/state/keystore/authentication/approles/${name}`;
    const { 'role-id': roleId } = (await a.request('GET', own)) as Record<string, string>;
    const { 'secret-id': secretId } = (await a.request('POST', `${own}/generate-secret-id`, {})) as Record<string, string>;
    const { token = '' } = (await a.request('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId })) as {
      token?: string;
    };
    tokens.set(name, token);
  }
  const rule = { name: 'out', acts: ['take-keys-out'], needed, approvers: { approles: [...approvers] } };
  await a.request('POST', '/v1/config/approval/rules', rule);
});
afterAll(async () => {
  for (const daemon of alive.values()) await daemon.stop().catch(() => undefined);
});

/** What is known of a request. Of an attempt without an answer nothing is: it was done or not. */
type Known = {
  readonly by: Name;
  readonly version: number;
  readonly digest: string;
  /** approvals by the last that each has done about it, if it was answered */
  readonly votes: Map<Name, 'given' | 'unsure' | 'taken-back'>;
  /** an approval had no answer: it may be there, and its record not */
  isUnsure: boolean;
  used: number;
  over: 'rejected' | 'withdrawn' | undefined;
};

/** The answer of a member that is up; undefined where there was none, or it says that it cannot. */
async function send(by: Name, verb: string, where: string, body: object, headers = {}): Promise<Answer | undefined> {
  const daemon = dice.pick([...alive.values()]);
  const answer = await daemon.exchange(verb, where, body, tokens.get(by), headers).catch(() => undefined);
  return answer === undefined || answer.status >= 500 ? undefined : answer;
}

const known = new Map<string, Known>();
const wrong: string[] = [];
let [acknowledged, unanswered] = [0, 0];

const acts: Readonly<Record<string, () => Promise<Answer | undefined>>> = {
  async ask() {
    const [by, version] = [dice.pick(people), 1 + dice.below(versions)];
    const answer = await send(by, 'POST', exporting, { version }, { 'approval-reason': 'for%20the%20new%20bank' });
    const { id = '', digest = '' } = (answer?.status === 202 ? answer.body : {}) as Record<string, string>;
    if (id !== '' && !known.has(id)) known.set(id, { by, version, digest, votes: new Map(), isUnsure: false, used: 0, over: undefined });
    return answer;
  },
  async approve() {
    const [id, one] = dice.pick([...known].slice(-8));
    const by = dice.pick(approvers);
    const before = one.votes.get(by);
    one.votes.set(by, 'unsure');
    const answer = await send(by, 'POST', `/v1/state/approvals/${id}/approve`, { digest: one.digest });
    if (answer === undefined) one.isUnsure = true;
    else if (answer.status === 200) one.votes.set(by, 'given');
    else if (before !== undefined) one.votes.set(by, before);
    else one.votes.delete(by);
    if (answer?.status === 200 && by === one.by) wrong.push(`${by} approved the own request ${id}`);
    return answer;
  },
  async takeBack() {
    const [id, one] = dice.pick([...known].slice(-8));
    const by = dice.pick(approvers.filter((name) => name !== one.by));
    const before = one.votes.get(by);
    if (before !== undefined) one.votes.set(by, 'unsure');
    const answer = await send(by, 'POST', `/v1/state/approvals/${id}/withdraw`, {});
    if (answer?.status === 200 && before !== undefined) one.votes.set(by, 'taken-back');
    else if (answer !== undefined && before !== undefined) one.votes.set(by, before);
    return answer;
  },
  async end() {
    const [id, one] = dice.pick([...known].slice(-8));
    const verb = dice.pick(['reject', 'withdraw'] as const);
    const by = verb === 'withdraw' ? one.by : dice.pick(approvers);
    const answer = await send(by, 'POST', `/v1/state/approvals/${id}/${verb}`, verb === 'reject' ? { reason: 'nobody asked me' } : {});
    if (answer?.status === 200) one.over = verb === 'reject' ? 'rejected' : 'withdrawn';
    return answer;
  },
  async use() {
    const [id, one] = dice.pick([...known].slice(-8));
    // At two at once: one may have it.
    const both = await Promise.all([0, 1].map(() => send(one.by, 'POST', exporting, { version: one.version }, { approval: id })));
    for (const answer of both) if (answer?.status === 200) one.used++;
    return both.find((answer) => answer?.status === 200) ?? both[0];
  },
};
const deciding = Object.entries({ ask: 3, approve: 10, takeBack: 1, end: 1 }).flatMap(([name, weight]) =>
  Array.from({ length: weight }, () => name),
);

/** Those who decide, one after another, since of two changes of one vote at once nobody could say which was last; and beside them those who use. */
async function keepOn(names: readonly string[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const name = known.size === 0 ? 'ask' : dice.pick(names);
    const answer = await (acts[name] as () => Promise<Answer | undefined>)();
    if (answer === undefined) unanswered++;
    else acknowledged++;
    if (answer === undefined || answer.status === 429) await setTimeout(50);
  }
}

test(`${kills} appliances are killed among the acts: none without ${needed} approvals, none twice, none lost (APPROVALS_SEED=${seed})`, async () => {
  let isOver = false;
  const running = Promise.all([deciding, ['use']].map((those) => keepOn(those, () => isOver)));
  for (let turn = 0; turn < kills; turn++) {
    const before = acknowledged;
    await vi.waitUntil(() => acknowledged > before + 40 + dice.below(40), { timeout: 120_000 });
    const name = names[turn % names.length] ?? 'a';
    const killed = alive.get(name);
    alive.delete(name);
    await killed?.kill();
    // The others go on without it.
    const without = acknowledged;
    await vi.waitUntil(() => acknowledged > without + 10, { timeout: 120_000 });
    const back = await members.start(name);
    await vi.waitUntil(async () => isMember(await back.exchange('GET', '/v1/state/system/cluster').catch(() => undefined)), {
      timeout: 120_000,
      interval: 200,
    });
    alive.set(name, back);
  }
  isOver = true;
  await running;
  for (const daemon of alive.values()) await compare(daemon);
  expect(wrong).toEqual([]);
  expect(await wrongInTrails()).toEqual([]);
  expect([...known.values()].filter(({ used }) => used > 0).length).toBeGreaterThan(kills);
  expect(acknowledged).toBeGreaterThan(unanswered);
});

type Shown = { readonly state: string; readonly approvals: readonly { readonly user: string }[] };

/** Compares what an appliance has with what was acknowledged. */
async function compare(daemon: Daemon): Promise<void> {
  for (const [id, { by, votes, used, over }] of known) {
    const { status, body } = await daemon.exchange('GET', `/v1/state/approvals/${id}`, undefined, tokens.get(by));
    const { state, approvals } = body as unknown as Shown;
    if (status !== 200) wrong.push(`${id}: ${status} instead of the request that was acknowledged`);
    else if (used > 1) wrong.push(`${id} was used ${used} times`);
    else if (used === 1 && state !== 'used') wrong.push(`${id} was used, and is ${state}`);
    else if (over !== undefined && state !== over) wrong.push(`${id} was ${over}, and is ${state}`);
    else if (state === 'open' || state === 'granted')
      for (const [name, vote] of votes)
        if (vote !== 'unsure' && approvals.some(({ user }) => user === name) !== (vote === 'given'))
          wrong.push(`${id}: the approval of ${name} was ${vote}, and there are those of ${approvals.map(({ user }) => user).join(', ')}`);
  }
}

type ActRecord = {
  readonly approval?: string;
  readonly user: string;
  readonly path: string;
  readonly status: number;
  readonly kind: string;
  readonly approvers?: readonly { readonly user: string }[];
};

/** What the trails of all appliances say of acts: each under an approval of its own, by enough people, none of whom asked. */
async function wrongInTrails(): Promise<readonly string[]> {
  const directories = names.map((name) => path(`data-${name}`, 'audit'));
  const ran = directories
    .flatMap(recordsIn)
    .filter(({ path: at, status, kind }) => at === exporting && status === 200 && kind === 'request');
  const times = Map.groupBy(ran, ({ approval }) => approval ?? 'none');
  const found = [...times].flatMap(([id, [act, ...again]]) => {
    const voters = new Set(act?.approvers?.map(({ user }) => user));
    const isWrong = !known.has(id) || again.length > 0 || voters.size < needed || voters.has(act?.user ?? '');
    return isWrong ? [`${id} ran ${1 + again.length} times, by ${[...voters].join(', ')}`] : [];
  });
  const lost = [...known].flatMap(([id, { used }]) => (used > 0 && !times.has(id) ? [`${id} ran without a record`] : []));
  const unrecorded = (await findUnapproved(directories)).flatMap(({ problem }) => {
    const [, id = ''] = /approval of the request (\S+) the trail has no record/.exec(problem) ?? [];
    return known.get(id)?.isUnsure === true ? [] : [problem];
  });
  return [...found, ...lost, ...unrecorded];
}

function recordsIn(directory: string): readonly ActRecord[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(`${directory}/${name}`, 'utf8').trim().split('\n'))
    .filter((line) => line.includes('"/v1/state/keystore/transit-keys/payments/export"'))
    .map((line) => JSON.parse(line) as ActRecord);
}
