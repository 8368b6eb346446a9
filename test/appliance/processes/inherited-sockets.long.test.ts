// Socket activation, with systemd's own tool: ports that somebody else holds stay open whatever ends and is started again behind them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { findHandedSockets } from '../../../appliance/processes/inherited-sockets.ts';
import { ask as askOnce } from '../../harness/client.ts';
import { freePort, isFree } from '../../harness/daemon.ts';
import { isAlive } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const entry = await serviceUnderTest();
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

test.each(['', '-1', '1e9', '99999999999', 'NaN', ' 2', '0x10'])('LISTEN_FDS=%j is no number of sockets, and no reason to end', (count) => {
  const environment = { LISTEN_PID: String(process.pid), LISTEN_FDS: count, LISTEN_FDNAMES: 'management:\0:est' };
  expect(findHandedSockets(environment)).toEqual({});
});

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
    (await askOnce(new URL(url).origin, new URL(url).pathname, { ca: readFileSync(join(data, 'tls/ca.pem'), 'utf8') })).status;
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
    // Callers of both ports, while no process accepts from them.
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

describe('what cannot be served is refused in one line', () => {
  const environment = (names: string | undefined, count = 2) => ({
    LISTEN_PID: String(process.pid),
    LISTEN_FDS: String(count),
    ...defined({ LISTEN_FDNAMES: names }),
  });

  test('names count, and only as many as there are sockets; those of another process are not ours', () => {
    expect(findHandedSockets(environment('est:notify:management', 3))).toEqual({ estListen: 3, listen: 5 });
    expect(findHandedSockets(environment('management:est', 1))).toEqual({ listen: 3 });
    expect(findHandedSockets({ ...environment('management:est'), LISTEN_PID: '1' })).toEqual({});
    expect(findHandedSockets({})).toEqual({});
  });

  test.each([
    [undefined, 'a descriptor named unknown: give its socket unit FileDescriptorName=management or est'],
    ['management:keystored-est.socket', 'a descriptor named keystored-est.socket: give its socket unit FileDescriptorName='],
    ['management:management', 'more than one socket named management: its socket unit may have one ListenStream= only'],
  ])('names %s', (names, reason) => {
    expect(() => findHandedSockets(environment(names))).toThrow(reason);
  });

  test('a file, a socket without an address, a connection; the right one by any of the addresses of its host', async () => {
    const none = /^what systemd has handed over for --listen is not a TCP socket that listens: /;
    expect(judge('127.0.0.1', 4646, openSync(path('file'), 'w'))).toMatch(none);
    const unix = createServer().listen(path('socket'));
    await once(unix, 'listening');
    expect(judge('127.0.0.1', 4646, descriptorOf(unix))).toMatch(none);
    unix.close();

    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    const client = connect(port, '127.0.0.1');
    const [accepted] = (await once(server, 'connection')) as [Socket];
    expect(judge('127.0.0.1', port, descriptorOf(accepted))).toMatch(none);
    client.destroy();
    accepted.destroy();
    expect(judge('localhost', port, descriptorOf(server))).toBe('');
    expect(judge('127.0.0.2', port, descriptorOf(server))).toContain(
      `--listen is port ${port} of 127.0.0.2, but systemd has opened port ${port} of 127.0.0.1`,
    );
    server.close();
  });
});

/** What a process says that was handed this descriptor for `--listen`. */
function judge(host: string, port: number, descriptor: number): string {
  const module = resolve(import.meta.dirname, '../../../appliance/processes/inherited-sockets.ts');
  const program = `
    import { requireSameAddress } from ${JSON.stringify(module)};
    await requireSameAddress('--listen', ${JSON.stringify({ host, port })}, 3).catch((error) => console.log(error.message));
    process.exit();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe', descriptor],
    encoding: 'utf8',
  });
  return stdout + stderr;
}

/** Node.js shows it to nobody else. */
function descriptorOf(owner: object): number {
  return (owner as { _handle: { fd: number } })._handle.fd;
}

function workerOf(supervisor: number): number {
  const { stdout } = spawnSync('pgrep', ['--parent', String(supervisor), '--full', '/worker[.]'], { encoding: 'utf8' });
  return Number(stdout.trim());
}
