// Drives one HTTPS endpoint with wrk and reads its figures back, with the processor time that the driven processes took.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceLoad } from '../processes/devices.ts';
import { processorMicros } from './processes.ts';

export type Target = {
  readonly url: string;
  readonly token?: string;
  readonly body: string;
  /** bodies of successive requests instead, over and over */
  readonly bodies?: readonly string[];
  /** over `Content-Type: application/json` */
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of a client certificate; the load then comes from processes/devices.ts, since wrk shows none */
  readonly identity?: DeviceLoad['identity'];
  /** rest of each connection before a request, milliseconds; default none */
  readonly pauseMs?: number;
  /** `{n}` in path and body is a number for each request: counted up from `from`, beginning again at `end`, or drawn from those below `below` */
  readonly numbered?: { readonly from: number; readonly end?: number } | { readonly below: number };
};

/** Requests answered, their rate per second, latencies in milliseconds, and how many were refused. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
};

export type LoadOptions = { readonly seconds: number; readonly connections: number; readonly directory: string };

/** One measured stretch: `connections` keep-alive connections from one wrk thread, or from one process of devices. */
export async function drive(target: Target, options: LoadOptions): Promise<Load> {
  const { identity } = target;
  const output = await (identity === undefined ? driveByWrk(target, options) : driveByDevices(target, identity, options));
  const [requests, micros, p50, p99, refused] = (/RESULT (\d+) (\d+) (\S+) (\S+) (\d+)/.exec(output)?.slice(1) ?? []).map(Number);
  if (requests === undefined || micros === undefined) throw new Error(`the load gave no result:\n${output}`);
  return { requests, perSecond: requests / (micros / 1e6), p50: (p50 ?? 0) / 1000, p99: (p99 ?? 0) / 1000, refused: refused ?? 0 };
}

function driveByWrk(target: Target, { seconds, connections, directory }: LoadOptions): Promise<string> {
  const script = join(directory, 'wrk.lua');
  writeFileSync(script, formatScript(target));
  const lengths = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s'];
  return run('wrk', [...lengths, '-s', script, target.url.replace('{n}', '0')]);
}

function driveByDevices({ url, body, headers = {} }: Target, identity: DeviceLoad['identity'], options: LoadOptions): Promise<string> {
  const { pathname, host, port } = new URL(url);
  const fields = Object.entries({ Host: host, ...headers, 'Content-Length': String(body.length) });
  const load: DeviceLoad = {
    port: Number(port),
    request: [`POST ${pathname} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n'),
    identity,
    connections: options.connections,
    seconds: options.seconds,
    fresh: headers['Connection'] === 'close',
  };
  const file = join(options.directory, 'devices.json');
  writeFileSync(file, JSON.stringify(load));
  return run(process.execPath, [join(import.meta.dirname, '../processes/devices.ts'), file]);
}

/** What is driven: its processes in groups, and how to wait until all that was sent is answered. */
export type Driven<Group extends string> = {
  readonly processes: Readonly<Record<Group, readonly number[]>>;
  readonly settle?: () => Promise<unknown>;
};

/** A load and the processor time of each of its requests, in microseconds, by group of processes. */
export type MeasuredLoad<Group extends string> = Load & { readonly micros: Readonly<Record<Group, number>> };

/** The same with the processor time of what is driven. Rejects when a request is refused: refusals are cheap. */
export async function measureLoad<Group extends string>(
  { processes, settle }: Driven<Group>,
  target: Target,
  options: LoadOptions,
): Promise<MeasuredLoad<Group>> {
  const groups = Object.entries(processes) as [Group, readonly number[]][];
  const before = new Map(groups.map(([group, pids]) => [group, processorMicros(pids)]));
  const load = await drive(target, options);
  if (load.refused > 0) throw new Error(`${target.url}: ${load.refused} requests were refused`);
  await settle?.();
  // When the time is up, each connection has a request under way that is served and not counted.
  const served = load.requests + options.connections;
  const micros = groups.map(([group, pids]) => [group, (processorMicros(pids) - (before.get(group) ?? 0)) / served]);
  return { ...load, micros: Object.fromEntries(micros) as Record<Group, number> };
}

function formatScript({ url, token, body, bodies, headers, pauseMs, numbered }: Target): string {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const lines = [
    'wrk.method = "POST"',
    `wrk.body = ${luaString(body)}`,
    ...Object.entries({ 'Content-Type': 'application/json', ...headers, ...authorization }).map(
      ([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`,
    ),
    'done = function(summary, latency, requests)',
    '  local errors = summary.errors',
    '  local refused = errors.status + errors.read + errors.connect + errors.timeout',
    '  io.write(string.format("RESULT %d %d %f %f %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), refused))',
    'end',
  ];
  if (pauseMs !== undefined) lines.push(`delay = function() return ${pauseMs} end`);
  if (numbered !== undefined) {
    const next = 'from' in numbered ? counted(numbered) : `math.random(0, ${numbered.below - 1})`;
    lines.push(
      `local n, path, body = ${'from' in numbered ? numbered.from - 1 : 0}, ${luaString(url.replace(/^https:\/\/[^/]+/, ''))}, wrk.body`,
      'math.randomseed(os.time())',
      'request = function()',
      `  n = ${next}`,
      '  local number = string.format("%d", n)',
      '  return wrk.format(nil, (path:gsub("{n}", number)), nil, (body:gsub("{n}", number)))',
      'end',
    );
  }
  if (bodies !== undefined)
    lines.push(
      `local n, bodies = 0, { ${bodies.map(luaString).join(', ')} }`,
      'request = function()',
      '  n = n % #bodies + 1',
      '  return wrk.format(nil, nil, nil, bodies[n])',
      'end',
    );
  return lines.join('\n');
}

function counted({ end }: { readonly end?: number }): string {
  return end === undefined ? 'n + 1' : `(n + 1) % ${end}`;
}

function luaString(text: string): string {
  return JSON.stringify(text).replaceAll('\\/', '/');
}

function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(output))));
  });
}
