// Starts the real daemon as a user does, on a data directory and ports of its own, and talks to it over TLS.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { endWithTests } from './children.ts';
import { type Answer, ask, type Asking } from './client.ts';
import { copyDirectory, madeOnce } from './once.ts';
import { patienceMs } from './patience.ts';
import { childrenOf } from './token/canaries.ts';
import { serviceUnderTest } from './service-program.ts';

const root = resolve(import.meta.dirname, '../..');

export type Daemon = {
  readonly url: string;
  readonly estUrl: string;
  readonly pid: number;
  readonly rootToken: string;
  readonly caPem: string;
  /** Sends a JSON request with the root token (or another) and answers the parsed body; throws on 4xx and 5xx. */
  request(method: string, path: string, body?: unknown, token?: string): Promise<unknown>;
  /** The same without throwing. Each request has a connection of its own, so that all workers get some. */
  exchange(method: string, path: string, body?: unknown, token?: string, headers?: Asking['headers']): Promise<Answer>;
  /** SIGTERM, and waits for the end; answers the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL to the daemon and everything it started. */
  kill(): Promise<void>;
  /** when it has ended, for whatever reason: its exit code */
  readonly ended: Promise<number | null>;
  output(): string;
};

export type DaemonOptions = {
  readonly directory: string;
  readonly workers?: number;
  /** of the management API; by default one that nobody listens on */
  readonly port?: number;
  readonly args?: readonly string[];
  /** beside the environment of this process */
  readonly environment?: Readonly<Record<string, string>>;
  /** kills the start after this time if it is not ready before */
  readonly abandonAfterMs?: number;
  /** what is started; by default what `serviceUnderTest` answers */
  readonly program?: string;
  /** Node.js that runs it and everything it starts; by default that of this process */
  readonly node?: string;
  /** for a daemon that restores a backup, which does not hold it */
  readonly rootToken?: string;
  /**
   * A directory that does not exist becomes a copy of one that a daemon has provisioned: same token, root token and CA in all tests. With
   * `firstStart`, and where `args` are given, the daemon provisions it.
   */
  readonly firstStart?: boolean;
  /** words before the command, of a program that watches it and ends after it */
  readonly under?: readonly string[];
  /** words before the command, of a program that becomes it: `ip netns exec NAME` */
  readonly within?: readonly string[];
  /** where it listens and is asked; default: loopback */
  readonly address?: string;
};

/** Resolves once the daemon has printed its ready line; rejects with what it printed when it ends before. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { directory, firstStart = options.args !== undefined } = options;
  if (!firstStart && !existsSync(directory)) copyDirectory(await madeOnce('provisioned', provision), directory);
  const [port, estPort] = [options.port ?? (await freePort()), await freePort()];
  const { under = [], within = [], address = '127.0.0.1' } = options;
  const program = options.program ?? (await serviceUnderTest());
  const [command, ...words] = [...under, ...within, options.node ?? process.execPath] as const;
  const child = spawn(
    command,
    [
      ...words,
      program,
      ...['--data', directory, '--listen', `${address}:${port}`, '--est-listen', `${address}:${estPort}`],
      ...['--workers', String(options.workers ?? 1)],
      ...(options.args ?? []),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env, ...options.environment },
      detached: true,
    },
  );
  endWithTests(child);
  const output: string[] = [];
  const pid = child.pid as number;
  const kill = (): void => void (under.length === 0 ? process.kill(-pid, 'SIGKILL') : killBelow(pid));
  const abandon = setTimeout(kill, options.abandonAfterMs ?? patienceMs);
  await untilReady(child, output).finally(() => clearTimeout(abandon));
  const caPem = readFileSync(join(directory, 'tls/ca.pem'), 'utf8');
  const rootToken = options.rootToken ?? readFileSync(join(directory, 'root-token'), 'utf8').trim();
  const url = `https://${address}:${port}`;
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));

  const exchange: Daemon['exchange'] = async (method, path, body, token = rootToken, headers = {}) => {
    try {
      return await ask(url, path, { method, body, token, ca: caPem, headers });
    } catch (error) {
      // The code of the error stays as it is: tests wait for some.
      (error as Error).message += ` (${method} ${path}; the daemon has said: ${output.join('').slice(-2_000)})`;
      throw error;
    }
  };
  return {
    url,
    estUrl: `https://${address}:${estPort}`,
    pid,
    rootToken,
    caPem,
    exchange,
    async request(method, path, body, token) {
      const answer = await exchange(method, path, body, token);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      kill();
      await ended;
    },
    ended,
    output: () => output.join(''),
  };
}

/** The same, but undefined for a start that `abandonAfterMs` killed before it was ready. */
export async function startUnlessAbandoned(options: DaemonOptions): Promise<Daemon | undefined> {
  try {
    return await startDaemon(options);
  } catch (error) {
    if (options.abandonAfterMs !== undefined && String(error).includes('ended with SIGKILL')) return undefined;
    throw error;
  }
}

/** Everything that a process has started, parents first, so that nothing is started again. */
function killBelow(pid: number): void {
  const below = (parent: number): readonly number[] => childrenOf(parent).flatMap((child) => [child, ...below(child)]);
  for (const one of below(pid)) process.kill(one, 'SIGKILL');
}

async function provision(directory: string): Promise<void> {
  const daemon = await startDaemon({ directory, firstStart: true });
  const code = await daemon.stop();
  if (code !== 0) throw new Error(`the daemon that provisions ended with ${code}:\n${daemon.output()}`);
}

function untilReady(child: ChildProcess, output: string[]): Promise<void> {
  return new Promise((done, fail) => {
    const collect = (chunk: Buffer): void => {
      output.push(chunk.toString());
      if (output.join('').includes('ready https://')) done();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('exit', (code, signal) => fail(new Error(`the daemon ended with ${signal ?? code}:\n${output.join('')}`)));
  });
}

const portsPerWorker = 3_000;
const firstPort = 20_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 4) * portsPerWorker;
let nextPort = randomInt(portsPerWorker);

/**
 * A port nobody listens on now, below those the kernel gives to outgoing connections: one of these could take it before it is used.
 * Test files that run at the same time have ports of their own, and no port is given twice: it is used only a while after this.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + (nextPort++ % portsPerWorker);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens on a port of the loopback address. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
