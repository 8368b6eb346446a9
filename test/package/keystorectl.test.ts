// The Debian package keystorectl on clean systems without the daemon: it installs, runs, has its manual, and leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { programCommands } from '../../appliance/cli/program.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

/** Both releases that the package is for, unless one is named. */
const suites = process.env['KEYSTORED_TEST_SUITE']?.split(',') ?? ['bookworm', 'trixie'];
const mirror = process.env['KEYSTORED_TEST_MIRROR'];

const path = temporaryDirectory();
const builder = resolve(import.meta.dirname, '../../appliance/packaging/keystorectl/build-keystorectl.ts');

const possible = process.getuid?.() === 0 && spawnSync('mmdebstrap', ['--version']).status === 0;
if (!possible) console.warn('SKIPPED: installing keystorectl in clean chroots, because that needs root and mmdebstrap');

describe.skipIf(!possible)('keystorectl without the daemon', () => {
  let files: readonly string[] = [];
  beforeAll(() => {
    files = run(process.execPath, builder, path('built')).trim().split('\n');
  });

  test('is built in every form, with sums that fit', () => {
    expect(files.map((file) => basename(file))).toEqual([
      ...['amd64', 'arm64'].flatMap((platform) => [`keystorectl-linux-${platform}`, `keystorectl_${manifest.version}_${platform}.deb`]),
      ...['keystorectl.tar.gz', 'LICENSES', 'SHA256SUMS'],
    ]);
    expect(run('sh', '-c', `cd ${path('built')} && sha256sum --check --strict SHA256SUMS`)).not.toContain('FAILED');
  });

  test('a second build gives the same octets', () => {
    run(process.execPath, builder, path('again'));
    expect(readFileSync(path('again', 'SHA256SUMS'), 'utf8')).toBe(readFileSync(path('built', 'SHA256SUMS'), 'utf8'));
  });

  describe.each(suites)('on Debian %s', (suite) => {
    const system = path(suite);
    const inSystem = (command: string, ...args: string[]): string => run('chroot', system, command, ...args);

    beforeAll(() => {
      const architecture = run('dpkg', '--print-architecture').trim();
      const deb = files.find((file) => file.endsWith(`_${architecture}.deb`)) ?? '';
      run(
        'mmdebstrap',
        ...['--variant=minbase', '--include=man-db,mandoc', '--dpkgopt=path-include=/usr/share/man/*'],
        `--customize-hook=copy-in ${deb} /root`,
        '--customize-hook=chroot "$1" apt-get update',
        `--customize-hook=chroot "$1" apt-get install --yes --no-install-recommends /root/${basename(deb)}`,
        ...[suite, system, ...(mirror === undefined ? [] : [mirror])],
      );
    });

    test('it runs without a Node.js of the release', () => {
      expect(inSystem('keystorectl', '--version')).toBe(`${manifest.version}\n`);
      expect(existsSync(path(suite, 'usr/bin/node'))).toBe(false);
    });

    test('every command has a page that neither groff nor mandoc has anything to say about', () => {
      for (const name of ['keystorectl', ...programCommands.map((command) => `keystorectl-${command.name}`)]) {
        const page = `/usr/share/man/man1/${name}.1.gz`;
        const shown = spawnSync('chroot', [system, 'env', 'LC_ALL=C.UTF-8', 'man', '--warnings', '--local-file', page], {
          encoding: 'utf8',
        });
        expect([shown.status, shown.stderr], name).toEqual([0, '']);
        expect(shown.stdout, name).toContain(name.toUpperCase());
        const lint = spawnSync('chroot', [system, 'mandoc', '-T', 'lint', '-W', 'warning', page], { encoding: 'utf8' });
        expect([lint.status, lint.stdout], name).toEqual([0, '']);
      }
    });

    test('removed, it leaves nothing', () => {
      const owned = inSystem('dpkg', '--listfiles', 'keystorectl').trim().split('\n');
      expect(owned).toContain('/usr/share/bash-completion/completions/keystorectl');
      inSystem('dpkg', '--purge', 'keystorectl');
      expect(owned.filter((file) => file.includes('keystore') && existsSync(`${system}${file}`))).toEqual([]);
    });
  });
});

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
