// What the Debian package holds: the daemon and what it needs, nothing of the workshop, with modes that keep others out.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const builder = ['dpkg-deb', 'git'].every((tool) => spawnSync(tool, ['--version']).status === 0);
if (!builder) console.warn('SKIPPED: the contents of the Debian package, because dpkg-deb or git is not installed');

describe.skipIf(!builder)('the Debian package', () => {
  let deb = '';
  let files: { readonly mode: string; readonly owner: string; readonly name: string }[] = [];
  let control = '';

  beforeAll(() => {
    const built = run(process.execPath, join(root, 'appliance/packaging/build-deb.ts'), '0.0.1', path());
    deb = built.trim();
    control = run('dpkg-deb', '--field', deb);
    files = run('dpkg-deb', '--contents', deb)
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [mode = '', owner = '', , , , ...name] = line.split(/\s+/);
        return { mode, owner, name: name.join(' ').replace(/^\.\//, '') };
      });
  });

  test('has the commands, the unit, the configuration and every floor', () => {
    const names = files.map(({ name }) => name);
    for (const name of [
      'usr/bin/keystored',
      'usr/bin/keystorectl',
      'etc/keystored/keystored.yaml',
      'usr/lib/systemd/system/keystored.service',
      'usr/lib/systemd/system/keystored-management.socket',
      'usr/lib/systemd/system/keystored-est.socket',
      'usr/lib/sysusers.d/keystored.conf',
      'usr/lib/tmpfiles.d/keystored.conf',
      'usr/lib/sysctl.d/60-keystored.conf',
      'usr/lib/keystored/service/keystored.js',
      'usr/lib/keystored/service/LICENSES',
      'usr/lib/keystored/appliance/keystored.ts',
      'usr/lib/keystored/appliance/cli/keystorectl.ts',
      'usr/lib/keystored/hsm/host/host.ts',
      'usr/lib/keystored/softhsm.conf',
      'usr/lib/keystored/node_modules/node/bin/node',
      'usr/lib/keystored/node_modules/pkcs11js/build/Release/pkcs11.node',
    ]) {
      expect(names).toContain(name);
    }
  });

  test.each(['systemd/keystored.service', 'os/tree/usr/lib/systemd/system/keystored.service.d/appliance.conf', 'commands/keystored'])(
    'what %s starts is in it',
    (file) => {
      const text = readFileSync(join(root, 'appliance/packaging', file), 'utf8').replaceAll('$home', '/usr/lib/keystored');
      const started = [...text.matchAll(/\/(usr\/lib\/keystored\/[\w./-]+)/g)].map(([, path]) => path);
      expect(started.length).toBeGreaterThan(1);
      expect(files.map(({ name }) => name.replace(/\/$/, ''))).toEqual(expect.arrayContaining(started));
    },
  );

  test('leaves the workshop at home: no tests, no development packages, no set-up', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dev?: true }> };
    const ofTests = Object.keys(packages).filter((place) => packages[place]?.dev === true);
    const unexpected = files.filter(
      ({ name }) =>
        /^usr\/lib\/keystored\/(?:test|data|dist)|setup\.mjs$|\.musl\.node$/.test(name) ||
        ofTests.some((place) => name.startsWith(`usr/lib/keystored/${place}/`)),
    );
    expect(unexpected).toEqual([]);
  });

  test('belongs to root, is written by nobody else, has no set-id bit, and only programs are executable', () => {
    expect(files.filter(({ owner }) => owner !== 'root/root')).toEqual([]);
    expect(files.filter(({ mode }) => !/^(?:drwxr-xr-x|-rwxr-xr-x|-rw-r--r--)$/.test(mode))).toEqual([]);
    expect(files.filter(({ mode }) => mode === '-rwxr-xr-x').map(({ name }) => name)).toEqual([
      'usr/bin/keystorectl',
      'usr/bin/keystored',
      'usr/lib/keystored/node_modules/node/bin/node',
    ]);
  });

  test('tells nothing of the place where it was built', () => {
    run('dpkg-deb', '--extract', deb, path('extracted'));
    const places = [`${root}/`, join(homedir(), '.npm'), join(tmpdir(), 'keystored-')].flatMap((place) => ['-e', place]);
    const { status, stdout } = spawnSync('grep', ['-rlaF', ...places, path('extracted')], { encoding: 'utf8' });
    // 1: nothing was found.
    expect([status, stdout]).toEqual([1, '']);
  });

  test('asks for the embedded token’s module and for what the pinned Node.js is linked to', () => {
    for (const name of ['softhsm2', 'libc6', 'libstdc++6', 'libatomic1', 'systemd'])
      expect(control).toMatch(new RegExp(`^Depends:.*\\b${name.replaceAll('+', '\\+')}(?![\\w-])`, 'm'));
  });
});

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
}
