// npm test -- cluster: followers, workers, token hosts and whole appliances of a cluster are killed under a storm that asks all appliances in
// turns. What one has acknowledged is so on all. KILLS_CLUSTER says how many, KILLS_SEED from which seed.
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Dice } from '../fuzz/cases.ts';
import { startDaemon } from '../harness/daemon.ts';
import { type Fixtures, furnish } from '../harness/kills/prepared.ts';
import { Storm } from '../harness/kills/storm.ts';
import { children, end } from '../harness/kills/victims.ts';
import { requireTrails } from '../harness/kills/whole-check.ts';
import { processesBelow } from '../harness/processes.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { argsOf, endMember, type Member, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const kills = Number(process.env['KILLS_CLUSTER'] ?? 30);
const seed = Number(process.env['KILLS_SEED'] ?? randomInt(2 ** 32));
const dice = new Dice(seed);
const names = ['a', 'b', 'c'] as const;
const pauseMs = 100;
/** What a killed process had sent to etcd is decided by then. */
const settleMs = 3_000;
const longestToKillMs = 1_500;

let shared: Shared;
let fixtures: Fixtures;
const members: Member[] = [];

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  const alone = await startDaemon({ directory: path('data-a'), args: argsOf(path, 'alone', { tokens: [prepared.token] }) });
  fixtures = { ...(await furnish(alone)), objects: 0 };
  expect(await alone.stop()).toBe(0);
  shared = { ...prepared, rootToken: alone.rootToken };
  for (const name of names) members.push(await startMember(shared, name));
});
afterAll(async () => {
  for (const member of members) await endMember(member).catch(() => undefined);
  await shared.etcd.stop();
});

/** What is killed of a member; a whole appliance is started again. */
const victims: Readonly<Record<string, (member: Member, index: number) => Promise<boolean> | boolean>> = {
  follower: ({ pid }) => end(followerOf(pid)),
  worker: ({ pid }) => end(dice.pick(workersOf(pid))),
  'token host': ({ pid }) => end(dice.pick(children(dice.pick(workersOf(pid))))),
  async appliance(member, index) {
    await member.kill();
    member.network.close();
    members[index] = await startMember(shared, member.name);
    return true;
  },
};
/** A follower is replaced at once, the others later each time. */
const shares = [...Array.from({ length: 14 }, () => 'follower'), 'worker', 'worker', 'token host', 'token host', 'token host', 'appliance'];

function followerOf(pid: number): number {
  return processesBelow(pid, 'follower')[0] ?? 0;
}

/** 0, which is no process, while there is none. */
function workersOf(pid: number): readonly number[] {
  const workers = children(pid).filter((child) => child !== followerOf(pid));
  return workers.length === 0 ? [0] : workers;
}

test(`${kills} kills: what any appliance has acknowledged is so on all, and on record`, async () => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  const storm = new Storm({ seed, fixtures, recipient, pauseMs, settleMs });
  let turn = 0;
  const raging = storm.rage(() => members[turn++ % members.length] as Member);
  const killed: Record<string, number> = {};
  for (let count = 0; count < kills;) {
    await Promise.race([setTimeout(dice.below(longestToKillMs)), raging.done]);
    const [kind, index] = [dice.pick(shares), dice.below(members.length)];
    if ((await victims[kind]?.(members[index] as Member, index)) !== true) continue;
    killed[kind] = (killed[kind] ?? 0) + 1;
    count++;
  }
  raging.over();
  await raging.done;
  for (const member of members) await storm.prove(member, 'everything');
  console.log(`seed ${seed}: ${JSON.stringify({ killed, ...storm.tally })}`);
  for (const member of members.toReversed()) expect(await member.stop()).toBe(0);
  await requireTrails(
    names.map((name) => path(`data-${name}`)),
    storm.acknowledged,
  );
});
