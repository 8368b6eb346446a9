// What the faults of a drill act on, and when its appliances serve again.
import { setTimeout } from 'node:timers/promises';
import type { Dice } from '../../fuzz/cases.ts';
import { type OwnMembers, seenBy } from '../own-members.ts';
import { encrypt, keys, usedKey } from './callers.ts';
import type { Spaces } from './network/spaces.ts';
import { ask, type Place } from './places.ts';
import type { TokenShape } from './tokens.ts';

export type Drill = {
  readonly members: OwnMembers;
  readonly places: readonly Place[];
  readonly spaces: Spaces;
  readonly tokens: TokenShape;
  readonly path: (...names: string[]) => string;
  readonly dice: Dice;
  readonly losses: string[];
  /** of the records, which every rolling update raises */
  level: number;
};

const settledMs = 900_000;
const againMs = 300;

/** Every appliance is in, uses a key and makes a change; every member of etcd counts. */
export async function untilServing({ places }: Pick<Drill, 'places'>): Promise<void> {
  for (const place of places) {
    let lacking: string | undefined;
    await until(
      () => `${place.name} serves, but ${lacking}`,
      async () => (lacking = await lackOf(place, places.length)) === undefined,
    );
  }
}

async function lackOf(place: Place, count: number): Promise<string | undefined> {
  const used = await ask(place, 'POST', encrypt(usedKey), { plaintext: '' });
  if (used?.status !== 200) return `a use is answered ${used?.status} ${used?.text}`;
  const changed = await ask(place, 'PATCH', `${keys}/${usedKey}`, { labels: { at: place.name } });
  if (changed === undefined || changed.status >= 300) return `a change is answered ${changed?.status} ${changed?.text}`;
  if (place.daemon === undefined) return 'it does not run';
  const state = await seenBy(place.daemon).catch(() => undefined);
  const isWhole =
    state?.members.filter((one) => one.state === 'in').length === count &&
    state.etcd.length === count &&
    state.etcd.every(({ problem, learner }) => problem === undefined && !learner);
  return isWhole ? undefined : `it sees ${JSON.stringify(state)}`;
}

/** Throws when it is not so for long. */
export async function until(what: string | (() => string), isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + settledMs; !(await isSo()); await setTimeout(againMs)) {
    if (performance.now() < endMs) continue;
    throw new Error(`not within ${settledMs / 60_000} minutes: ${typeof what === 'string' ? what : what()}`);
  }
}
