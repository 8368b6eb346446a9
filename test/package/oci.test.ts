// The container image: other people's tools read it, and what it says is to be run serves from what is in it, as its user.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../harness/client.ts';
import { freePort } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const builder = resolve(import.meta.dirname, '../../appliance/packaging/oci/build-oci.ts');
const tools = ['mmdebstrap', 'umoci', 'skopeo'];
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
const possible = process.getuid?.() === 0 && missing.length === 0;
if (!possible) console.warn(`SKIPPED: the container image, because that needs root and ${tools.join(', ')}`);

type Config = { User: string; Env: string[]; Entrypoint: string[]; Volumes: Record<string, unknown>; WorkingDir: string };

let running: ChildProcess | undefined;
afterEach(() => void running?.kill('SIGKILL'));

describe.skipIf(!possible)('the container image', () => {
  let archive = '';
  let config: Config;
  const root = path('bundle/rootfs');

  beforeAll(() => {
    archive = run(process.execPath, builder, path('dist')).trim();
    mkdirSync(path('layout'));
    run('tar', '--extract', `--file=${archive}`, `--directory=${path('layout')}`);
    config = (JSON.parse(run('skopeo', 'inspect', '--config', `oci-archive:${archive}`)) as { config: Config }).config;
    run('umoci', 'unpack', '--image', `${path('layout')}:${tagOf(archive)}`, path('bundle'));
  });

  test('is the same for tools that read OCI archives and for those that read what docker saves', () => {
    const [oci, docker] = ['oci-archive', 'docker-archive'].map(
      (kind) => JSON.parse(run('skopeo', 'inspect', '--config', `${kind}:${archive}`)) as unknown,
    );
    expect(docker).toEqual(oci);
    expect(config.User).toBe('64646:64646');
    expect(Object.keys(config.Volumes)).toEqual(['/var/lib/keystored']);
  });

  test('has no set-id program that could raise its user, and state that only its user enters', () => {
    const { mode, uid } = statSync(join(root, 'var/lib/keystored'));
    expect([mode & 0o777, uid]).toEqual([0o700, 64_646]);
    expect(run('find', root, '-xdev', '-type', 'f', '-perm', '/6000')).toBe('');
  });

  test('serves as its user; what was encrypted opens after the container was replaced around the same volume', async () => {
    const volume = path('volume');
    const before = await serve(root, config, volume);
    await before.request('POST', '/v1/config/keystore/transit-keys', { name: 'kept' });
    const { ciphertext } = await before.request('POST', '/v1/state/keystore/transit-keys/kept/encrypt', { plaintext: 'aGVsbG8=' });
    expect(await before.stop()).toBe(0);

    const after = await serve(root, config, volume);
    expect(await after.request('POST', '/v1/state/keystore/transit-keys/kept/decrypt', { ciphertext })).toMatchObject({
      plaintext: 'aGVsbG8=',
    });
    expect(await after.stop()).toBe(0);
  });

  test('tells nothing of the machine that built it', () => {
    const left = ['etc/resolv.conf', 'etc/hostname', 'etc/apt/sources.list', 'tmp/index'].filter((name) => existsSync(join(root, name)));
    expect(left).toEqual([]);
    expect(statSync(join(root, 'etc/keystored/keystored.yaml')).mode & 0o777).toBe(0o644);
  });

  test('has etcd where the configuration of a cluster looks for it, with its licences', () => {
    expect(run('chroot', root, '/usr/lib/keystored/etcd', '--version')).toContain('etcd Version: ');
    expect(readFileSync(join(root, 'usr/lib/keystored/etcd.LICENSES'), 'utf8')).toContain('go.etcd.io/etcd/server/v3');
  });

  test('brings the list of what it is made of', () => {
    const { components } = JSON.parse(readFileSync(`${archive}.cdx.json`, 'utf8')) as {
      components: { purl: string; hashes?: unknown[] }[];
    };
    for (const start of ['pkg:deb/debian/libsofthsm2@', 'pkg:npm/lmdb@', 'pkg:generic/openssl@', 'pkg:golang/go.etcd.io/etcd/server/v3@'])
      expect(components.filter(({ purl }) => purl.startsWith(start))).toHaveLength(1);
    expect(components.filter(({ purl, hashes = [] }) => purl.startsWith('pkg:deb/') && hashes.length !== 1)).toEqual([]);
  });
});

/** What a container engine would do: the image read-only, the volume over it, the image's own user, environment and command. */
async function serve(root: string, config: Config, volume: string) {
  const data = join(root, 'var/lib/keystored');
  if (spawnSync('test', ['-d', volume]).status !== 0) cpSync(data, volume, { recursive: true, preserveTimestamps: true });
  run('chown', '64646:64646', volume);
  run('chmod', '700', volume);
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const extra = [`KEYSTORED_LISTEN=${address}`, `KEYSTORED_EST_LISTEN=127.0.0.1:${await freePort()}`, 'KEYSTORED_WORKERS=1'];
  const mounts = [
    `mount --bind ${root} ${root} && mount -o remount,ro,bind ${root}`,
    `mount --bind ${volume} ${data}`,
    `mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev && mount -t tmpfs tmpfs ${root}/tmp`,
  ].join(' && ');
  const [uid, gid] = config.User.split(':');
  const command = `cd / && exec chroot --userspec=${uid}:${gid} --groups= ${root} /usr/bin/env -i "$@"`;
  const child = spawn('unshare', ['--mount', 'sh', '-ec', `${mounts} && ${command}`, 'sh', ...config.Env, ...extra, ...config.Entrypoint], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await expect.poll(() => said, { timeout: 120_000, interval: 100 }).toContain('ready https://');
  const token = readFileSync(join(volume, 'root-token'), 'utf8').trim();
  const caPem = readFileSync(join(volume, 'tls/ca.pem'), 'utf8');
  return {
    async request(method: string, url: string, body: unknown): Promise<Record<string, unknown>> {
      const answer = await ask(`https://${address}`, url, { method, body, token, ca: caPem });
      if (answer.status >= 400) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body as Record<string, unknown>;
    },
    async stop(): Promise<number | null> {
      child.kill('SIGTERM');
      return new Promise((done) => child.once('exit', done));
    },
  };
}

function tagOf(archive: string): string {
  return /_([\d.]+)_/.exec(archive)?.[1] ?? '';
}

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
