// What is rare in a cluster: revocations that everybody has to know of, and the death of the leader.
import { setTimeout } from 'node:timers/promises';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { seenBy } from '../../cluster/own-members.ts';
import type { Daemon } from '../../harness/daemon.ts';
import { payload } from '../measure/bench.ts';
import { median, shareOf } from '../measure/rounds.ts';
import { actionsPath, type Appliance } from '../neighbours/appliance.ts';
import type { Three } from '../neighbours/three.ts';

/** Requests at each appliance after the answer to a revocation. */
const asksAfter = 3;
const beforeDeathMs = 1_000;
const againMs = 10;

/**
 * Tokens are revoked, each at one appliance, while callers use it at all three. `accepted`: answers of 200 to requests that were sent after the
 * answer to the revocation.
 */
export async function measureRevocations(three: readonly Appliance[], times: number): Promise<Parts['cluster']['revocations']> {
  const answeredMs: number[] = [];
  let [asked, accepted] = [0, 0];
  for (let n = 0; n < times; n += 1) {
    const { daemon } = three[n % three.length] as Appliance;
    const { token, accessor } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['bench'] })) as Record<
      string,
      string
    >;
    let revokedMs = Infinity;
    const callers = three.map(({ daemon: one }) => {
      const first = Promise.withResolvers<void>();
      const done = (async () => {
        for (let after = 0; after < asksAfter;) {
          const sentMs = performance.now();
          const { status } = await one.exchange('POST', `${actionsPath}/aes/encrypt`, { plaintext: payload }, token);
          first.resolve();
          if (sentMs < revokedMs) continue;
          after += 1;
          asked += 1;
          if (status === 200) accepted += 1;
        }
      })();
      done.catch(first.reject);
      return { first: first.promise, done };
    });
    await Promise.all(callers.map(({ first }) => first));
    const begunMs = performance.now();
    await daemon.request('POST', '/v1/state/keystore/token/disable', { accessor });
    revokedMs = performance.now();
    answeredMs.push(revokedMs - begunMs);
    await Promise.all(callers.map(({ done }) => done));
  }
  return { made: times, asked, accepted, p50Ms: median(answeredMs), worstMs: shareOf(answeredMs, 1) };
}

/** The appliance whose etcd leads is killed with all its processes, while callers change something at the two others, one request after another. */
export async function measureDeaths(neighbours: Three, times: number): Promise<Parts['cluster']['deaths']> {
  const daemons: Daemon[] = neighbours.three.map(({ daemon }) => daemon);
  const { login } = neighbours.three[0] as Appliance;
  const gapsMs: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const leader = ['a', 'b', 'c'].indexOf((await leaderSeenBy(daemons[0] as Daemon)) ?? '');
    const others = daemons.filter((_, at) => at !== leader);
    const over = new AbortController();
    const acknowledgedMs: number[] = [];
    const callers = others.map(async (daemon) => {
      while (!over.signal.aborted) {
        const { status } = await daemon.exchange('POST', new URL(login.url).pathname, JSON.parse(login.body), '');
        if (status === 200) acknowledgedMs.push(performance.now());
        else await setTimeout(againMs);
      }
    });
    await setTimeout(beforeDeathMs);
    const killedMs = performance.now();
    await daemons[leader]?.kill();
    while (!acknowledgedMs.some((ms) => ms > killedMs + beforeDeathMs)) await setTimeout(againMs);
    over.abort();
    await Promise.all(callers);
    gapsMs.push(Math.max(...acknowledgedMs.toSorted((one, other) => one - other).map((ms, at, all) => ms - (all[at - 1] ?? ms))));
    daemons[leader] = await neighbours.restart(leader);
    while ((await leaderSeenBy(daemons[0] as Daemon)) === undefined) await setTimeout(10 * againMs);
  }
  return { times, medianMs: median(gapsMs), worstMs: shareOf(gapsMs, 1) };
}

/** The name of the appliance whose etcd leads; undefined until all three are in and none is a learner. */
async function leaderSeenBy(daemon: Daemon): Promise<string | undefined> {
  const { members, etcd } = await seenBy(daemon);
  const isWhole = members.every(({ state }) => state === 'in') && etcd.every(({ problem, learner }) => problem === undefined && !learner);
  return isWhole ? etcd.find(({ leader }) => leader)?.appliance : undefined;
}
