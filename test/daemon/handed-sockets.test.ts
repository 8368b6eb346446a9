// Socket activation, with systemd's own tool: ports that somebody else holds stay open whatever ends and is started again behind them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePort, isFree, send } from '../setup/daemon.ts';
import { temporaryDirectory } from '../setup/temporary.ts';

const path = temporaryDirectory();
const entry = resolve(import.meta.dirname, '../../appliance/keystored.ts');
const activator = spawnSync('systemd-socket-activate', ['--version']).status === 0;
if (!activator) console.warn('SKIPPED: socket activation, because systemd-socket-activate is not installed');

/** What a service manager does: hands the sockets to the daemon, and starts it again when it ends. */
const manager = `
until [ -e "$0.stop" ]; do
  sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@" &
  echo $! >"$0.pid"
  wait $!
  echo "ended with $?"
done`;

let running: ChildProcess | undefined;

afterEach(() => {
  if (running?.exitCode === null && running.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
});

/** `listen`: what the daemon is told, if that is not what is held for it. */
async function activate(name: string, listen?: string) {
  const [port, estPort] = [await freePort(), await freePort()];
  const data = path(name);
  const daemon = [process.execPath, entry, '--data', data, '--workers', '1'];
  const addresses = ['--listen', listen ?? `127.0.0.1:${port}`, '--est-listen', `127.0.0.1:${estPort}`];
  const held = ['-l', `127.0.0.1:${port}`, '-l', `127.0.0.1:${estPort}`, '--fdname=management:est'];
  const child = spawn('systemd-socket-activate', [...held, 'sh', '-c', manager, path(`${name}-manager`), ...daemon, ...addresses], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running = child;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => isFree(port), { timeout: 60_000 }).toBe(false);
  // The tool starts the daemon when somebody comes.
  connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .unref();
  const ask = async (url: string): Promise<number> =>
    (await send({ url, method: 'GET', body: undefined, token: '', caPem: readFileSync(join(data, 'tls/ca.pem'), 'utf8') })).status;
  return {
    output: () => output,
    started: () => expect.poll(() => output, { timeout: 240_000 }).toContain('ready https://'),
    pid: () => Number(readFileSync(path(`${name}-manager.pid`), 'utf8')),
    health: () => ask(`https://127.0.0.1:${port}/v1/state/system/health`),
    est: () => ask(`https://127.0.0.1:${estPort}/.well-known/est/cacerts`),
    data,
  };
}

test.skipIf(!activator)('nobody is refused while a worker, or the daemon, is killed and started again', async () => {
  const daemon = await activate('restarts');
  await daemon.started();
  expect([await daemon.health(), await daemon.est()]).toEqual([200, 404]);
  for (const killed of [() => workerOf(daemon.pid()), daemon.pid, () => workerOf(daemon.pid())]) {
    const [pid, worker] = [killed(), workerOf(daemon.pid())];
    process.kill(pid, 'SIGKILL');
    // What a dying worker has accepted ends with it.
    await expect.poll(() => [pid, worker].some(isAlive), { timeout: 60_000 }).toBe(false);
    // Callers of both doors, who come while nobody is behind them.
    expect(await Promise.all([daemon.health(), daemon.est(), daemon.health()])).toEqual([200, 404, 200]);
  }
});

test.skipIf(!activator)('another address than the one that is held is refused before anything is made', async () => {
  const daemon = await activate('elsewhere', '127.0.0.1:4');
  await expect
    .poll(daemon.output, { timeout: 240_000 })
    .toMatch(
      /^keystored: --listen is port 4 of 127\.0\.0\.1, but systemd has opened port \d+ of 127\.0\.0\.1: give its socket unit the same address \(ListenStream=\), or disable that unit\nended with 1$/m,
    );
  expect(existsSync(join(daemon.data, 'pin'))).toBe(false);
});

/** One that nobody has waited for is still listed, and dead. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout);
}

function workerOf(supervisor: number): number {
  const { stdout } = spawnSync('pgrep', ['--parent', String(supervisor), '--full', 'appliance/worker.ts'], { encoding: 'utf8' });
  return Number(stdout.trim());
}
