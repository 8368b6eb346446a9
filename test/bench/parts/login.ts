// Logins of an approle, the appliance and OpenBao in neighbouring turns.
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { bothHeads, formatBoth, summariseBoth } from '../measure/formats.ts';
import { measureLoad } from '../measure/load.ts';
import { formatTable, inRounds } from '../measure/rounds.ts';
import { startPair } from '../neighbours/pair.ts';

const connections = [1, 64] as const;

export const login: Part<'login'> = {
  measures: 'approle logins against OpenBao',
  seconds: ({ rounds, seconds, openBao }) => 12 + connections.length * (rounds + 1) * (openBao === undefined ? 1 : 2) * (seconds + 0.15),
  async run(bench) {
    const { directory, rounds, seconds } = bench;
    const { appliance, openBao, stop } = await startPair(bench, directory, allWorkers);
    const rows: Parts['login']['rows'][number][] = [];
    try {
      for (const many of connections) {
        const options = { seconds, connections: many, directory };
        const found = await inRounds(rounds, async () => ({
          appliance: await measureLoad(appliance, appliance.login, options),
          openBao: openBao && (await measureLoad(openBao, openBao.login, options)),
        }));
        rows.push({ connections: many, ...summariseBoth(found) });
      }
    } finally {
      await stop();
    }
    return { rows };
  },
  format: ({ rows }) =>
    formatTable(
      ['approle login, connections', ...bothHeads],
      rows.map((row) => [row.connections, ...formatBoth(row)]),
    ),
};
