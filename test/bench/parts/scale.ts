// The same requests with 10 keys, with a million, and on a key with 10,000 versions; keys drawn at random; and how long a start takes.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyUseRow, Parts } from '../../../appliance/docs/performance/figures.ts';
import { type Bench, payload, type Part } from '../measure/bench.ts';
import { measureLoad } from '../measure/load.ts';
import { addDeepKey, addKeys } from '../measure/many-keys.ts';
import { formatTable, median, shareOf } from '../measure/rounds.ts';
import { actionsPath, startAppliance, type Appliance } from '../neighbours/appliance.ts';
import { filledPerSecond, formatUse, measureUse, secondsOfUses } from './keys.ts';
import { timeStart } from './start.ts';

const manyKeys = Number(process.env['BENCH_KEYS'] ?? 1_000_000);
const manyVersions = 10_000;
/** Out of how many keys requests draw theirs. */
const used = [...[1, 10, 1_000, 100_000].filter((count) => count < manyKeys), manyKeys];
/** One process may be a few percent quicker than another that does the same. */
const starts = 3;
const roundsOfStart = 4;
const connections = 4;

/** Appliances that run side by side. `same` is another one with 10 keys: what it differs by, this run cannot tell from nothing. */
const names = ['few', 'same', 'many'] as const;
type Name = (typeof names)[number];

/** One stream of requests. */
type Stream = { readonly name: string; readonly appliance: Name; readonly key: string; readonly verb: 'encrypt' | 'sign' };

const yardsticks: readonly Stream[] = [
  { name: '10 keys', appliance: 'few', key: 'aes', verb: 'encrypt' },
  { name: '10 keys', appliance: 'few', key: 'ecdsa-p256', verb: 'sign' },
];
/** What the rows of one key among many are called. */
export const amongMany = 'one of many keys';
const streams: readonly Stream[] = [
  ...yardsticks,
  { name: '10 keys, another appliance', appliance: 'same', key: 'aes', verb: 'encrypt' },
  { name: '10 keys, another appliance', appliance: 'same', key: 'ecdsa-p256', verb: 'sign' },
  { name: amongMany, appliance: 'many', key: 'aes', verb: 'encrypt' },
  { name: amongMany, appliance: 'many', key: 'ecdsa-p256', verb: 'sign' },
  { name: `the key has ${manyVersions} versions`, appliance: 'many', key: 'deep', verb: 'encrypt' },
];

type Found = { readonly rates: ReadonlyMap<Stream, number[]>; readonly startMs: number[]; use: readonly KeyUseRow[] };

/** All appliances are alive all the time; in every round each stream has its short turn, and is compared with its yardstick of the same round. */
export const scale: Part<'scale'> = {
  measures: `the same requests with 10 and with ${manyKeys} keys, on a key with ${manyVersions} versions, and with keys drawn at random`,
  onRequest: true,
  seconds: ({ rounds, seconds }) =>
    60 +
    manyKeys / filledPerSecond +
    secondsOfUses(manyKeys) +
    starts * (20 + (roundsOfStart + 1) * streams.length * (seconds + 0.15)) +
    (rounds + 1) * 5 * (seconds + 0.15),
  async run(bench) {
    const directoryOf = (name: Name): string => join(bench.directory, name);
    const few = await startAppliance({ directory: directoryOf('few') });
    await few.stop();
    await addKeys(directoryOf('few'), 6);
    for (const copy of ['same', 'many'] as const) {
      cpSync(directoryOf('few'), directoryOf(copy), { recursive: true, preserveTimestamps: true });
    }
    await addKeys(directoryOf('many'), manyKeys);
    await addDeepKey(directoryOf('many'), 'deep', manyVersions);
    const found: Found = { rates: new Map(streams.map((stream) => [stream, []])), startMs: [], use: [] };
    for (let start = 1; start <= starts; start += 1) await measureStart(bench, directoryOf, found, start === starts);
    return summarise(found);
  },
  format: ({ keys, startToSignatureMs, rows, use }) => [
    `${keys} keys: ${startToSignatureMs.toFixed(0)} ms from the start of the process to the first signature, the least of ${starts}.`,
    `Medians of ${starts} starts with ${roundsOfStart} interleaved rounds each, ${connections} connections; ratios are to 10 keys in the same round.`,
    '',
    ...formatTable(
      ['', 'action', '/s', 'ratio', 'half of the ratios'],
      rows.map(({ stream, verb, perSecond, ratio, quartiles }) => [
        ...[stream, verb, perSecond.toFixed(0), ratio.toFixed(3), quartiles.map((value) => value.toFixed(3)).join(' to ')],
      ]),
    ),
    '',
    ...formatUse(use),
  ],
};

async function measureStart(bench: Bench, directoryOf: (name: Name) => string, found: Found, isLast: boolean): Promise<void> {
  const appliances = new Map<Name, Appliance>();
  try {
    for (const name of names) {
      const directory = directoryOf(name);
      if (name === 'many') found.startMs.push((await timeStart(directory)).toSignatureMs);
      appliances.set(name, await startAppliance({ directory }));
    }
    // The first round warms up and does not count; every other one goes the other way round.
    for (let round = 0; round <= roundsOfStart; round += 1) {
      for (const stream of round % 2 === 0 ? streams : streams.toReversed()) {
        const rate = await rateOf(bench, appliances.get(stream.appliance) as Appliance, stream);
        if (round > 0) found.rates.get(stream)?.push(rate);
      }
    }
    if (isLast) found.use = await measureUse(bench, appliances.get('many') as Appliance, used, manyKeys);
  } finally {
    for (const appliance of appliances.values()) await appliance.stop();
  }
}

async function rateOf({ directory, seconds }: Bench, appliance: Appliance, { key, verb }: Stream): Promise<number> {
  const target = {
    url: `${appliance.daemon.url}${actionsPath}/${key}/${verb}`,
    token: appliance.token,
    body: JSON.stringify(verb === 'sign' ? { text: payload } : { plaintext: payload }),
  };
  return (await measureLoad(appliance, target, { seconds, connections, directory })).perSecond;
}

function summarise({ rates, startMs, use }: Found): Parts['scale'] {
  const rows = [...rates].map(([{ name, verb }, own]) => {
    const yardstick = rates.get(yardsticks.find((one) => one.verb === verb) as Stream) ?? [];
    const ratios = own.map((rate, round) => rate / (yardstick[round] ?? 0));
    const quartiles: [number, number] = [shareOf(ratios, 0.25), shareOf(ratios, 0.75)];
    return { stream: name, verb, perSecond: median(own), ratio: median(ratios), quartiles };
  });
  return { keys: manyKeys, startToSignatureMs: Math.min(...startMs), rows, use: [...use] };
}
