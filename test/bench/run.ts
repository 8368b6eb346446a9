// npm run bench (-- actions | guard | est | large | scale for one part): an echo server, the raw token and the appliance in turn, in one run; prints a table of rates, latencies and ratios.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon, type Daemon } from '../setup/daemon.ts';
import { openHsm } from '../../hsm/open.ts';
import { makeSoftToken } from '../setup/softhsm.ts';
import { benchEnrolments } from './est.bench.ts';
import { benchGuard } from './guard.ts';
import { benchLarge } from './large.ts';
import { drive, type Load } from './load.ts';
import { rawOperations, rawRate } from './raw-token.ts';
import { measureScale } from './scale.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const connections = 64;
const pooled = 64;

const keys: Readonly<Record<string, string>> = {
  aes: 'aes256-gcm96',
  'ecdsa-p256': 'ecdsa-p256',
  ed25519: 'ed25519',
  'rsa-2048': 'rsa-2048',
  'rsa-4096': 'rsa-4096',
};

type Row = { readonly name: string; readonly path: string; readonly body: string; readonly items: number };

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
  const raw = await measureToken();
  const lines: string[] = [];
  for (const workers of [1, availableParallelism()]) {
    const echo = await startEcho();
    const daemon = await startDaemon({ directory: join(directory, `data-${workers}`), workers });
    try {
      const rows = await prepare(daemon);
      for (const row of rows) {
        const yard: Load[] = [];
        const ours: Load[] = [];
        for (let round = 0; round < rounds; round += 1) {
          yard.push(await drive({ url: echo.url, body: row.body }, { seconds, connections, directory }));
          ours.push(
            await drive({ url: `${daemon.url}${row.path}`, token: daemon.rootToken, body: row.body }, { seconds, connections, directory }),
          );
        }
        lines.push(format(row, workers, best(yard), best(ours), raw.get(row.name)));
        console.log(lines.at(-1));
      }
    } finally {
      echo.process.kill();
      await daemon.stop();
    }
  }
  console.log(`\n${header()}\n${lines.join('\n')}`);
  if (process.env['BENCH_OUTPUT'] !== undefined) writeFileSync(process.env['BENCH_OUTPUT'], `${header()}\n${lines.join('\n')}\n`);
}

function header(): string {
  return [
    `Best of ${rounds} rounds of ${seconds} s, ${connections} keep-alive TLS 1.3 connections, 64 octets of payload, policy and durable audit on.`,
    '',
    '| operation | workers | req/s | p50 ms | p99 ms | echo req/s | ours/echo | raw token 1 at a time | raw token pooled | ours/token |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ].join('\n');
}

function format(row: Row, workers: number, echo: Load, ours: Load, raw: { one: number; pool: number } | undefined): string {
  if (ours.refused > 0) throw new Error(`${row.name}: ${ours.refused} requests were refused`);
  const items = ours.perSecond * row.items;
  const cells = [
    row.items === 1 ? row.name : `${row.name}, batch of ${row.items} (items/s)`,
    workers,
    items.toFixed(0),
    ours.p50.toFixed(2),
    ours.p99.toFixed(2),
    echo.perSecond.toFixed(0),
    (ours.perSecond / echo.perSecond).toFixed(2),
    raw?.one.toFixed(0) ?? '',
    raw?.pool.toFixed(0) ?? '',
    raw === undefined ? '' : (items / raw.pool).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}

function best(loads: readonly Load[]): Load {
  return loads.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}

async function measureToken(): Promise<Map<string, { one: number; pool: number }>> {
  const token = await makeSoftToken(join(directory, 'raw'));
  const hsm = await openHsm({ tokens: [token], defaultCustody: 'wrapped', cacheKeys: 1000, jobTimeoutSeconds: 30 });
  const rates = new Map<string, { one: number; pool: number }>();
  for (const operation of await rawOperations(hsm)) {
    rates.set(operation.name, {
      one: await rawRate(operation, { seconds, inFlight: 1 }),
      pool: await rawRate(operation, { seconds, inFlight: pooled }),
    });
  }
  await hsm.close();
  return rates;
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
