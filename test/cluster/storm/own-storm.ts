// Three whole appliances with their own members of etcd under load, while one fault after another befalls them; afterwards what every caller saw
// is judged. Counters are labels of keys, raised by a change that names the state it was made from.
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Dice } from '../../fuzz/cases.ts';
import type { Answer } from '../../harness/client.ts';
import type { Daemon } from '../../harness/daemon.ts';
import { end } from '../../harness/kills/victims.ts';
import { processesBelow } from '../../harness/processes.ts';
import { faultsOf, type Operation } from '../../harness/storms/counter-history.ts';
import { clusterState, OwnMembers, seenBy } from '../own-members.ts';
import type { StormReport } from './storm.ts';

/** Losses are also what was acknowledged and is not there, and what was accepted after its revocation. */
export type OwnStormReport = StormReport & { revoked: number };

const keys = '/v1/config/keystore/transit-keys';
const encrypt = '/v1/state/keystore/transit-keys/used/encrypt';
const tokens = '/v1/state/keystore/token';
const counters = ['counter-0', 'counter-1', 'counter-2', 'counter-3'];
const pauseMs = 20;
const againMs = 300;
const settledMs = 180_000;
const mostShown = 20;

/** A place in the cluster, in which one appliance comes after another when it is replaced for ever. */
type Place = { name: string; daemon: Daemon | undefined; generation: number };

type Parts = {
  readonly members: OwnMembers;
  readonly places: readonly Place[];
  readonly directoryOf: (name: string) => string;
};

/** Each ends as it began: three appliances that are there. */
const faults: Readonly<Record<string, (parts: Parts, place: Place, forMs: number) => Promise<void>>> = {
  'appliance killed': async ({ members }, place, forMs) => {
    const { daemon } = place;
    place.daemon = undefined;
    await daemon?.kill();
    await setTimeout(forMs);
    await startAgain(members, place);
  },
  'appliance stopped and started': async ({ members }, place) => {
    const { daemon } = place;
    place.daemon = undefined;
    await daemon?.stop();
    await startAgain(members, place);
  },
  'appliance frozen': (_, place, forMs) => freeze(place, '', forMs),
  'etcd killed': async (_, place) => void end(pidOf(place, '--name=')),
  'etcd frozen': (_, place, forMs) => freeze(place, '--name=', forMs),
  'follower killed': async (_, place) => void end(pidOf(place, 'follower')),
  'follower frozen': (_, place, forMs) => freeze(place, 'follower', forMs),
  'token process killed': async (_, place) => void end(pidOf(place, 'host')),
  'two of three killed': async ({ members, places }, place, forMs) => {
    const two = places.filter((one) => one !== place);
    const killed = two.map(({ daemon }) => daemon);
    for (const one of two) one.daemon = undefined;
    await Promise.all(killed.map(async (daemon) => daemon?.kill()));
    await setTimeout(forMs);
    await Promise.all(two.map((one) => startAgain(members, one)));
  },
  'disk lost': async ({ members, places, directoryOf }, place) => {
    const { daemon, name } = place;
    place.daemon = undefined;
    await daemon?.kill();
    rmSync(directoryOf(name), { recursive: true });
    place.daemon = await joinBy(members, places, place);
  },
  'replaced for ever': async ({ members, places, directoryOf }, place) => {
    const { daemon, name } = place;
    place.daemon = undefined;
    await daemon?.kill();
    await untilDone(places, place, 'POST', `${clusterState}/remove-member`, { member: name, 'even-if-alive': true });
    rmSync(directoryOf(name), { recursive: true });
    place.generation += 1;
    place.name = `${name.split('-')[0]}-${place.generation}`;
    place.daemon = await joinBy(members, places, place);
  },
};

/** Runs that many faults, one after another. Throws when the appliances do not come together after one. */
export async function stormOnOwnMembers(options: {
  directory: (...names: string[]) => string;
  faults: number;
  seed: number;
}): Promise<OwnStormReport> {
  const { directory, seed } = options;
  const dice = new Dice(seed);
  const report: OwnStormReport = {
    ...{ seed, faults: {}, added: 0, read: 0, refused: 0, unknown: 0, revoked: 0, losses: [] },
  };
  const members = await OwnMembers.prepare(directory);
  const places: Place[] = ['a', 'b', 'c'].map((name) => ({ name, daemon: undefined, generation: 0 }));
  const parts: Parts = { members, places, directoryOf: (name) => directory(`data-${name}`) };
  const [first, ...others] = places as [Place, Place, Place];
  const over = new AbortController();
  const seen: History = { operations: [], unknown: new Map(), report, made: [] };
  try {
    first.daemon = await members.start(first.name);
    await members.found(first.daemon);
    for (const place of others) place.daemon = await members.join(place.name, first.daemon);
    for (const name of [...counters, 'used']) await first.daemon.request('POST', keys, { name, labels: { sum: '0' } });
    const calling = places.flatMap((place) => [count(place, seen, over.signal), count(place, seen, over.signal)]);
    calling.push(revoke(places, seen, over.signal));
    const left: string[] = [];
    for (let made = 0; made < options.faults; made++) {
      // Each kind once before any comes again.
      if (left.length === 0) left.push(...Object.keys(faults));
      const [kind = ''] = left.splice(dice.below(left.length), 1);
      report.faults[kind] = (report.faults[kind] ?? 0) + 1;
      await faults[kind]?.(parts, dice.pick(places), 300 + dice.below(2_500));
      await allServe(places);
      await setTimeout(dice.below(1_000));
    }
    over.abort();
    await Promise.all(calling);
    await allServe(places);
    await judge(places, seen);
    return report;
  } finally {
    over.abort();
    for (const { daemon } of places) await daemon?.kill().catch(() => undefined);
  }
}

/** `made`: names of keys whose creation was answered. */
type History = {
  readonly operations: Operation[];
  readonly unknown: Map<string, number>;
  readonly report: OwnStormReport;
  readonly made: string[];
};

/** Reads and raises counters at one appliance, one request after another. */
async function count(place: Place, seen: History, signal: AbortSignal): Promise<void> {
  const { operations, unknown, report } = seen;
  while (!signal.aborted) {
    await setTimeout(pauseMs);
    const key = counters[Math.floor(Math.random() * counters.length)] ?? '';
    const by = place.name;
    const readMs = performance.now();
    const found = await ask(place, 'GET', `${keys}/${key}`);
    const sum = Number((found?.body as { readonly labels?: { readonly sum?: string } } | undefined)?.labels?.sum);
    if (found?.status !== 200) {
      report.refused += 1;
      await setTimeout(againMs);
      continue;
    }
    operations.push({ kind: 'read', key, calledMs: readMs, answeredMs: performance.now(), value: sum, by });
    report.read += 1;
    const calledMs = performance.now();
    const change = await ask(
      place,
      'PATCH',
      `${keys}/${key}`,
      { labels: { sum: String(sum + 1) } },
      { 'if-match': String(found.headers['etag']) },
    );
    const answeredMs = performance.now();
    if (change !== undefined && change.status < 300) {
      operations.push({ kind: 'add', key, calledMs, answeredMs, value: sum + 1, by });
      report.added += 1;
    } else if (change === undefined || (change.status === 503 && change.headers['retry-after'] === undefined)) {
      unknown.set(key, (unknown.get(key) ?? 0) + 1);
      report.unknown += 1;
    } else report.refused += 1;
  }
}

/** Makes tokens, keys; ends tokens; afterwards no appliance accepts them. */
async function revoke(places: readonly Place[], { report, made }: History, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    await setTimeout(10 * pauseMs);
    const at = (offset: number): Place => places[(n + offset) % places.length] as Place;
    const name = `made-${n}`;
    if ((await ask(at(0), 'POST', keys, { name }))?.status === 201) made.push(name);
    const answer = await ask(at(1), 'POST', `${tokens}/create`, { policies: ['user'] });
    if (answer?.status !== 200) continue;
    const { token, accessor } = answer.body as { readonly token: string; readonly accessor: string };
    if (((await ask(at(2), 'POST', `${tokens}/disable`, { accessor }))?.status ?? 500) >= 300) continue;
    report.revoked += 1;
    for (const place of places) {
      const { status } = (await ask(place, 'POST', encrypt, { plaintext: 'aGVsbG8=' }, {}, token)) ?? {};
      if (status !== undefined && status < 300) report.losses.push(`${place.name} has accepted a token after its revocation`);
    }
  }
}

/** Undefined while it does not run, and when no answer came. */
async function ask(
  { daemon }: Place,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  token?: string,
): Promise<Answer | undefined> {
  return daemon?.exchange(method, path, body, token, headers).catch(() => undefined);
}

/** What every caller saw, and what is there now at each appliance. */
async function judge(places: readonly Place[], { operations, unknown, report, made }: History): Promise<void> {
  report.losses.push(...faultsOf(operations, unknown).slice(0, mostShown));
  for (const place of places) {
    for (const name of made) {
      const { status } = (await ask(place, 'GET', `${keys}/${name}`)) ?? {};
      if (status !== 200) report.losses.push(`${name}, acknowledged, is ${status} at ${place.name}`);
    }
    for (const key of counters) {
      const found = await ask(place, 'GET', `${keys}/${key}`);
      const sum = Number((found?.body as { readonly labels?: { readonly sum?: string } } | undefined)?.labels?.sum);
      const most = Math.max(0, ...operations.flatMap((one) => (one.key === key ? [one.value] : [])));
      if (!(sum >= most)) report.losses.push(`${key} = ${most} was answered, and is ${sum} at ${place.name}`);
    }
  }
}

/** Every appliance is in, uses a key and makes a change; every member of etcd counts. */
async function allServe(places: readonly Place[]): Promise<void> {
  const untilMs = performance.now() + settledMs;
  for (const place of places) {
    for (;;) {
      const used = await ask(place, 'POST', encrypt, { plaintext: 'aGVsbG8=' });
      const state = used?.status === 200 && place.daemon !== undefined ? await seenBy(place.daemon).catch(() => undefined) : undefined;
      const isWhole =
        state !== undefined &&
        state.members.filter((one) => one.state === 'in').length === places.length &&
        state.etcd.length === places.length &&
        state.etcd.every(({ problem, learner }) => problem === undefined && !learner);
      if (isWhole) break;
      if (performance.now() > untilMs)
        throw new Error(`${place.name} does not serve again: ${used?.status} ${JSON.stringify(used?.body)} ${JSON.stringify(state)}`);
      await setTimeout(againMs);
    }
  }
}

async function startAgain(members: OwnMembers, place: Place): Promise<void> {
  place.daemon = await members.start(place.name);
}

/** By whichever of the others invites first. */
async function joinBy(members: OwnMembers, places: readonly Place[], place: Place): Promise<Daemon> {
  const [inviting] = places.filter((one) => one !== place && one.daemon !== undefined);
  if (inviting?.daemon === undefined) throw new Error('nobody is there to invite');
  await untilDone([inviting], place, 'GET', clusterState);
  return members.join(place.name, inviting.daemon);
}

/** Asks the others, one after another, until one has done it. */
async function untilDone(places: readonly Place[], except: Place, method: string, path: string, body?: unknown): Promise<void> {
  const untilMs = performance.now() + settledMs;
  for (;;) {
    for (const place of places) {
      const { status } = (place === except ? undefined : await ask(place, method, path, body)) ?? {};
      if (status !== undefined && status < 300) return;
    }
    if (performance.now() > untilMs) throw new Error(`nobody does ${method} ${path}`);
    await setTimeout(againMs);
  }
}

/** 0, which is no process, where there is none. `word`: in its command line; empty: the supervisor. */
function pidOf({ daemon }: Place, word: string): number {
  if (daemon === undefined) return 0;
  return word === '' ? daemon.pid : (processesBelow(daemon.pid, word)[0] ?? 0);
}

async function freeze(place: Place, word: string, forMs: number): Promise<void> {
  const pid = pidOf(place, word);
  if (pid === 0) return;
  // The supervisor leads the group of its processes.
  const target = word === '' ? -pid : pid;
  try {
    process.kill(target, 'SIGSTOP');
    await setTimeout(forMs);
    process.kill(target, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
