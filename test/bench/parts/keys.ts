// Use of many keys: requests that draw a key out of 10, 1,000 and 100,000, against requests that use one, in the same store.
import { join } from 'node:path';
import type { KeyUseRow } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Bench, type Part } from '../measure/bench.ts';
import { formatLoad, formatRatio, microsOf, summariseOwn } from '../measure/formats.ts';
import { drive, measureLoad, type MeasuredLoad, type Target } from '../measure/load.ts';
import { addKeys, manyKeysName } from '../measure/many-keys.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { actionsPath, startAppliance, type Appliance } from '../neighbours/appliance.ts';
import type { Group } from '../neighbours/contender.ts';
import { formatKeySteps, measureKeySteps } from './key-steps.ts';

const storedKeys = 100_000;
const used = [1, 10, 1_000, storedKeys] as const;
/** Numbers of keys of which the steps of a use are measured by themselves. */
const stepsOf = [1, 1_000, 30_000, storedKeys] as const;
const connections = 64;

/** Keys made a second, at least, when a store is filled, and uses a second before the rounds. */
export const filledPerSecond = 2_000;
const usedPerSecond = 2_000;
/** How often each key is used before the rounds: a worker keeps what it has used itself, and a request comes to any of them. */
const passes = 4;
/** Uses before the rounds, at most: a million keys are used once. */
const mostUses = 1_000_000;

export const keys: Part<'keys'> = {
  measures: 'encryption with a key drawn at random out of 10, 1,000 and 100,000, against one key',
  seconds: ({ rounds, seconds }) =>
    75 + storedKeys / filledPerSecond + secondsOfUses(storedKeys) + (rounds + 1) * used.length * (seconds + 0.15),
  async run(bench) {
    const directory = join(bench.directory, 'data');
    // Prepared with its approle, filled while it does not run, and started again.
    const prepared = await startAppliance({ directory });
    await prepared.stop();
    await addKeys(directory, storedKeys);
    const steps = await measureKeySteps(directory, stepsOf);
    const appliance = await startAppliance({ directory, workers: allWorkers });
    try {
      return { rows: [...(await measureUse(bench, appliance, used, storedKeys))], steps: [...steps] };
    } finally {
      await appliance.stop();
    }
  },
  format: ({ rows, steps }) => [...formatUse(rows), '', ...formatKeySteps(steps)],
};

/** How long the uses before the rounds take at most. */
export function secondsOfUses(stored: number): number {
  return usesBefore(stored) / usedPerSecond + 10;
}

function usesBefore(stored: number): number {
  return Math.max(stored, Math.min(passes * stored, mostUses));
}

/**
 * The rows of random use of the first keys of a store; the first of `used` is what the others are compared with. The last row is of first
 * uses, which come before all others.
 */
export async function measureUse(
  { directory, rounds, seconds }: Bench,
  appliance: Appliance,
  used: readonly number[],
  stored: number,
): Promise<readonly KeyUseRow[]> {
  const first = await useEach(directory, appliance, stored);
  const found = await inRounds(rounds, async () => {
    const turns: MeasuredLoad<Group>[] = [];
    for (const below of used) turns.push(await measureLoad(appliance, drawnTarget(appliance, below), { seconds, connections, directory }));
    return turns;
  });
  const of = (turns: readonly MeasuredLoad<Group>[], at: number): MeasuredLoad<Group> => turns[at] as MeasuredLoad<Group>;
  const row = (load: (turns: readonly MeasuredLoad<Group>[]) => MeasuredLoad<Group>) => ({
    appliance: summariseOwn(found.map(load)),
    rateToOne: medianOf(found, (turns) => load(turns).perSecond / of(turns, 0).perSecond),
    timeToOne: medianOf(found, (turns) => microsOf(of(turns, 0)) / microsOf(load(turns))),
  });
  return [
    ...used.map((many, at) => ({ ...{ used: many, stored }, ...row((turns) => of(turns, at)) })),
    { ...{ used: stored, stored, first: true as const }, ...row(() => first) },
  ];
}

/** Uses each key, one after another, and then again. Answers what first uses cost, when the code that they run is warm. */
async function useEach(directory: string, appliance: Appliance, stored: number): Promise<MeasuredLoad<Group>> {
  const turn = (from: number, seconds: number): readonly [Target, { seconds: number; connections: number; directory: string }] => [
    { ...drawnTarget(appliance, stored), numbered: { from: from % stored, end: stored } },
    { seconds, connections, directory },
  ];
  let done = (await drive(...turn(0, 2))).requests;
  const first = await measureLoad(appliance, ...turn(done, 3));
  for (done += first.requests; done < usesBefore(stored);) done += (await drive(...turn(done, 10))).requests;
  return first;
}

/** The table of such rows. */
export function formatUse(rows: readonly KeyUseRow[]): readonly string[] {
  return formatTable(
    ['encrypt with keys', 'of', '/s', 'p50 ms', 'p99 ms', 'µs', 'of them token', 'rate to one key', 'time of one key to this'],
    rows.map((row) => [
      ...[
        `${row.used}${row.first === true ? ', first use' : ''}`,
        row.stored,
        ...formatLoad(row.appliance),
        row.appliance.tokenMicros.toFixed(1),
      ],
      ...[formatRatio(row.rateToOne), formatRatio(row.timeToOne)],
    ]),
  );
}

/** All draw a number, also out of one, so that the load generator does the same for each. */
function drawnTarget({ daemon, targets, token }: Appliance, below: number): Target {
  return { url: `${daemon.url}${actionsPath}/${manyKeysName}/encrypt`, token, body: targets.encrypt.body, numbered: { below } };
}
