// keystorectl without the daemon: the single file and the tarball are made the same way twice, run without the sources, and do what they say.
import { spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { readDownloads, readSpan } from '../../../appliance/downloads/files.ts';
import { makeDownloads } from '../../../appliance/packaging/keystorectl/downloads.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { KmsClient } from '../../harness/kms-client.ts';
import { P11KitClient, wanted } from '../../harness/p11-kit-client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const epochSeconds = 1_700_000_000;
/** Each form as the words that begin its command line. */
const forms: Record<string, readonly string[]> = {};

beforeAll(async () => {
  await makeDownloads(path('downloads'), epochSeconds);
  const [tarball, single] = await readDownloads(path('downloads'));
  if (tarball === undefined || single === undefined) throw new Error('files are missing');
  expect(spawnSync('tar', ['-xzf', path('downloads', tarball.name), '-C', path()]).status).toBe(0);
  forms['the tarball'] = [path('keystorectl', 'keystorectl')];
  // In pieces, as every download comes: the pages of one large write stay together in memory, and count as that of the process.
  await writeFile(path('single'), readSpan(single, { start: 0, end: single.size }, path('downloads')));
  expect(hash('sha256', readFileSync(path('single')), 'hex')).toBe(single.sha256);
  chmodSync(path('single'), 0o755);
  forms['the single file'] = [path('single')];
});

test('a second build gives the same octets', async () => {
  await makeDownloads(path('again'), epochSeconds);
  const names = readdirSync(path('downloads'));
  expect(readdirSync(path('again'))).toEqual(names);
  for (const name of names) expect(readFileSync(path('again', name)).equals(readFileSync(path('downloads', name))), name).toBe(true);
});

test('a package with them is hardly larger: the single file leaves out what the Node.js of the package has', () => {
  const octets = readdirSync(path('downloads')).reduce((sum, name) => sum + readFileSync(path('downloads', name)).length, 0);
  expect(octets).toBeLessThan(8 * 1024 * 1024);
});

describe.each(['the tarball', 'the single file'])('%s', (form) => {
  test('says its version', () => {
    const { status, stdout, stderr } = run(form, ['--version']);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('has the help of all commands', () => {
    const { stdout } = run(form, ['--help']);
    for (const name of ['create', 'login', 'audit', 'completion']) expect(stdout).toContain(`\n  ${name} `);
  });

  describe('with an appliance', () => {
    let appliance: TestAppliance;
    let environment: Readonly<Record<string, string>>;
    beforeAll(async () => {
      mkdirSync(path(`appliance of ${form}`));
      appliance = await startTestAppliance({ directory: path(`appliance of ${form}`) });
      const { url: KEYSTORED_URL, rootToken: KEYSTORED_TOKEN } = appliance;
      environment = { KEYSTORED_URL, KEYSTORED_TOKEN, KEYSTORED_CA: path(`appliance of ${form}`, 'tls-cert.pem') };
      await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'web', cipher: 'ecdsa-p256' });
    });
    afterAll(() => appliance.close());

    test('works in JSON, YAML and tables', async () => {
      const ctl = (...words: string[]) => runAsync(form, words, environment);
      expect(await ctl('create', 'transit-keys', 'bundled', '--auto-rotate/rotate-after', '90d')).toMatchObject({ status: 0, stderr: '' });
      writeFileSync(path('merge.yaml'), 'deletion-allowed: true\n');
      expect(await ctl('merge', 'transit-keys', 'bundled', '--file', path('merge.yaml'))).toMatchObject({ status: 0 });
      expect((await ctl('show', 'transit-keys', 'bundled', '--output', 'yaml')).stdout).toContain('deletion-allowed: true');
      expect((await ctl('list', 'transit-keys', '--output', 'table')).stdout).toContain('bundled');
    });

    test('shows keys to programs that use PKCS#11, with less than 80 MB of memory after ten signatures', async () => {
      const [command = '', ...first] = forms[form] ?? [];
      const child = spawn(command, [...first, 'pkcs11', '--key', 'web'], { env: environmentOf(environment), stdio: 'pipe' });
      const client = new P11KitClient(child.stdin, child.stdout);
      const session = await client.openSession();
      const [key = 0] = await client.find(session, wanted.class(3));
      for (let place = 1; place <= 10; place++) {
        await client.begin(session, key, 0x1041);
        expect(await client.sign(session, Buffer.alloc(32, place))).toHaveLength(64);
      }
      const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
      expect(kilobytes).toBeLessThan(80_000);
      client.end();
      expect(await once(child, 'exit')).toEqual([0, null]);
    });

    test('encrypts the secrets of Kubernetes', async () => {
      await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'etcd' });
      const [command = '', ...first] = forms[form] ?? [];
      const words = [...first, 'kms', '--socket', path('kms.sock'), '--key', 'etcd'];
      const child = spawn(command, words, { env: environmentOf(environment), stdio: 'pipe' });
      await once(child.stderr, 'data');
      const kms = new KmsClient(path('kms.sock'));
      expect(await kms.status()).toEqual(['v2', 'ok', 'etcd:1']);
      kms.end();
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    });
  });

  test('verifies an audit trail offline', () => {
    mkdirSync(path(`trail of ${form}`));
    const { status, stderr } = run(form, ['audit', 'verify', path(`trail of ${form}`)]);
    expect([status, stderr]).toEqual([7, expect.stringContaining('has no audit-keys.pem')]);
  });

  test('names the package that has the commands for an HSM', () => {
    const { status, stderr } = run(form, ['hsm', 'modules']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('in the package "keystored"')]);
  });
});

test('the single file takes no options from the environment: those are for Node.js programs', () => {
  const { status, stderr } = run('the single file', ['--version'], { NODE_OPTIONS: '--require=/nowhere/at-all.cjs' });
  expect([status, stderr]).toEqual([0, '']);
});

test('the tarball tells an old Node.js what it needs', () => {
  writeFileSync(
    path('old-node'),
    `#!/bin/sh\nexec ${process.execPath} --import 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.1.0"})' "$@"\n`,
  );
  chmodSync(path('old-node'), 0o755);
  const { status, stderr } = run('the tarball', ['--version'], { KEYSTORED_NODE: path('old-node') });
  expect([status, stderr]).toEqual([1, 'keystorectl: Node.js 22 or newer is needed; this is 20.1.0\n']);
  expect(run('the tarball', ['--version'], { KEYSTORED_NODE: path('absent') })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Node.js 22'),
  });
});

test('the licences of everything that is in the bundle are with it', () => {
  const licenses = readFileSync(path('keystorectl', 'LICENSES'), 'utf8');
  for (const name of ['keystorectl', 'commander', 'yaml', 'zod']) expect(licenses).toMatch(new RegExp(`^${name}`, 'm'));
});

/** Only what the form brings along: no sources, and a home of its own. */
function environmentOf(more: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: '/usr/bin:/bin', HOME: path(), KEYSTORED_NODE: process.execPath, ...more };
}

function run(form: string, words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const [command = '', ...first] = forms[form] ?? [];
  const { status, stdout, stderr } = spawnSync(command, [...first, ...words], { encoding: 'utf8', env: environmentOf(more) });
  return { status, stdout, stderr };
}

/** For commands that talk to an appliance in this process. */
function runAsync(form: string, words: readonly string[], more: Readonly<Record<string, string>>) {
  const [command = '', ...first] = forms[form] ?? [];
  const child = spawn(command, [...first, ...words], { env: environmentOf(more), stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on(
      'exit',
      (status) => void Promise.all([stdout, stderr]).then(([out, error]) => resolve({ status, stdout: out, stderr: error })),
    );
  });
}
