// Three whole appliances that run etcd themselves, each with a network, a disk, a clock and a way to the HSM or a token of its own, under every kind
// of change and use, while several faults at a time befall them. Afterwards what every caller saw is judged, and what the cluster promises.
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { defined } from '../../../core/base/defined.ts';
import { Dice } from '../../fuzz/cases.ts';
import type { Answer } from '../../harness/client.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { furnish } from '../../harness/kills/prepared.ts';
import { Storm } from '../../harness/kills/storm.ts';
import type { Tally } from '../../harness/kills/things/thing.ts';
import { makeEmptySoftToken } from '../../harness/token/softhsm.ts';
import { argsOf } from '../daemons.ts';
import { OwnMembers } from '../own-members.ts';
import { makeNextService } from '../next-version.ts';
import { Callers, type Calls, keys, roleName, usedKey } from './callers.ts';
import { type Drill, until, untilServing } from './drill.ts';
import { faultsOf } from './faults.ts';
import { Spaces } from './network/spaces.ts';
import { Observations, type Verdict } from './observations.ts';
import { ask, clockSeconds, Place } from './places.ts';
import { brokenPromises } from './promises.ts';
import { rotate } from './rotations.ts';
import { copyOfToken, embeddedToken, ownToken, type TokenShape, wayTo } from './tokens.ts';

export type OwnStormOptions = {
  readonly directory: (...names: string[]) => string;
  readonly seed: number;
  readonly tokens: TokenShape;
  /** what a packet takes from one machine to another, beside faults, as between three sites; default: no time */
  readonly betweenMs?: number;
  /** how many, at least, unless something is lost before */
  readonly faults: number;
  /** goes on for so long, at least */
  readonly minutes?: number;
  /** each fault becomes a line of it; logs and audit trails of the appliances are beside it after a loss */
  readonly recordFile: string;
};

export type OwnStormReport = {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: Readonly<Record<string, number>>;
  /** of objects that all callers share */
  readonly calls: Calls;
  /** of things of every sort, each with one owner */
  readonly storm: Tally;
  readonly longestWithoutChangeMs: number;
  /** its number in the end: how often the wrapping key was rotated */
  readonly wrappingKey: number;
  /** ends of daemons that nobody asked for, and starts that failed */
  readonly surprises: readonly string[];
  readonly verdict: Omit<Verdict, 'illegal'>;
  readonly losses: readonly string[];
};

const mostAtATime = 4;
const [leastMs, mostMs, pauseMs] = [300, 2_500, 1_200];
/** After so many, all are awaited, and must serve. */
const calmEvery = 40;
/** What is rare comes once in so many rounds, and in the first. */
const rareEvery = 4;
/** What a caller did not hear the end of is decided by then: longer than a fault, an election and a fence. */
const settleMs = 8_000;
const lanePauseMs = 150;
const mostShown = 20;

/** Throws when the appliances do not come together after faults. */
export async function stormOnOwnMembers(options: OwnStormOptions): Promise<OwnStormReport> {
  const { directory, seed, tokens, recordFile } = options;
  const beganMs = performance.now();
  mkdirSync(dirname(recordFile), { recursive: true });
  const record = (line: object): void =>
    appendFileSync(recordFile, `${JSON.stringify({ seconds: Math.round((performance.now() - beganMs) / 100) / 10, ...line })}\n`);
  const spaces = new Spaces(3);
  const places: Place[] = [];
  try {
    const shared = tokens === 'shared' ? await makeEmptySoftToken(directory('hsm')) : undefined;
    for (const index of [0, 1, 2]) {
      const path = (...names: string[]): string => directory(`machine-${index}`, ...names);
      // The first has the embedded one.
      const token = shared === undefined ? (index === 0 ? undefined : await ownToken(path)) : wayTo(shared, path);
      places.push(await Place.make(index, spaces, path, (data) => token ?? embeddedToken(data)));
      await lengthen(spaces, index, options.betweenMs ?? 0);
    }
    const members = await OwnMembers.prepare(
      directory,
      async (name) => placeOf(places, name).token.configured,
      (name) => placeOf(places, name).site,
    );
    const drill: Drill = { members, places, spaces, tokens, path: directory, dice: new Dice(seed), losses: [], level: 2 };
    const program = makeNextService(directory('version-2'), drill.level);
    for (const place of places) place.program = program;
    record({ seed });
    const fixtures = { ...(await found(drill)), objects: 0 };
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const storm = new Storm({
      ...{ seed, fixtures, recipient, settleMs, pauseMs: lanePauseMs, clockSeconds },
      hasObjectsInToken: tokens === 'shared',
    });
    const observations = new Observations(directory('observations.jsonl'));
    const callers = new Callers(places, observations, seed, drill.losses);
    let turn = 0;
    const raging = storm.rage(() => someRunning(places, turn++));
    const counted: Record<string, number> = {};
    try {
      const isOver = (made: number): boolean =>
        drill.losses.length > 0 || (made >= options.faults && performance.now() - beganMs >= (options.minutes ?? 0) * 60_000);
      await Promise.race([
        raging.done.then(() => Promise.reject(new Error('the storm is over'))),
        makeFaults(drill, isOver, counted, record),
      ]);
      await untilServing(drill);
    } finally {
      raging.over();
      await callers.end();
    }
    await raging.done;
    await callers.look();
    const wrappingKey = await rotate(drill);
    for (const place of places) if (place.daemon !== undefined) await storm.prove(place.daemon, 'everything');
    writeFileSync(directory('identity'), `${identity}\n`, { mode: 0o600 });
    for (const place of tokens === 'own' ? places : [drill.dice.pick(places)]) await proveBackup(drill, place, storm.fork(), recipient);
    const { illegal, ...verdict } = observations.judge();
    // With their values, to look for the cause.
    if (illegal.length > 0) copyFileSync(directory('observations.jsonl'), `${recordFile}.observations`);
    const losses = [
      ...drill.losses,
      ...illegal.map(({ object, ordered, all }) => `no order explains ${object} (${ordered} of ${all.length}): ${all.join('; ')}`),
      ...(await brokenPromises(drill, storm.acknowledged)),
    ];
    const report: OwnStormReport = {
      ...{ seed, minutes: Math.round((performance.now() - beganMs) / 60_000), faults: counted, calls: callers.calls, storm: storm.tally },
      ...{ longestWithoutChangeMs: Math.round(callers.longest.ms), wrappingKey, verdict, losses: losses.slice(0, mostShown) },
      surprises: places.flatMap(({ surprises }) => surprises),
    };
    record(report);
    if (losses.length > 0) for (const place of places) place.keepLogs(`${recordFile}.logs`);
    return report;
  } catch (error) {
    for (const place of places) place.keepLogs(`${recordFile}.logs`);
    record({ find: String(error), surprises: places.map(({ surprises }) => surprises.at(-1)) });
    throw error;
  } finally {
    for (const place of places) await place.end();
    spaces.remove();
  }
}

function placeOf(places: readonly Place[], name: string): Place {
  const place = places.find((one) => one.name === name);
  if (place === undefined) throw new Error(`no machine has ${name}`);
  return place;
}

/** Makes the cluster, and what the load begins with. */
async function found({ members, places }: Drill): Promise<Awaited<ReturnType<typeof furnish>>> {
  const [first, ...others] = places as [Place, Place, Place];
  await first.start(members);
  const { daemon } = first;
  if (daemon === undefined) throw new Error('it has ended at once');
  await members.found(daemon);
  const fixtures = await furnish(daemon);
  await daemon.request('POST', keys, { name: usedKey });
  await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: roleName, 'token-policies': ['user'] });
  for (const place of others) await place.join(members, daemon);
  return fixtures;
}

/** Half of it is on the way to the others. */
async function lengthen(spaces: Spaces, index: number, betweenMs: number): Promise<void> {
  const ownMs = betweenMs / 2;
  if (ownMs > 0) await spaces.delay(index, { leastMs: ownMs * 0.9, mostMs: ownMs * 1.1 });
}

/**
 * A backup of any is one of all (promise 9): restored, it stands alone with the token that it brings or that of any other, and has everything. Throws
 * what it lacks.
 */
async function proveBackup({ places, dice, path }: Drill, place: Place, storm: Storm, recipient: string): Promise<void> {
  let backup: Answer | undefined;
  await until(
    () => `${place.name} makes a backup, but answers ${backup?.status} ${backup?.text}`,
    async () => (backup = await ask(place, 'POST', '/v1/state/system/backup', { recipients: [recipient] }))?.status === 200,
  );
  const name = `restored-${place.name}`;
  writeFileSync(path(`${name}.backup`), backup?.octets ?? '');
  const other = dice.pick(places.filter((one) => one !== place));
  const tokens = place.token.configured.length === 0 ? [] : [copyOfToken(other.token.config(), path(`${name}-token`))];
  const restored = await startDaemon({
    ...{ directory: path(name), ...defined({ program: place.program, rootToken: place.daemon?.rootToken }) },
    args: [...argsOf(path, name, { tokens }), '--restore', path(`${name}.backup`), '--restore-identity-file', path('identity')],
  });
  try {
    await storm.prove(restored, 'everything');
  } finally {
    await restored.kill();
  }
}

/** Several at a time, drawn so that each kind comes before any comes again. */
async function makeFaults(
  drill: Drill,
  isOver: (made: number) => boolean,
  counted: Record<string, number>,
  record: (line: object) => void,
): Promise<void> {
  const { places, dice } = drill;
  const faults = faultsOf(drill.tokens);
  const present = new Set<Promise<void>>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const calm = async (): Promise<void> => void (await Promise.race([Promise.all(present), failed.promise]));
  const left: string[] = [];
  for (let [made, rounds] = [0, 0]; !isOver(made);) {
    if (left.length === 0) left.push(...kindsOf(faults, rounds++));
    const [kind = ''] = left.splice(dice.below(left.length), 1);
    const fault = faults[kind];
    if (fault === undefined) continue;
    const { takes } = fault;
    if (takes === 'all' || takes === 'calm') await calm();
    if (takes === 'calm' || made % calmEvery === calmEvery - 1) {
      await calm();
      await Promise.race([untilServing(drill), failed.promise]);
    }
    while (present.size >= mostAtATime) await Promise.race([...present, failed.promise]);
    const place = dice.pick(places);
    const forMs = leastMs + dice.below(mostMs);
    if (takes === 'place') {
      while (place.isBusy) await Promise.race([...present, failed.promise]);
      place.isBusy = true;
    }
    made++;
    counted[kind] = (counted[kind] ?? 0) + 1;
    record({ fault: made, kind, at: place.name, forMs, beside: present.size });
    const running = fault.run(drill, place, forMs).finally(() => {
      present.delete(running);
      if (takes === 'place') place.isBusy = false;
    });
    present.add(running);
    running.catch(failed.reject);
    if (takes === 'all' || takes === 'calm') await calm();
    else await Promise.race([setTimeout(dice.below(pauseMs)), failed.promise]);
  }
  await calm();
}

/** All in the first round, so that few faults show every kind. */
function kindsOf(faults: ReturnType<typeof faultsOf>, round: number): string[] {
  const rare = Object.keys(faults).filter((kind) => faults[kind]?.takes === 'calm' || faults[kind]?.takes === 'all');
  return Object.keys(faults).filter((kind) => round === 0 || !rare.includes(kind) || rare.indexOf(kind) % rareEvery === round % rareEvery);
}

/** One after another of those that run; any, where none does. */
function someRunning(places: readonly Place[], turn: number): NonNullable<Place['daemon']> {
  const running = places.flatMap(({ daemon }) => (daemon === undefined ? [] : [daemon]));
  const daemon = running[turn % running.length] ?? places[0]?.last;
  if (daemon === undefined) throw new Error('none has ever run');
  return daemon;
}
