// Random requests of five people against a model that says in a few lines what an approval is: each answer is what the model says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { Dice } from '../../fuzz/cases.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { approvers, type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
const everybody = ['asker', 'other', ...approvers] as const;
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const [approveWithin, useWithin, needed, rejections, versions] = [300, 60, 2, 2, 3];
const seed = Number(process.env['APPROVALS_SEED'] ?? 7);
const steps = Number(process.env['APPROVALS_STEPS'] ?? 120);
let people: People;

beforeAll(async () => {
  people = await startPeople(at());
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'payments', exportable: true });
  for (let version = 2; version <= versions; version++)
    await people.as('root', 'POST', '/v1/state/keystore/transit-keys/payments/rotate', {});
  const times = { 'approve-within': `${approveWithin}s`, 'use-within': `${useWithin}s` };
  expect((await people.as('root', 'POST', rulePath, rule('out', { acts: ['take-keys-out'], needed, rejections, ...times }))).status).toBe(
    201,
  );
});
afterAll(() => people.appliance.close());

type Vote = { readonly by: string; readonly at: number; readonly login: number };
type Asked = {
  readonly by: string;
  readonly version: number;
  readonly from: number;
  votes: Vote[];
  against: Vote[];
  state: 'open' | 'over';
};

class Model {
  readonly asked = new Map<string, Asked>();
  now = 0;
  /** of each person: how often logged in */
  readonly logins = new Map<string, number>();

  until({ from, votes }: Asked): number {
    const last = votes[needed - 1];
    return last === undefined ? from + approveWithin : last.at + useWithin;
  }

  isLive(one: Asked): boolean {
    return one.state === 'open' && this.now < this.until(one);
  }

  /** The id of a request that is the same; undefined where a new one is made. */
  ask(by: string, version: number): string | undefined {
    // Later than this the book of open requests no longer has it.
    const isKnown = ({ from }: Asked): boolean => this.now < from + approveWithin + useWithin;
    const same = [...this.asked].find(([, one]) => one.by === by && one.version === version && one.state === 'open' && isKnown(one));
    if (same !== undefined && this.isLive(same[1])) return same[0];
    if (same !== undefined) same[1].state = 'over';
    return undefined;
  }

  decide(verb: 'approve' | 'reject' | 'withdraw', by: string, id: string): string {
    const one = this.asked.get(id) as Asked;
    const isApprover = (approvers as readonly string[]).includes(by);
    if (one.by !== by && !isApprover) return '404 not-found';
    if (verb !== 'withdraw' && one.by === by) return '403 approval-refused';
    if (!this.isLive(one)) return '409 approval-void';
    const vote = { by, at: this.now, login: this.logins.get(by) ?? 0 };
    if (one.by === by) one.state = 'over';
    else if (verb !== 'approve' || !one.votes.some((known) => known.by === by)) {
      for (const some of ['votes', 'against'] as const) one[some] = one[some].filter((known) => known.by !== by);
      if (verb !== 'withdraw') one[verb === 'approve' ? 'votes' : 'against'].push(vote);
    }
    if (one.against.length >= rejections) one.state = 'over';
    return '200';
  }

  send(by: string, version: number, id: string): string {
    const one = this.asked.get(id);
    if (one === undefined || one.by !== by || one.state !== 'open' || one.version !== version) return '409 approval-void';
    if (one.votes.length < needed) return '409 approval-missing';
    if (!this.isLive(one)) return '409 approval-void';
    one.state = 'over';
    return '200';
  }

  disable(by: string): void {
    for (const one of this.asked.values())
      for (const some of ['votes', 'against'] as const)
        if (one.state === 'open') one[some] = one[some].filter((vote) => vote.by !== by || vote.login !== (this.logins.get(by) ?? 0));
  }
}

const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

test(`${steps} random requests of five people end as the model says (APPROVALS_SEED=${seed})`, async () => {
  const model = new Model();
  const dice = new Dice(seed);
  const pick = <T>(all: readonly T[]): T => dice.pick(all);
  const random = (): number => dice.next();
  const logIn = async (name: string): Promise<void> => {
    await people.logIn(name);
    model.logins.set(name, (model.logins.get(name) ?? 0) + 1);
  };
  const ids = (): readonly string[] => [...model.asked.keys()].slice(-6);
  let sinceLogin = 0;
  let ran = 0;
  const acts: Readonly<Record<string, (by: string) => Promise<readonly [string, string]>>> = {
    async ask(by) {
      const version = 1 + Math.floor(random() * versions);
      const said = await people.ask(by, 'POST', exporting, { version });
      const same = model.ask(by, version);
      const id = String(said.body.id);
      if (same === undefined && !model.asked.has(id))
        model.asked.set(id, { by, version, from: model.now, votes: [], against: [], state: 'open' });
      return [`${codeOf(said)} ${same ?? 'new'}`, `202 ${same === undefined || same === id ? (same ?? 'new') : id}`];
    },
    async approve(by) {
      const id = pick(ids());
      return [codeOf(await people.approve(by, id)), model.decide('approve', by, id)];
    },
    async reject(by) {
      const id = pick(ids());
      const said = await people.as(by, 'POST', `/v1/state/approvals/${id}/reject`, { reason: 'nobody asked me' });
      return [codeOf(said), model.decide('reject', by, id)];
    },
    async withdraw(by) {
      const id = pick(ids());
      return [codeOf(await people.as(by, 'POST', `/v1/state/approvals/${id}/withdraw`)), model.decide('withdraw', by, id)];
    },
    async send(by) {
      const id = pick(ids());
      const asked = model.asked.get(id) as Asked;
      // Most are sent as they were asked for: others are refused in any case.
      const [sender, version] = random() < 0.8 ? [asked.by, asked.version] : [by, 1 + Math.floor(random() * versions)];
      const said = codeOf(await people.as(sender, 'POST', exporting, { version }, { approval: id }));
      if (said === '200') ran++;
      return [said, model.send(sender, version, id)];
    },
    async disable(by) {
      const { body } = await people.as(by, 'POST', '/v1/state/keystore/token/info', {});
      const said = await people.as('root', 'POST', '/v1/state/keystore/token/disable', { accessor: body.accessor });
      model.disable(by);
      await logIn(by);
      return [String(said.status < 300), 'true'];
    },
  };
  const weights = { ask: 4, approve: 12, send: 6, withdraw: 1, reject: 3, disable: 1 };
  const weighted = Object.entries(weights).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  for (let step = 0; step < steps; step++) {
    const seconds = pick([0, 0, 1, 5, 40]);
    people.appliance.clock.advance(seconds);
    model.now += seconds;
    sinceLogin += seconds;
    if (sinceLogin > 600) for (const name of everybody) await logIn(name);
    if (sinceLogin > 600) sinceLogin = 0;
    const name = model.asked.size === 0 ? 'ask' : pick(weighted);
    const by = pick(name === 'approve' ? [...approvers, ...everybody] : everybody);
    const [said, expected] = await (acts[name] as (typeof acts)[string])(by);
    expect(said, `step ${step}: ${name} of ${by}`).toBe(expected);
  }
  expect(ran).toBeGreaterThan(0);
  expect(await people.appliance.check()).toEqual([]);
});
