// What each action costs: the appliance, a bare HTTPS server and the raw token side by side, in short turns.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { drive, type Load } from './load.ts';
import { median } from './median.ts';
import { processorMicros, processTree } from './processor-time.ts';
import { rawOperations, rawRate, type RawOperation } from './raw-token.ts';

export type ActionsOptions = {
  readonly directory: string;
  /** the bare server, and its process */
  readonly echo: { readonly url: string; readonly pid: number };
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
};

const keys: Readonly<Record<string, string>> = {
  aes: 'aes256-gcm96',
  'ecdsa-p256': 'ecdsa-p256',
  ed25519: 'ed25519',
  'rsa-2048': 'rsa-2048',
  'rsa-4096': 'rsa-4096',
};

/** `items`: what one request asks of the token. */
type Row = { readonly name: string; readonly path: string; readonly body: string; readonly items: number };

/** What one round found: requests per second, processor time per request in microseconds, operations of the raw token per second. */
type Round = {
  readonly ours: Load;
  readonly echo: Load;
  readonly tokenRate: number;
  readonly workerMicros: number;
  readonly hostMicros: number;
  readonly echoMicros: number;
};

/** The engine compiles what it has seen run for a while. */
const warmUpSeconds = 8;

/**
 * The table. In every round the raw token, the bare server and the appliance have their turn one after another, and a ratio is made of
 * neighbours, so that what else the machine does falls on all alike; what is told are the medians. The first round warms up.
 */
export async function benchActions(options: ActionsOptions): Promise<string> {
  const hsm = await openHsm(testHsmConfig(await makeSoftToken(join(options.directory, 'raw'))));
  const lines = [...header(options)];
  try {
    for (const workers of [1, availableParallelism()]) {
      const daemon = await startDaemon({ directory: join(options.directory, `data-${workers}`), workers });
      try {
        for (const line of await benchDaemon(daemon, workers, hsm, options)) lines.push(line);
      } finally {
        await daemon.stop();
      }
    }
  } finally {
    await hsm.close();
  }
  return lines.join('\n');
}

async function benchDaemon(daemon: Daemon, workers: number, hsm: Hsm, options: ActionsOptions): Promise<readonly string[]> {
  const rows = await prepare(daemon);
  const operations = new Map((await rawOperations(hsm)).map((operation) => [operation.name, operation]));
  const tree = processTree(daemon.pid);
  const hosts = tree.filter(({ script }) => script.endsWith('hsm/host/host.ts')).map(({ pid }) => pid);
  const others = tree.map(({ pid }) => pid).filter((pid) => !hosts.includes(pid));
  const run = (row: Row, seconds: number): Promise<Load> =>
    drive({ url: `${daemon.url}${row.path}`, token: daemon.rootToken, body: row.body }, { ...options, seconds });
  const lines: string[] = [];
  if (rows[0] !== undefined) await run(rows[0], warmUpSeconds);
  for (const row of rows) {
    const found: Round[] = [];
    const operation = operations.get(row.name) as RawOperation;
    for (let round = 0; round <= options.rounds; round += 1) {
      const tokenRate = await rawRate(operation, { seconds: options.seconds, inFlight: options.connections });
      const echo = await measured([[options.echo.pid]], options, () => drive({ url: options.echo.url, body: row.body }, options));
      const ours = await measured([others, hosts], options, async () => {
        const load = await run(row, options.seconds);
        // Requests are answered in order: when this one is, all before it are.
        await daemon.request('POST', row.path, JSON.parse(row.body));
        return load;
      });
      if (ours.load.refused > 0) throw new Error(`${row.name}: ${ours.load.refused} requests were refused`);
      const [[echoMicros = 0], [workerMicros = 0, hostMicros = 0]] = [echo.micros, ours.micros];
      if (round > 0) found.push({ ours: ours.load, echo: echo.load, tokenRate, workerMicros, hostMicros, echoMicros });
    }
    lines.push(format(row, workers, found));
    console.log(lines.at(-1));
  }
  return lines;
}

/** A load, and the processor time that each of its requests took from each group of processes. */
async function measured(
  groups: readonly (readonly number[])[],
  { connections }: ActionsOptions,
  run: () => Promise<Load>,
): Promise<{ load: Load; micros: number[] }> {
  const before = groups.map(processorMicros);
  const load = await run();
  // When the time is up, each connection has a request under way that is served and not counted.
  const served = load.requests + connections;
  return { load, micros: groups.map((pids, at) => (processorMicros(pids) - (before[at] ?? 0)) / served) };
}

function header({ rounds, seconds, connections }: ActionsOptions): readonly string[] {
  return [
    `Medians of ${rounds} rounds of ${seconds} s, ${connections} keep-alive TLS 1.3 connections, 64 octets of payload, policy and durable audit on.`,
    'Rates fall when something else runs on the machine. The processor time of a request does less; its ratio is that of requests per second per core.',
    '',
    '| operation | workers | req/s | p50 ms | p99 ms | µs workers | µs token processes | echo req/s | echo µs | ours/echo by rate | by processor time | raw token/s | ours/token |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
  ];
}

function format({ name, items }: Row, workers: number, rounds: readonly Round[]): string {
  const middle = (value: (round: Round) => number, digits: number): string => median(rounds.map(value)).toFixed(digits);
  const cells = [
    items === 1 ? name : `${name}, batch of ${items} (items)`,
    workers,
    middle(({ ours }) => ours.perSecond * items, 0),
    middle(({ ours }) => ours.p50, 2),
    middle(({ ours }) => ours.p99, 2),
    middle(({ workerMicros }) => workerMicros / items, 1),
    middle(({ hostMicros }) => hostMicros / items, 1),
    middle(({ echo }) => echo.perSecond, 0),
    middle(({ echoMicros }) => echoMicros, 1),
    middle(({ ours, echo }) => ours.perSecond / echo.perSecond, 2),
    middle(({ workerMicros, hostMicros, echoMicros }) => echoMicros / (workerMicros + hostMicros), 2),
    middle(({ tokenRate }) => tokenRate, 0),
    middle(({ ours, tokenRate }) => (ours.perSecond * items) / tokenRate, 2),
  ];
  return `| ${cells.join(' | ')} |`;
}

async function prepare(daemon: Daemon): Promise<readonly Row[]> {
  for (const [name, cipher] of Object.entries(keys)) {
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
  }
  const data = Buffer.alloc(64, 7).toString('base64');
  const action = (name: string, verb: string): string => `/v1/state/keystore/transit-keys/${name}/${verb}`;
  const { ciphertext } = (await daemon.request('POST', action('aes', 'encrypt'), { plaintext: data })) as { ciphertext: string };
  const batch = { 'batch-input': Array.from({ length: 100 }, () => ({ plaintext: data })) };
  return [
    { name: 'encrypt', path: action('aes', 'encrypt'), body: JSON.stringify({ plaintext: data }), items: 1 },
    { name: 'encrypt', path: action('aes', 'encrypt'), body: JSON.stringify(batch), items: 100 },
    { name: 'decrypt', path: action('aes', 'decrypt'), body: JSON.stringify({ ciphertext }), items: 1 },
    { name: 'hmac', path: action('aes', 'hmac'), body: JSON.stringify({ plaintext: data }), items: 1 },
    ...['ecdsa-p256', 'ed25519', 'rsa-2048', 'rsa-4096'].map((name) => ({
      name: `sign ${name}`,
      path: action(name, 'sign'),
      body: JSON.stringify({ text: data }),
      items: 1,
    })),
  ];
}
