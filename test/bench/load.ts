// Drives one HTTPS endpoint with wrk and reads its figures back.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Target = {
  readonly url: string;
  readonly token?: string;
  readonly body: string;
  /** over `Content-Type: application/json` */
  readonly headers?: Readonly<Record<string, string>>;
  /** rest of each connection before a request, milliseconds; default none */
  readonly pauseMs?: number;
};

/** Requests answered, their rate per second, latencies in milliseconds, and how many were refused. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
};

/** One measured stretch: `connections` keep-alive connections from one wrk thread. */
export async function drive(target: Target, options: { seconds: number; connections: number; directory: string }): Promise<Load> {
  const script = join(options.directory, 'wrk.lua');
  writeFileSync(
    script,
    [
      'wrk.method = "POST"',
      `wrk.body = ${luaString(target.body)}`,
      ...Object.entries({ 'Content-Type': 'application/json', ...target.headers }).map(
        ([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`,
      ),
      target.token === undefined ? '' : `wrk.headers["Authorization"] = ${luaString(`Bearer ${target.token}`)}`,
      target.pauseMs === undefined ? '' : `delay = function() return ${target.pauseMs} end`,
      'done = function(summary, latency, requests)',
      '  io.write(string.format("RESULT %d %d %f %f %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status + summary.errors.read + summary.errors.connect + summary.errors.timeout))',
      'end',
    ].join('\n'),
  );
  const output = await run('wrk', ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '-s', script, target.url]);
  const [requests, micros, p50, p99, refused] = (/RESULT (\d+) (\d+) (\S+) (\S+) (\d+)/.exec(output)?.slice(1) ?? []).map(Number);
  if (requests === undefined || micros === undefined) throw new Error(`wrk gave no result:\n${output}`);
  return { requests, perSecond: requests / (micros / 1e6), p50: (p50 ?? 0) / 1000, p99: (p99 ?? 0) / 1000, refused: refused ?? 0 };
}

function luaString(text: string): string {
  return JSON.stringify(text).replaceAll('\\/', '/');
}

function run(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(output))));
  });
}
