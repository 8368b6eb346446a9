// Use of many keys: requests that draw a key out of 10, 1,000 and 100,000, against requests that use one, in the same store.
import { join } from 'node:path';
import type { KeyUseRow } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Bench, type Part } from '../measure/bench.ts';
import { formatLoad, formatRatio, microsOf, summariseOwn } from '../measure/formats.ts';
import { measureLoad, type MeasuredLoad, type Target } from '../measure/load.ts';
import { addKeys, manyKeysName } from '../measure/many-keys.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { actionsPath, startAppliance, type Appliance } from '../neighbours/appliance.ts';
import type { Group } from '../neighbours/contender.ts';

const storedKeys = 100_000;
const used = [1, 10, 1_000, storedKeys] as const;
const connections = 64;

/** Keys made a second, at least, when a store is filled. */
export const filledPerSecond = 2_000;

export const keys: Part<'keys'> = {
  measures: 'encryption with a key drawn at random out of 10, 1,000 and 100,000, against one key',
  seconds: ({ rounds, seconds }) => 15 + storedKeys / filledPerSecond + (rounds + 1) * used.length * (seconds + 0.15),
  async run(bench) {
    const directory = join(bench.directory, 'data');
    // Prepared with its approle, filled while it does not run, and started again.
    const prepared = await startAppliance({ directory });
    await prepared.stop();
    await addKeys(directory, storedKeys);
    const appliance = await startAppliance({ directory, workers: allWorkers });
    try {
      return { rows: [...(await measureUse(bench, appliance, used, storedKeys))] };
    } finally {
      await appliance.stop();
    }
  },
  format: ({ rows }) => formatUse(rows),
};

/** The rows of random use of the first keys of a store; the first of `used` is what the others are compared with. */
export async function measureUse(
  { directory, rounds, seconds }: Bench,
  appliance: Appliance,
  used: readonly number[],
  stored: number,
): Promise<readonly KeyUseRow[]> {
  const found = await inRounds(rounds, async () => {
    const turns: MeasuredLoad<Group>[] = [];
    for (const below of used) turns.push(await measureLoad(appliance, drawnTarget(appliance, below), { seconds, connections, directory }));
    return turns;
  });
  const of = (turns: readonly MeasuredLoad<Group>[], at: number): MeasuredLoad<Group> => turns[at] as MeasuredLoad<Group>;
  return used.map((many, at) => ({
    ...{ used: many, stored },
    appliance: summariseOwn(found.map((turns) => of(turns, at))),
    rateToOne: medianOf(found, (turns) => of(turns, at).perSecond / of(turns, 0).perSecond),
    timeToOne: medianOf(found, (turns) => microsOf(of(turns, 0)) / microsOf(of(turns, at))),
  }));
}

/** The table of such rows. */
export function formatUse(rows: readonly KeyUseRow[]): readonly string[] {
  return formatTable(
    ['encrypt with keys', 'of', '/s', 'p50 ms', 'p99 ms', 'µs', 'of them token', 'rate to one key', 'time of one key to this'],
    rows.map((row) => [
      ...[row.used, row.stored, ...formatLoad(row.appliance), row.appliance.tokenMicros.toFixed(1)],
      ...[formatRatio(row.rateToOne), formatRatio(row.timeToOne)],
    ]),
  );
}

/** All draw a number, also out of one, so that the load generator does the same for each. */
function drawnTarget({ daemon, targets, token }: Appliance, below: number): Target {
  return { url: `${daemon.url}${actionsPath}/${manyKeysName}/encrypt`, token, body: targets.encrypt.body, numbered: { below } };
}
