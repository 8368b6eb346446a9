// The Debian package on a clean system: it installs, serves, keeps keys and configuration over an upgrade, and leaves the keys when purged.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../harness/client.ts';
import { freePort } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { canMakeCleanSystems, makeCleanSystem, suitesOr } from './clean-system.ts';

const path = temporaryDirectory();
const system = path('system');
const builder = resolve(import.meta.dirname, '../../appliance/packaging/build-deb.ts');
const data = join(system, 'var/lib/keystored');
const configuration = join(system, 'etc/keystored/keystored.yaml');

const possible = canMakeCleanSystems('installing the package in a clean chroot');

let running: ChildProcess | undefined;
afterEach(() => void running?.kill('SIGKILL'));

describe.skipIf(!possible)('the Debian package', () => {
  let older = '';
  let newer = '';

  beforeAll(async () => {
    older = run(process.execPath, builder, '0.0.1', path()).trim();
    newer = run(process.execPath, builder, '0.0.2', path()).trim();
    const [suite = ''] = suitesOr('trixie');
    await makeCleanSystem(system, suite, { deb: older });
    copyFileSync(newer, join(system, 'root', basename(newer)));
  });

  test('brings the user, the directories and the enabled service', () => {
    expect(modes()).toBe('700 keystored keystored\n750 root keystored\n640 root keystored\n');
    expect(inSystem('readlink', '/etc/systemd/system/multi-user.target.wants/keystored.service')).toMatch(/keystored\.service\n$/);
    expect(socketsEnabled()).toEqual(['keystored-est.socket', 'keystored-management.socket']);
    expect(inSystem('keystorectl', '--help')).toContain('keystorectl');
  });

  test('serves, and what was encrypted before an upgrade opens after it; a changed configuration stays', async () => {
    const before = await serve();
    await before.request('POST', '/v1/config/keystore/transit-keys', { name: 'kept' });
    const actions = '/v1/state/keystore/transit-keys/kept';
    const { ciphertext } = await before.request('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' });
    expect(await before.stop()).toBe(0);

    appendFileSync(configuration, 'log-level: warn\n');
    inSystem('dpkg', '--install', `/root/${basename(newer)}`);
    expect(inSystem('dpkg-query', '--show', '--showformat=${Version}', 'keystored')).toBe('0.0.2');
    expect(readFileSync(configuration, 'utf8')).toContain('log-level: warn');

    const after = await serve();
    expect(await after.request('POST', `${actions}/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect(await after.stop()).toBe(0);
  });

  test('writes nothing that others may read', () => {
    expect(run('find', data, '-perm', '/o=rwx', '-not', '-type', 'l')).toBe('');
  });

  test('removed, it keeps configuration and keys; purged, only the keys, and says so', () => {
    inSystem('dpkg', '--remove', 'keystored');
    expect(existsSync(configuration)).toBe(true);
    const purged = spawnSync('chroot', [system, 'dpkg', '--purge', 'keystored'], { encoding: 'utf8' });
    expect(purged.status).toBe(0);
    expect(purged.stderr).toContain('the keys stay in /var/lib/keystored');
    expect(existsSync(configuration)).toBe(false);
    expect(existsSync(join(system, 'etc/systemd/system/multi-user.target.wants/keystored.service'))).toBe(false);
    expect(socketsEnabled()).toEqual([]);
    expect(statSync(join(data, 'store-key.json')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(system, 'usr/lib/keystored/appliance'))).toBe(false);
  });

  test('under a configuration that listens elsewhere, the sockets of the package stay off; without /proc the modes are right, too', () => {
    mkdirSync(dirname(configuration), { recursive: true });
    writeFileSync(configuration, 'data: /var/lib/keystored\nlisten: 0.0.0.0:4646\n');
    inSystem('dpkg', '--force-confold', '--install', `/root/${basename(newer)}`);
    expect(inSystem('readlink', '/etc/systemd/system/multi-user.target.wants/keystored.service')).toMatch(/keystored\.service\n$/);
    expect(socketsEnabled()).toEqual([]);
    expect(existsSync(join(system, 'proc/self'))).toBe(false);
    expect(modes()).toBe('700 keystored keystored\n750 root keystored\n640 root keystored\n');
  });
});

/** Modes and owners of state and configuration. */
function modes(): string {
  return inSystem('stat', '-c', '%a %U %G', '/var/lib/keystored', '/etc/keystored', '/etc/keystored/keystored.yaml');
}

/** Runs the installed daemon as the unit does: its own user and umask, nothing but what is installed; on free ports of this machine. */
async function serve() {
  const address = `127.0.0.1:${await freePort()}`;
  const daemon = `PATH=/usr/sbin:/usr/bin:/sbin:/bin KEYSTORED_LISTEN=${address} KEYSTORED_EST_LISTEN=127.0.0.1:${await freePort()} KEYSTORED_WORKERS=1 keystored --config /etc/keystored/keystored.yaml`;
  const mounts = `mount -t proc proc ${system}/proc && mount --rbind /dev ${system}/dev`;
  const user = '--reuid keystored --regid keystored --clear-groups --no-new-privs';
  const child = spawn(
    'unshare',
    ['--mount', 'sh', '-c', `umask 077 && ${mounts} && exec chroot ${system} setpriv ${user} env -i ${daemon}`],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  running = child;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await expect.poll(() => said, { timeout: 60_000, interval: 100 }).toContain('ready https://');
  const rootToken = readFileSync(join(data, 'root-token'), 'utf8').trim();
  const caPem = readFileSync(join(data, 'tls/ca.pem'), 'utf8');
  return {
    async request(method: string, url: string, body: unknown): Promise<Record<string, unknown>> {
      const answer = await ask(`https://${address}`, url, { method, body, token: rootToken, ca: caPem });
      if (answer.status >= 400) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body as Record<string, unknown>;
    },
    async stop(): Promise<number | null> {
      child.kill('SIGTERM');
      return new Promise((done) => child.once('exit', done));
    },
  };
}

/** Those that systemd opens at the next boot. */
function socketsEnabled(): string[] {
  const wanted = join(system, 'etc/systemd/system/sockets.target.wants');
  return existsSync(wanted)
    ? readdirSync(wanted)
        .filter((name) => name.startsWith('keystored'))
        .toSorted()
    : [];
}

function inSystem(command: string, ...args: string[]): string {
  return run('chroot', system, command, ...args);
}

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
