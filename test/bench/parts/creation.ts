// Creation of keys, against what the token needs for the same keys and against OpenBao.
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { bothHeads, formatBoth, formatRatio, microsOf, summariseBoth } from '../measure/formats.ts';
import { measureLoad, type MeasuredLoad, type Target } from '../measure/load.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import type { Contender, Group } from '../neighbours/contender.ts';
import { startPair } from '../neighbours/pair.ts';
import { openRawToken } from '../neighbours/raw-token.ts';

/** A way to create AES-256 keys. */
type Way = {
  readonly name: string;
  readonly connections: number;
  /** keys that one request makes */
  readonly keys: number;
  /** undefined where a contender has no such way */
  readonly target: (contender: Contender) => Target | undefined;
};

const ways: readonly Way[] = [
  { name: 'one by one', connections: 1, keys: 1, target: ({ creation }) => creation },
  { name: 'one by one', connections: 16, keys: 1, target: ({ creation }) => creation },
  { name: 'by the hundred', connections: 1, keys: 100, target: ({ bulkCreation }) => bulkCreation },
];

const briefSeconds = 0.2;
/** No two turns use the same names. */
const namesOfTurn = 1_000_000;

export const creation: Part<'creation'> = {
  measures: 'creation of AES-256 keys against the token and OpenBao',
  seconds: ({ rounds, seconds, openBao }) =>
    14 + (rounds + 1) * ways.length * ((openBao === undefined ? 1 : 2) * (seconds + 0.15) + briefSeconds),
  async run(bench) {
    const { directory, rounds, seconds } = bench;
    const token = await openRawToken(join(directory, 'raw'));
    const { appliance, openBao, stop } = await startPair(bench, directory, allWorkers);
    const rows: Parts['creation']['rows'][number][] = [];
    const tokenMicros: number[] = [];
    let turn = 0;
    try {
      for (const { name, connections, keys, target } of ways) {
        const measure = async (contender: Contender, at: number): Promise<MeasuredLoad<Group> | undefined> => {
          const wanted = target(contender);
          if (wanted === undefined) return undefined;
          const load = await measureLoad(
            contender,
            { ...wanted, numbered: { from: at * namesOfTurn } },
            { seconds, connections, directory },
          );
          const micros = { service: load.micros.service / keys, token: load.micros.token / keys };
          return { ...load, micros, perSecond: load.perSecond * keys };
        };
        const found = await inRounds(rounds, async () => {
          turn += 1;
          const raw = await token.measure('create key', briefSeconds);
          return { raw, appliance: await measure(appliance, turn), openBao: openBao && (await measure(openBao, turn)) };
        });
        const measured = found.flatMap(({ appliance: own, ...others }) => (own === undefined ? [] : [{ ...others, appliance: own }]));
        tokenMicros.push(...found.map(({ raw }) => raw.micros));
        if (measured.length === 0) continue;
        rows.push({
          ...{ way: name, connections, ...summariseBoth(measured) },
          tokenShare: medianOf(measured, ({ raw, appliance: own }) => raw.micros / microsOf(own)),
        });
      }
    } finally {
      token.stop();
      await stop();
    }
    return { token: { micros: medianOf(tokenMicros, (one) => one) }, rows };
  },
  format: ({ token, rows }) => [
    `The token alone takes ${token.micros.toFixed(0)} µs for an AES-256 key: two secrets, each made and wrapped. Rates and times are of keys.`,
    '',
    ...formatTable(
      ['creation', 'connections', ...bothHeads, 'token/ours'],
      rows.map((row) => [row.way, row.connections, ...formatBoth(row), formatRatio(row.tokenShare)]),
    ),
  ],
};
