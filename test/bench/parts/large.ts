// How long small requests wait while large ones are served, by kind of large request, in one run.
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { payload, type Part } from '../measure/bench.ts';
import { drive } from '../measure/load.ts';
import { formatTable, median, shareOf } from '../measure/rounds.ts';
import { actionsPath as state, keysPath } from '../neighbours/appliance.ts';
import type { Hold } from '../processes/loop-hold.ts';

/** A large request, sent again and again by one client that rests in between, so that what is seen is waiting and not a full machine. */
type Stream = { readonly name: string; readonly path: string; readonly body: string };

/** Longer than other turns: holds are found in quarters of a second. */
const turnSeconds = 2;
const none = 'none';
const pauseMs = 30;
const smallConnections = 2;
const two = Buffer.alloc(2 * 1024 * 1024, 7).toString('base64');
/** as much as a body of 4 MiB can carry */
const three = Buffer.alloc(3 * 1024 * 1024 - 3_000, 7).toString('base64');
const small = JSON.stringify({ plaintext: payload });

export const large: Part<'large'> = {
  measures: 'how long small requests wait beside large ones, and how long these hold the event loops',
  seconds: ({ rounds, seconds }) => 8 + rounds * 8 * (turnSeconds * seconds + 0.3),
  async run({ directory, rounds, seconds }) {
    const holdFile = join(directory, 'holds');
    const preload = `--import=${pathToFileURL(join(import.meta.dirname, '../processes/loop-hold.ts')).href}`;
    const daemon = await startDaemon({
      directory: join(directory, 'data'),
      environment: { NODE_OPTIONS: preload, BENCH_LOOP_HOLDS: holdFile },
    });
    try {
      const streams = await prepare(daemon);
      const phases = new Map<string, Phase[]>([none, ...streams.map(({ name }) => name)].map((name) => [name, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const stream of [undefined, ...streams]) {
          phases.get(stream?.name ?? none)?.push(await measure(daemon, stream, turnSeconds * seconds, directory, holdFile));
        }
      }
      return { rows: [...phases].map(([name, measured]) => summarise(name, measured)) };
    } finally {
      await daemon.stop();
    }
  },
  format: ({ rows }) => {
    const quiet = rows.find((row) => row.large === none)?.small;
    return [
      'Small requests beside large ones, one worker, medians of the rounds; "/none" is the ratio to no large requests.',
      '',
      ...formatTable(
        ['large requests', 'per second', 'small p50 ms', '/none', 'p99 ms', '/none', 'max ms', '/none', 'worker held ms', 'host held ms'],
        rows.map(({ large: name, perSecond, small: latency, workerHeldMs, hostHeldMs }) => [
          ...[name, perSecond.toFixed(1)],
          ...(['p50Ms', 'p99Ms', 'maxMs'] as const).flatMap((field) => [
            latency[field].toFixed(2),
            (latency[field] / (quiet?.[field] ?? 0)).toFixed(2),
          ]),
          ...[workerHeldMs, hostHeldMs].map((held) => `${held.median.toFixed(1)} (${held.worst.toFixed(1)})`),
        ]),
      ),
      '',
      'Held: the longest hold of the event loop in a quarter of a second, in processor time of its thread; median (worst).',
    ];
  },
};

async function prepare(daemon: Daemon): Promise<readonly Stream[]> {
  for (const [name, cipher] of Object.entries({ aes: 'aes256-gcm96', p256: 'ecdsa-p256', ed25519: 'ed25519' })) {
    await daemon.request('POST', keysPath, { name, cipher });
  }
  const { ciphertext } = (await daemon.request('POST', `${state}/aes/encrypt`, { plaintext: two })) as { ciphertext: string };
  const { signature } = (await daemon.request('POST', `${state}/p256/sign`, { text: three })) as { signature: string };
  const batch = Array.from({ length: 1_000 }, () => JSON.parse(small) as object);
  const stream = (name: string, action: string, body: object): Stream => ({
    name,
    path: `${state}/${action}`,
    body: JSON.stringify(body),
  });
  return [
    stream('encrypt 2 MiB', 'aes/encrypt', { plaintext: two }),
    stream('decrypt 2 MiB', 'aes/decrypt', { ciphertext }),
    stream('hmac 3 MiB', 'aes/hmac', { plaintext: three }),
    stream('sign ecdsa-p256 3 MiB, sha512', 'p256/sign', { text: three, 'hash-algorithm': 'sha512' }),
    stream('sign ed25519 3 MiB', 'ed25519/sign', { text: three }),
    stream('verify ecdsa-p256 3 MiB', 'p256/verify', { text: three, signature }),
    stream('encrypt, batch of 1,000', 'aes/encrypt', { 'batch-input': batch }),
  ];
}

type Phase = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** of each quarter of a second the longest hold */
  readonly workerHeld: readonly number[];
  readonly hostHeld: readonly number[];
  readonly perSecond: number;
};

async function measure(daemon: Daemon, stream: Stream | undefined, seconds: number, directory: string, holdFile: string): Promise<Phase> {
  const begun = Date.now();
  const [latencies, load] = await Promise.all([
    smallLatencies(daemon, seconds),
    stream === undefined
      ? undefined
      : drive(
          { url: `${daemon.url}${stream.path}`, token: daemon.rootToken, body: stream.body, pauseMs },
          { seconds, connections: 1, directory },
        ),
  ]);
  if (load !== undefined && load.refused > 0) throw new Error(`${stream?.name}: ${load.refused} requests were refused`);
  const windows = readFileSync(holdFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Hold)
    .filter(({ at }) => at > begun + 500 && at < begun + seconds * 1000);
  const held = (role: string): number[] => windows.filter((one) => one.role === role).map(({ ms }) => ms);
  return {
    ...{ p50Ms: median(latencies), p99Ms: shareOf(latencies, 0.99), maxMs: Math.max(...latencies) },
    ...{ workerHeld: held('worker'), hostHeld: held('host'), perSecond: load?.perSecond ?? 0 },
  };
}

/** Milliseconds of every small request in the time; each connection sends one after another. */
async function smallLatencies(daemon: Daemon, seconds: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: smallConnections, ca: daemon.caPem });
  const end = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      const sent = performance.now();
      await encryptSmall(daemon, agent);
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: smallConnections }, loop));
  agent.destroy();
  return latencies;
}

function encryptSmall(daemon: Daemon, agent: Agent): Promise<void> {
  const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json', 'content-length': small.length };
  return new Promise((resolve, reject) => {
    httpsRequest(`${daemon.url}${state}/aes/encrypt`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`))));
    })
      .once('error', reject)
      .end(small);
  });
}

function summarise(name: string, phases: readonly Phase[]): Parts['large']['rows'][number] {
  const middle = (field: 'perSecond' | 'p50Ms' | 'p99Ms' | 'maxMs'): number => median(phases.map((phase) => phase[field]));
  const held = (field: 'workerHeld' | 'hostHeld') => {
    const holds = phases.flatMap((phase) => phase[field]);
    return { median: median(holds), worst: Math.max(0, ...holds) };
  };
  return {
    ...{ large: name, perSecond: middle('perSecond') },
    small: { p50Ms: middle('p50Ms'), p99Ms: middle('p99Ms'), maxMs: middle('maxMs') },
    ...{ workerHeldMs: held('workerHeld'), hostHeldMs: held('hostHeld') },
  };
}
