// What befalls three appliances that run etcd themselves. Each fault ends as it began: three appliances that are there.
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { children, end } from '../../harness/kills/victims.ts';
import { processesBelow } from '../../harness/processes.ts';
import { makeNextService } from '../next-version.ts';
import { clusterState, type OwnMembers, seenBy } from '../own-members.ts';
import { encrypt, keys, usedKey } from './callers.ts';
import { type Drill, until, untilServing } from './drill.ts';
import { type Shape, shapes } from './network/spaces.ts';
import { ask, clientPort, peerPort, type Place } from './places.ts';
import { rotateAmongFaults, rotateWhileAway } from './rotations.ts';
import type { TokenShape } from './tokens.ts';

export type Fault = {
  readonly run: (drill: Drill, place: Place, forMs: number) => Promise<void>;
  /** `place`: its processes, which nothing else may end meanwhile. `all`: nothing else befalls any. `calm`: besides, all must serve before. */
  readonly takes?: 'place' | 'all' | 'calm';
};

/** Longer than an appliance may answer without a heartbeat. */
const silentMs = 3_500;
/** Processes of an appliance by a word of their command line. */
const [etcd, follower, tokenHost] = ['--name=', 'follower', 'host'];

const cutting = (shapeOf: (peers: string, drill: Drill, place: Place) => Shape): Fault => ({
  async run(drill, place, forMs) {
    const { index } = place;
    const heal = drill.spaces.impose(index, shapeOf(drill.spaces.peersOf(index), drill, place));
    await setTimeout(forMs);
    heal();
  },
});
const killing = (word: string): Fault => ({ run: async (_, place) => void end(pidOf(place, word)) });
const freezing = (word: string): Fault => ({ run: (_, place, forMs) => freeze(place, word, forMs) });
const settingClock = (seconds: number): Fault => ({
  run: (_, place, forMs) =>
    place.withClock(seconds, forMs, () =>
      // Else it goes on with the time that it has seen, and others refuse its tokens as not begun.
      until(
        `${place.name} accepts its clock`,
        async () => ((await ask(place, 'POST', '/v1/state/system/accept-clock', {}))?.status ?? 500) < 300,
      ),
    ),
});

type Faults = Readonly<Record<string, Fault>>;

const always: Faults = {
  'appliance killed': {
    takes: 'place',
    async run({ members }, place, forMs) {
      await place.kill();
      await setTimeout(forMs);
      await place.start(members);
    },
  },
  'supervisor killed': {
    takes: 'place',
    async run({ members }, place) {
      const { daemon } = place;
      place.daemon = undefined;
      if (daemon !== undefined) end(daemon.pid);
      await daemon?.ended;
      // Its processes have to end by themselves.
      await place.start(members);
    },
  },
  'appliance stopped and started': {
    takes: 'place',
    async run({ members }, place) {
      await place.stop();
      await place.start(members);
    },
  },
  'worker killed': {
    takes: 'place',
    run: async ({ dice }, { daemon }) => void (daemon !== undefined && end(dice.pick(children(daemon.pid)))),
  },
  'etcd killed': killing(etcd),
  'follower killed': killing(follower),
  'token process killed': killing(tokenHost),
  'appliance frozen': freezing(''),
  'etcd frozen': freezing(etcd),
  'follower frozen': freezing(follower),
  'token process frozen': freezing(tokenHost),
  'etcd in jerks': {
    async run(_, place, forMs) {
      for (const endMs = performance.now() + forMs; performance.now() < endMs; await setTimeout(200)) await freeze(place, etcd, 200);
    },
  },
  'token away': {
    async run(_, place, forMs) {
      const bringBack = place.token.take();
      end(pidOf(place, tokenHost));
      await setTimeout(forMs);
      bringBack();
    },
  },
  'disk full': {
    async run(_, place, forMs) {
      const giveBack = place.fillDisk();
      await setTimeout(forMs);
      giveBack();
    },
  },
  'clock 90 s ahead': settingClock(90),
  'clock 200 s behind': settingClock(-200),
  'clock 20 min ahead': settingClock(1_200),
  'clock 20 min behind': settingClock(-1_200),
  'cut off from the others': { run: cutOff },
  'nothing is sent to the others': cutting((peers) => shapes.mute(peers)),
  'nothing is received from the others': cutting((peers) => shapes.deaf(peers)),
  'two cut from each other': cutting((_, drill, place) => shapes.cut(oneOther(drill, place))),
  'nothing is sent to one other': cutting((_, drill, place) => shapes.mute(oneOther(drill, place))),
  'peer ports cut': cutting((peers) => shapes.port(peers, peerPort)),
  'client ports cut': cutting((peers) => shapes.port(peers, clientPort)),
  'connections reset': cutting((peers) => shapes.refusing(peers)),
  'packets lost': cutting((peers, { dice }) => shapes.losing(peers, 5 + dice.below(40))),
  // Of a process that is killed meanwhile no caller would hear.
  'cut off with its callers': { ...cutting(() => shapes.dark()), takes: 'place' },
  'each cut off from each': {
    async run({ spaces, places }, _, forMs) {
      const healing = places.map(({ index }) => spaces.impose(index, shapes.cut(spaces.peersOf(index))));
      await setTimeout(forMs);
      for (const heal of healing) heal();
    },
  },
  'narrow and late': {
    async run({ spaces, dice }, { index }, forMs) {
      const widen = spaces.narrow(index, 300 + dice.below(2_000), 50 + dice.below(400));
      await setTimeout(forMs);
      widen();
    },
  },
  'late and uneven': {
    async run({ spaces, dice }, { index }, forMs) {
      const leastMs = 20 + dice.below(280);
      const heal = await spaces.delay(index, { leastMs, mostMs: leastMs + dice.below(120), ...drawLosses(dice) });
      await setTimeout(forMs);
      await heal();
    },
  },
  'wrapping key rotated': { run: rotateAmongFaults },
  'wrapping key rotated while one is away': { takes: 'calm', run: rotateWhileAway },
  'two of three killed': {
    takes: 'all',
    run: ({ members, places }, place, forMs) =>
      killTogether(
        members,
        places.filter((one) => one !== place),
        forMs,
      ),
  },
  'all killed': { takes: 'all', run: ({ members, places }, _, forMs) => killTogether(members, places, forMs) },
  'disk lost': {
    takes: 'calm',
    async run(drill, place) {
      await place.kill();
      place.loseDisk();
      await joinBy(drill, place);
    },
  },
  'replaced for ever': {
    takes: 'calm',
    async run(drill, place) {
      await place.kill();
      await untilDone(drill, place, 'POST', `${clusterState}/remove-member`, { member: place.name, 'even-if-alive': true });
      place.loseDisk();
      await place.replace();
      await joinBy(drill, place);
    },
  },
  'rolling update': { takes: 'calm', run: updateAll },
};

const withOwnTokens: Faults = {
  'token lost': {
    takes: 'calm',
    async run(drill, place) {
      await place.kill();
      await place.token.renew();
      const said = await place.startOnce(drill.members).then(
        (daemon) => daemon.kill().then(() => 'it served'),
        (error: unknown) => String(error),
      );
      if (!/^keystored: .*token/m.test(said))
        drill.losses.push(`${place.name} was started with a token that has none of its keys: ${said}`);
      place.loseDisk();
      await joinBy(drill, place);
    },
  },
};

/** What befalls appliances with such tokens. */
export const faultsOf = (tokens: TokenShape): Faults => (tokens === 'own' ? { ...always, ...withOwnTokens } : always);

/** Half of the lines are late only. */
function drawLosses(dice: Drill['dice']): { readonly lost?: number; readonly doubled?: number } {
  return dice.chance(0.5) ? {} : { lost: dice.next() * 0.02, doubled: dice.next() * 0.02 };
}

/** While it is, it acknowledges no change and, once its time to answer is over, no use (promise 4). */
async function cutOff({ spaces, losses }: Drill, place: Place, forMs: number): Promise<void> {
  const { daemon } = place;
  const heal = spaces.impose(place.index, shapes.cut(spaces.peersOf(place.index)));
  await setTimeout(Math.max(forMs, silentMs));
  const asked = [
    ask(place, 'PATCH', `${keys}/${usedKey}`, { labels: { at: place.name } }),
    ask(place, 'POST', encrypt(usedKey), { plaintext: '' }),
  ];
  const answers = await Promise.race([Promise.all(asked), setTimeout(5_000, [])]);
  heal();
  if (place.daemon !== daemon) return;
  for (const answer of answers)
    if (answer !== undefined && answer.status < 300) losses.push(`${place.name}, cut off, has answered ${answer.status} ${answer.text}`);
}

/** One after another is stopped and started with the next version, whose level all have then (promise 7). */
async function updateAll(drill: Drill): Promise<void> {
  const { members, places, path } = drill;
  const former = drill.level;
  drill.level += 1;
  const program = makeNextService(path(`version-${drill.level}`), drill.level);
  for (const place of places) {
    place.program = program;
    await place.stop();
    await place.start(members);
    await untilServing(drill);
    const { level } = await stateOf(place);
    if (place !== places.at(-1) && level !== former) drill.losses.push(`level ${level} while some are at the version of level ${former}`);
  }
  await until('the level of the new version', async () => (await stateOf(places[0] as Place)).level === drill.level);
  rmSync(path(`version-${former}`), { recursive: true, force: true });
}

async function stateOf(place: Place): Promise<{ readonly level: number }> {
  return (place.daemon === undefined ? undefined : await seenBy(place.daemon).catch(() => undefined)) ?? { level: 0 };
}

async function killTogether(members: OwnMembers, places: readonly Place[], forMs: number): Promise<void> {
  await Promise.all(places.map((place) => place.kill()));
  await setTimeout(forMs);
  await Promise.all(places.map((place) => place.start(members)));
}

/** By whichever of the others invites first. */
async function joinBy({ members, places, dice }: Drill, place: Place): Promise<void> {
  await until(`${place.name} is invited`, async () => {
    const inviting = dice.pick(places.filter((one) => one !== place)).daemon;
    return (
      inviting !== undefined &&
      (await place.join(members, inviting).then(
        () => true,
        () => false,
      ))
    );
  });
}

/** Asks the others until one has done it. */
async function untilDone({ places }: Drill, except: Place, method: string, path: string, body: unknown): Promise<void> {
  await until(`${method} ${path}`, async () => {
    for (const place of places) if (place !== except && ((await ask(place, method, path, body))?.status ?? 500) < 300) return true;
    return false;
  });
}

function oneOther({ spaces, places, dice }: Drill, place: Place): string {
  return `{ ${spaces.address(dice.pick(places.filter((one) => one !== place)).index)} }`;
}

/** 0, which is no process, where there is none. `word`: empty for the supervisor. */
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
