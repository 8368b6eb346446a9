// npm test -- cluster: five people ask, approve, take back, reject and send at three appliances at once, while members of etcd are killed. Never an act
// without enough approvals that count, never twice, and none that was acknowledged is lost. APPROVALS_SEED says from which seed.
import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Caller } from '../../core/access/caller.ts';
import { openGrant } from '../../core/access/logins/grants.ts';
import { tokenTable } from '../../core/access/tokens/record.ts';
import { ask, type Guarded, spend } from '../../core/approvals/asking.ts';
import { approve, reject, withdraw } from '../../core/approvals/deciding.ts';
import { type Approval, approvalTable } from '../../core/approvals/records.ts';
import { type NamedRule, ruleTable } from '../../core/approvals/rules.ts';
import { ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Store } from '../../core/store/store.ts';
import { Dice } from '../fuzz/cases.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { startAppliance, type TestAppliance } from './appliance.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';

const path = temporaryDirectory();
const seed = Number(process.env['APPROVALS_SEED'] ?? randomInt(2 ** 32));
const rounds = Number(process.env['APPROVALS_ROUNDS'] ?? 120);
const dice = new Dice(seed);
const tenantId = randomUUID();
const now = Temporal.Instant.from('2026-01-01T00:00:00Z');
const people = ['asker', 'other', 'anna', 'bert', 'cleo'] as const;
type Name = (typeof people)[number];
const approvers: readonly Name[] = ['anna', 'bert', 'cleo'];
let etcd: EtcdCluster;
let appliances: TestAppliance[];
let rule: NamedRule;

const callerOf = (name: Name): Caller => {
  const identity = { kind: 'sign-in' as const, source: 'https://id.example', subject: name };
  return {
    tenantId,
    tenantName: 't',
    accessor: name,
    origin: name,
    user: name,
    identity,
    policies: [],
    expires: undefined,
    boundCidrs: [],
    userKind: 'sign-in',
  };
};

beforeAll(async () => {
  etcd = await startEtcd(3);
  appliances = [];
  for (const [index, name] of ['first', 'second', 'third'].entries())
    appliances.push(await startAppliance(name, path(name), [...etcd.urls.slice(index), ...etcd.urls.slice(0, index)]));
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 30_000 });
  const { store } = appliances[0] as TestAppliance;
  await store.write((transaction) => {
    const grants = new Map([true, false].map((approves) => [approves, openGrant(transaction, store, tenantId)]));
    for (const name of people) {
      const grant = grants.get(approvers.includes(name)) as string;
      const { identity } = callerOf(name);
      const shared = { tenantId, user: name, identity: identity as NonNullable<Caller['identity']>, policies: [], grants: [grant] };
      transaction.put(tokenTable(store), [tenantId, name], { accessor: name, hash: name, creationTime: formatTimestamp(now), ...shared });
    }
    const role = { kind: 'role' as const, name: 'officers', id: grants.get(true) as string };
    rule = {
      name: 'out',
      acts: ['take-keys-out'],
      paths: [],
      needed: 2,
      approvers: [role],
      approveWithin: '24h',
      useWithin: '1h',
      force: false,
    };
    const { name, ...record } = rule;
    transaction.put(ruleTable(store), [tenantId, name], record);
  });
});
afterAll(async () => {
  for (const appliance of appliances) await appliance.stop();
  await etcd.stop();
});

const guardedBy = (name: Name, digest: string): Guarded => ({
  ...{
    caller: callerOf(name),
    clientIp: '127.0.0.1',
    now,
    method: 'POST',
    endpoint: '/e',
    path: '/e',
    concerns: [],
    acts: ['take-keys-out'],
    outside: [],
  },
  ...{ digest, parameters: {} },
});

/** An outcome as the caller has it: `lost` says nothing of what has happened. */
type Outcome<T> = { readonly done: T } | { readonly refused: string } | 'lost';

async function outcomeOf<T>(run: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { done: await run() };
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return { refused: error.code };
    return 'lost';
  }
}

type Known = { readonly by: Name; readonly digest: string; spent: number; rejected: boolean; withdrawn: boolean };

test(`no act without two approvals, none twice, none lost (APPROVALS_SEED=${seed})`, async () => {
  const known = new Map<string, Known>();
  const anywhere = (): Store => dice.pick(appliances).store;
  const decision = (name: Name, id: string) => ({ caller: callerOf(name), now, id });
  const wrong: string[] = [];
  let [ran, lost] = [0, 0];
  const acts: readonly (() => Promise<void>)[] = [
    async () => {
      const [name, digest] = [dice.pick(people), `digest ${dice.below(4)}`];
      const outcome = await outcomeOf(() => ask(anywhere(), guardedBy(name, digest), [rule], 'as agreed'));
      if (outcome === 'lost') lost++;
      else if ('done' in outcome && !known.has(outcome.done.id))
        known.set(outcome.done.id, { by: name, digest, spent: 0, rejected: false, withdrawn: false });
    },
    ...Array.from({ length: 4 }, () => async () => {
      const [id] = dice.pick([...known]);
      const outcome = await outcomeOf(async () => {
        const store = anywhere();
        const approval = approvalTable(store).get([tenantId, id]);
        return approve(store, decision(dice.pick(approvers), id), approval?.digest ?? 'none');
      });
      if (outcome === 'lost') lost++;
    }),
    async () => {
      const [id, one] = dice.pick([...known]);
      const verb = dice.below(3);
      const outcome = await outcomeOf(() =>
        verb === 0
          ? reject(anywhere(), decision(dice.pick(approvers), id), 'nobody asked me')
          : withdraw(anywhere(), decision(verb === 1 ? one.by : dice.pick(approvers), id)),
      );
      if (outcome === 'lost') lost++;
      else if ('done' in outcome && outcome.done.state === 'rejected') one.rejected = true;
      else if ('done' in outcome && outcome.done.state === 'withdrawn') one.withdrawn = true;
    },
    ...Array.from({ length: 2 }, () => async () => {
      const [id, one] = dice.pick([...known]);
      // At all three at once: one may have it.
      const outcomes = await Promise.all(appliances.map(({ store }) => outcomeOf(() => spend(store, guardedBy(one.by, one.digest), id))));
      for (const outcome of outcomes) {
        if (outcome === 'lost') lost++;
        else if ('done' in outcome) {
          one.spent++;
          ran++;
          const voters = new Set(outcome.done.votes.map(({ user }) => user));
          if (voters.size < 2 || voters.has(one.by)) wrong.push(`${id} of ${one.by} by ${[...voters].join(', ')}`);
        }
      }
    }),
  ];
  for (let round = 0; round < rounds; round++) {
    const member = dice.pick(etcd.members);
    const isKilled = round % 30 === 15;
    if (isKilled) await member.signal('SIGKILL');
    const first = known.size === 0 ? [acts[0] as (typeof acts)[number]] : Array.from({ length: 3 }, () => dice.pick(acts));
    await Promise.all(first.map((act) => act()));
    if (isKilled) await member.start();
  }
  await vi.waitUntil(() => appliances.every(({ isValid }) => isValid), { timeout: 60_000 });
  for (const { store } of appliances) {
    store.refresh();
    for (const [id, { spent, rejected, withdrawn }] of known) {
      const approval = approvalTable(store).get([tenantId, id]) as Approval;
      expect(approval, id).toBeDefined();
      expect(spent).toBeLessThanOrEqual(1);
      const ends = [spent === 1 ? 'used' : undefined, rejected ? 'rejected' : undefined, withdrawn ? 'withdrawn' : undefined];
      expect(ends.filter((end) => end !== undefined && end !== approval.state)).toEqual([]);
    }
  }
  expect(wrong).toEqual([]);
  expect(ran).toBeGreaterThan(0);
  // So that a run in which nothing was answered is none.
  expect(lost).toBeLessThan(rounds);
});
