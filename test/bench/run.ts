// npm run bench (-- actions | guard | est | large | scale for one part): an echo server, the raw token and the appliance in turn, in one run; prints a table of rates, latencies and ratios.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchActions } from './actions.ts';
import { benchEnrolments } from './est.bench.ts';
import { benchGuard } from './guard.ts';
import { benchLarge } from './large.ts';
import { measureScale } from './scale.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const connections = 64;

const directory = mkdtempSync(join(tmpdir(), 'keystored-bench-'));
try {
  await runParts(process.argv[2]);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** All that belongs to one run, or the part that was asked for; `scale` fills a store with 100,000 keys and runs only on request. */
async function runParts(part: string | undefined): Promise<void> {
  requireWrk();
  if (part === 'scale') return measureScale();
  if (part === undefined || part === 'actions') await measureActions();
  if (part === undefined || part === 'guard') await measureGuard();
  if (part === undefined || part === 'large') console.log(await benchLarge({ directory, rounds, seconds }));
  if (part === undefined || part === 'est') {
    console.log((await benchEnrolments({ directory: join(directory, 'est'), rounds, seconds })).join('\n'));
  }
}

async function measureGuard(): Promise<void> {
  const echo = await startEcho();
  try {
    console.log(await benchGuard({ directory, echo: { url: echo.url, pid: echo.process.pid ?? 0 }, rounds, seconds, connections }));
  } finally {
    echo.process.kill();
  }
}

async function measureActions(): Promise<void> {
  const echo = await startEcho();
  try {
    const turns = { rounds: Number(process.env['BENCH_ROUNDS'] ?? 5), seconds: Number(process.env['BENCH_SECONDS'] ?? 1) };
    const table = await benchActions({ directory, echo: { url: echo.url, pid: echo.process.pid ?? 0 }, ...turns, connections });
    console.log(`\n${table}`);
    if (process.env['BENCH_OUTPUT'] !== undefined) writeFileSync(process.env['BENCH_OUTPUT'], `${table}\n`);
  } finally {
    echo.process.kill();
  }
}

async function startEcho(): Promise<{ url: string; process: ChildProcess }> {
  const [key, cert] = [join(directory, 'echo.key'), join(directory, 'echo.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', key, '-out', cert, '-subj', '/CN=localhost', '-days', '2'],
  ]);
  if (made.status !== 0 || readFileSync(cert).length === 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  const port = 4690 + Math.floor(Math.random() * 200);
  const child = spawn(process.execPath, [join(import.meta.dirname, 'echo-server.ts'), key, cert, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // A session of its own, as the appliance has: the kernel shares processor time out among sessions.
    detached: true,
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return { url: `https://127.0.0.1:${port}/`, process: child };
}

function requireWrk(): void {
  if (spawnSync('wrk', ['--version']).error !== undefined) {
    const install = spawnSync('sh', ['-c', 'apt-get -qq update && apt-get -qq install -y wrk'], { stdio: ['ignore', 2, 'inherit'] });
    if (install.status !== 0) throw new Error('the benchmark needs wrk: apt-get install wrk');
  }
}
