// The Debian package keystorectl on clean systems without the daemon: it installs, runs, has its manual, and leaves nothing behind.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { programCommands } from '../../appliance/cli/program.ts';
import { measure, printMeasures } from '../clients/commands.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { KmsClient } from '../harness/kms-client.ts';
import { walkOf } from '../harness/markdown.ts';
import { P11KitClient, wanted } from '../harness/p11-kit-client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { canMakeCleanSystems, type CleanSystem, makeCleanSystem, suitesOr } from './clean-system.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../..');
const builder = join(root, 'appliance/packaging/keystorectl/build-keystorectl.ts');

/** Documents whose commands need an appliance and keystorectl, and the packages of the other tools that they name. */
const walks = [
  'README.md',
  'appliance/docs/use/keystorectl.md',
  'appliance/docs/use/policies.md',
  'appliance/docs/use/kubernetes.md',
  'appliance/docs/start/tour.md',
];
const toolsOfWalks = ['curl', 'openssl'];

const possible = canMakeCleanSystems('installing keystorectl in clean chroots');
printMeasures();

describe.skipIf(!possible)('keystorectl without the daemon', () => {
  let files: readonly string[] = [];
  beforeAll(() => {
    files = run(process.execPath, builder, path('built')).trim().split('\n');
  });

  test('is built in every form, with sums that fit', () => {
    const artefacts = files.map((file) => basename(file)).filter((name) => !/\.(?:cdx|spdx)\.json$/.test(name));
    expect(artefacts).toEqual([
      ...['amd64', 'arm64'].flatMap((platform) => [`keystorectl-linux-${platform}`, `keystorectl_${manifest.version}_${platform}.deb`]),
      ...['keystorectl.tar.gz', 'LICENSES', 'SHA256SUMS'],
    ]);
    expect(run('sh', '-c', `cd ${path('built')} && sha256sum --check --strict SHA256SUMS`)).not.toContain('FAILED');
  });

  test('a second build gives the same octets', () => {
    run(process.execPath, builder, path('again'));
    expect(readFileSync(path('again', 'SHA256SUMS'), 'utf8')).toBe(readFileSync(path('built', 'SHA256SUMS'), 'utf8'));
  });

  // Both releases that the package is for.
  describe.each(suitesOr('bookworm', 'trixie'))('on Debian %s', (suite) => {
    const directory = path(suite);
    let system: CleanSystem;
    const inSystem = (command: string, ...args: string[]): string => run('chroot', directory, command, ...args);

    beforeAll(async () => {
      const architecture = run('dpkg', '--print-architecture').trim();
      const deb = files.find((file) => file.endsWith(`_${architecture}.deb`)) ?? '';
      system = await makeCleanSystem(directory, suite, {
        packages: ['man-db', 'mandoc', ...toolsOfWalks],
        deb,
        options: ['--dpkgopt=path-include=/usr/share/man/*'],
      });
      measure(`Debian ${suite} with the package keystorectl`, system);
      const single = files.find((file) => basename(file) === `keystorectl-linux-${architecture}`) ?? '';
      cpSync(single, join(directory, 'opt/keystorectl'));
    });

    test('it runs without a Node.js of the release', () => {
      expect(inSystem('keystorectl', '--version')).toBe(`${manifest.version}\n`);
      expect(existsSync(path(suite, 'usr/bin/node'))).toBe(false);
    });

    test('every command has a page that neither groff nor mandoc has anything to say about', () => {
      for (const name of ['keystorectl', ...programCommands.map((command) => `keystorectl-${command.name}`)]) {
        const page = `/usr/share/man/man1/${name}.1.gz`;
        const shown = spawnSync('chroot', [directory, 'env', 'LC_ALL=C.UTF-8', 'man', '--warnings', '--local-file', page], {
          encoding: 'utf8',
        });
        expect([shown.status, shown.stderr], name).toEqual([0, '']);
        expect(shown.stdout, name).toContain(name.toUpperCase());
        const lint = spawnSync('chroot', [directory, 'mandoc', '-T', 'lint', '-W', 'warning', page], { encoding: 'utf8' });
        expect([lint.status, lint.stdout], name).toEqual([0, '']);
      }
    });

    let running: Daemon | undefined;
    afterEach(() => running?.stop());

    test.each([
      ['the package', '/usr/bin/keystorectl'],
      ['the single file', '/opt/keystorectl'],
    ])('%s leads through the documents with the tools that they name, and without Node.js', async (form, program) => {
      const daemon = await startDaemon({ directory: path(`data of ${suite} and ${form}`) });
      running = daemon;
      for (const document of walks) {
        const name = `${basename(program)} of ${form}, ${basename(document)}`;
        const home = join(system.home, name);
        // What a reader has who is on the machine of the appliance: the CA and the root token in `data`, keystorectl in `appliance`.
        mkdirSync(join(home, 'appliance'), { recursive: true });
        mkdirSync(join(home, 'data/tls'), { recursive: true });
        symlinkSync(program, join(home, 'appliance/keystorectl'));
        writeFileSync(join(home, 'data/root-token'), daemon.rootToken);
        writeFileSync(join(home, 'data/tls/ca.pem'), daemon.caPem);
        const walked = system.runAsReader(walkOf(join(root, document), daemon), name, { KEYSTORED_URL: daemon.url });
        await expect(walked, name).resolves.toMatchObject({ code: 0 });
        measure(name, await walked);
      }
    });

    test.each([
      ['the package', '/usr/bin/keystorectl'],
      ['the single file', '/opt/keystorectl'],
    ])('%s shows keys to programs that use PKCS#11, and encrypts the secrets of Kubernetes', async (form, program) => {
      const daemon = await startDaemon({ directory: path(`services of ${suite} and ${form}`) });
      running = daemon;
      await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'web', cipher: 'ecdsa-p256' });
      await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'etcd' });
      writeFileSync(join(directory, 'ca.pem'), daemon.caPem);
      const env = { PATH: '/usr/sbin:/usr/bin', KEYSTORED_URL: daemon.url, KEYSTORED_CA: '/ca.pem', KEYSTORED_TOKEN: daemon.rootToken };
      const start = (...words: string[]) => spawn('chroot', [directory, program, ...words], { env, stdio: 'pipe' });
      const pkcs11 = start('pkcs11', '--key', 'web');
      const client = new P11KitClient(pkcs11.stdin, pkcs11.stdout);
      const session = await client.openSession();
      const [key = 0] = await client.find(session, wanted.class(3));
      await client.begin(session, key, 0x1041);
      expect(await client.sign(session, Buffer.alloc(32, 1))).toHaveLength(64);
      client.end();
      expect(await once(pkcs11, 'exit')).toEqual([0, null]);
      const plugin = start('kms', '--socket', '/kms.sock', '--key', 'etcd');
      await once(plugin.stderr, 'data');
      const kms = new KmsClient(join(directory, 'kms.sock'));
      expect(await kms.status()).toEqual(['v2', 'ok', 'etcd:1']);
      kms.end();
      plugin.kill('SIGTERM');
      expect(await once(plugin, 'exit')).toEqual([0, null]);
    });

    test('removed, it leaves nothing', () => {
      const owned = inSystem('dpkg', '--listfiles', 'keystorectl').trim().split('\n');
      expect(owned).toContain('/usr/share/bash-completion/completions/keystorectl');
      inSystem('dpkg', '--purge', 'keystorectl');
      expect(owned.filter((file) => file.includes('keystore') && existsSync(`${directory}${file}`))).toEqual([]);
    });
  });
});

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
