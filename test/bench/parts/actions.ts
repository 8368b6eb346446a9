// Each action: the appliance, OpenBao, a bare HTTPS server, the raw token and the disk, in neighbouring turns.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionRow } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Bench, type Part } from '../measure/bench.ts';
import { bothHeads, formatBoth, formatLoad, formatRatio, microsOf, summarise, summariseBoth } from '../measure/formats.ts';
import { measureLoad, type MeasuredLoad } from '../measure/load.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { startEcho, type BareServer } from '../neighbours/bare-servers.ts';
import { itemsOf, operations, type Group, type Operation } from '../neighbours/contender.ts';
import { type DiskLatency, measureDisk } from '../neighbours/disk.ts';
import { type Pair, startPair } from '../neighbours/pair.ts';
import { openRawToken, rawOperationOf, type RawToken } from '../neighbours/raw-token.ts';
import type { TokenCost } from '../processes/token-calls.ts';

/** An appliance that has all cores is compared with OpenBao, one with a single worker with the bare server, which is one process, too. */
const settings: readonly { readonly workers: number; readonly connections: readonly number[]; readonly withOpenBao: boolean }[] = [
  { workers: allWorkers, connections: [1, 16, 64], withOpenBao: true },
  { workers: 1, connections: [64], withOpenBao: false },
];

/** The engines compile what they have seen run for a while. */
const warmUpSeconds = 6;
/** of the raw token and the disk, which need no warm-up and no connections */
const briefSeconds = 0.2;

export const actions: Part<'actions'> = {
  measures: 'each action against OpenBao, a bare HTTPS server, the raw token and the disk, at 1, 16 and 64 connections',
  seconds: ({ rounds, seconds, openBao }) =>
    settings.reduce((sum, { connections, withOpenBao }) => {
      const servers = withOpenBao && openBao !== undefined ? 3 : 2;
      const turns = servers * (seconds + 0.15) + 2 * briefSeconds;
      return sum + 8 + servers * warmUpSeconds + connections.length * operations.length * (rounds + 1) * turns;
    }, 0),
  async run(bench) {
    const token = await openRawToken(join(bench.directory, 'raw'));
    const rows: ActionRow[] = [];
    let auditRecordOctets = 0;
    try {
      for (const { workers, connections, withOpenBao } of settings) {
        const directory = join(bench.directory, `workers-${workers}-${connections.join('-')}`);
        const neighbours = await startNeighbours(bench, directory, workers, withOpenBao);
        try {
          auditRecordOctets = lastAuditRecord(join(directory, 'data'));
          for (const many of connections) {
            for (const operation of operations) {
              rows.push(await measureRow(bench, { ...neighbours, token, auditRecordOctets }, { operation, connections: many, workers }));
              console.log(formatRow(rows.at(-1) as ActionRow).join(' | '));
            }
          }
        } finally {
          await neighbours.stop();
        }
      }
    } finally {
      token.stop();
    }
    return { auditRecordOctets, rows };
  },
  format: ({ auditRecordOctets, rows }) => [
    `Policy and durable audit on (a record of ${auditRecordOctets} octets), TLS 1.3, 64 octets of payload; rates and times of requests; µs are processor time of all processes.`,
    '',
    ...formatTable(heads, rows.map(formatRow)),
  ],
};

type Neighbours = Pair & { readonly echo: BareServer };

async function startNeighbours({ openBao, directory: scratch }: Bench, directory: string, workers: number, withOpenBao: boolean) {
  const echo = await startEcho(scratch);
  const pair = await startPair({ openBao: withOpenBao ? openBao : undefined }, directory, workers);
  const options = { seconds: warmUpSeconds, connections: 64, directory: scratch };
  for (const contender of [pair.appliance, pair.openBao]) {
    if (contender !== undefined) await measureLoad(contender, contender.targets.encrypt, options);
  }
  const stop = async (): Promise<void> => {
    await pair.stop();
    echo.stop();
  };
  return { ...pair, echo, stop };
}

type Turns = {
  readonly appliance: MeasuredLoad<Group>;
  readonly openBao: MeasuredLoad<Group> | undefined;
  readonly echo: MeasuredLoad<'service'>;
  readonly token: TokenCost;
  readonly disk: DiskLatency;
};

type Subject = { readonly operation: Operation; readonly connections: number; readonly workers: number };

async function measureRow(
  { directory, rounds, seconds }: Bench,
  {
    appliance,
    openBao,
    echo,
    token,
    auditRecordOctets,
  }: Omit<Neighbours, 'stop'> & { readonly token: RawToken; readonly auditRecordOctets: number },
  { operation, connections, workers }: Subject,
): Promise<ActionRow> {
  const options = { seconds, connections, directory };
  const target = appliance.targets[operation];
  const items = itemsOf(operation);
  const found = await inRounds(rounds, async (): Promise<Turns> => ({
    token: await token.measure(rawOperationOf(operation), briefSeconds),
    disk: measureDisk(directory, auditRecordOctets, briefSeconds),
    echo: await measureLoad(echo, { url: echo.url, body: target.body }, options),
    appliance: await measureLoad(appliance, target, options),
    openBao: openBao && (await measureLoad(openBao, openBao.targets[operation], options)),
  }));
  const middle = (value: (turns: Turns) => number): number => medianOf(found, value);
  return {
    ...{ operation, items, connections, workers },
    ...summariseBoth(found),
    echo: summarise(found.map((turns) => turns.echo)),
    token: { micros: middle((turns) => turns.token.micros), p50Ms: middle((turns) => turns.token.p50) },
    disk: { p50Ms: middle((turns) => turns.disk.p50), p99Ms: middle((turns) => turns.disk.p99) },
    echoShare: middle((turns) => microsOf(turns.echo) / microsOf(turns.appliance)),
    tokenShare: middle((turns) => (turns.token.micros * items) / microsOf(turns.appliance)),
    latencyToFloor: middle((turns) => turns.appliance.p50 / (turns.echo.p50 + turns.disk.p50 + turns.token.p50 * items)),
  };
}

/** Length of the newest line of the audit trail: that of an encryption, which was the last request. */
function lastAuditRecord(data: string): number {
  const lines = globSync(join(data, 'audit/*')).flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'));
  return Math.max(...lines.filter((line) => line.includes('/aes/encrypt')).map((line) => Buffer.byteLength(line) + 1));
}

const heads = [
  ...['operation', 'connections', 'workers', ...bothHeads],
  ...[
    'echo /s',
    'p50 ms',
    'p99 ms',
    'µs',
    'echo/ours',
    'raw token µs',
    'token/ours',
    'disk p50 ms',
    'p99 ms',
    'p50 to echo + disk + token',
  ],
];

function formatRow(row: ActionRow): readonly string[] {
  const { token, disk } = row;
  return [
    ...[row.operation, String(row.connections), String(row.workers), ...formatBoth(row)],
    ...[...formatLoad(row.echo), formatRatio(row.echoShare), (token.micros * row.items).toFixed(1), formatRatio(row.tokenShare)],
    ...[disk.p50Ms.toFixed(2), disk.p99Ms.toFixed(2), formatRatio(row.latencyToFloor)],
  ];
}
