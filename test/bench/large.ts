// npm run bench -- large: how long small requests wait while large ones are served, by kind of large request, in one run.
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { drive } from './load.ts';
import type { Hold } from './loop-hold.ts';
import { median } from './median.ts';

export type LargeOptions = { readonly directory: string; readonly rounds: number; readonly seconds: number };

/** A large request, sent again and again by one client that rests in between, so that what is seen is waiting and not a full machine. */
type Stream = { readonly name: string; readonly path: string; readonly body: string };

const pauseMs = 30;
const smallConnections = 2;
const state = '/v1/state/keystore/transit-keys';
const two = Buffer.alloc(2 * 1024 * 1024, 7).toString('base64');
/** as much as a body of 4 MiB can carry */
const three = Buffer.alloc(3 * 1024 * 1024 - 3_000, 7).toString('base64');
const small = JSON.stringify({ plaintext: Buffer.alloc(64, 7).toString('base64') });

/** The table: latencies of small requests, and the longest time the loops of worker and HSM host were held, median of the rounds. */
export async function benchLarge({ directory, rounds, seconds }: LargeOptions): Promise<string> {
  const holdFile = join(directory, 'holds');
  const preload = `--import=${pathToFileURL(join(import.meta.dirname, 'loop-hold.ts')).href}`;
  const daemon = await startDaemon({
    directory: join(directory, 'large'),
    environment: { NODE_OPTIONS: preload, BENCH_LOOP_HOLDS: holdFile },
  });
  try {
    const streams = await prepare(daemon);
    const phases = new Map<string, Phase[]>(['none', ...streams.map(({ name }) => name)].map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const stream of [undefined, ...streams]) {
        phases.get(stream?.name ?? 'none')?.push(await measure(daemon, stream, seconds, directory, holdFile));
      }
    }
    return table(phases, rounds, seconds);
  } finally {
    await daemon.stop();
  }
}

async function prepare(daemon: Daemon): Promise<readonly Stream[]> {
  for (const [name, cipher] of Object.entries({ aes: 'aes256-gcm96', p256: 'ecdsa-p256', ed25519: 'ed25519' })) {
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
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
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
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
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    ...{ p50: at(0.5), p99: at(0.99), max: at(1) },
    ...{ workerHeld: held('worker'), hostHeld: held('host'), perSecond: load?.perSecond ?? 0 },
  };
}

/** Milliseconds of every small request in the time, sorted; each connection sends one after another. */
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
  return latencies.sort((a, b) => a - b);
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

function table(phases: ReadonlyMap<string, readonly Phase[]>, rounds: number, seconds: number): string {
  const quiet = phases.get('none') ?? [];
  const rows = [...phases].map(([name, measured]) => {
    const of = (field: 'perSecond' | 'p50' | 'p99' | 'max', among = measured): number => median(among.map((phase) => phase[field]));
    const cells = [of('perSecond').toFixed(1)];
    for (const field of ['p50', 'p99', 'max'] as const) cells.push(of(field).toFixed(2), (of(field) / of(field, quiet)).toFixed(2));
    for (const field of ['workerHeld', 'hostHeld'] as const) {
      const holds = measured.flatMap((phase) => phase[field]);
      cells.push(`${median(holds).toFixed(1)} (${Math.max(0, ...holds).toFixed(1)})`);
    }
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [
    `Small requests beside large ones, one worker, ${rounds} rounds of ${seconds} s each, medians; "/none" is the ratio to no large requests.`,
    '',
    '| large requests | per second | small p50 ms | /none | p99 ms | /none | max ms | /none | worker held ms | host held ms |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    'Held: the longest hold of the event loop in a quarter of a second, in processor time of its thread; median (worst).',
  ].join('\n');
}
