// Other people's programs with keys of a running appliance, through p11-kit: every command of the page about PKCS#11, as a reader would type
// them, in a mount namespace in which the module files are those of the test alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ending, run } from '../../clients/commands.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { unpackPackages } from '../../harness/debian-packages.ts';
import { blocksOf } from '../../harness/markdown.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const page = join(root, 'appliance/docs/use/pkcs11.md');
const at = temporaryDirectory();
const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
const providers = join(libraries, 'ossl-modules');
let daemon: Daemon;
let sshPort: number;

beforeAll(async () => {
  daemon = await startDaemon({ directory: at('data') });
  for (const name of ['home', 'home/.ssh', 'modules', 'none']) mkdirSync(at(name), { recursive: true });
  symlinkSync(join(root, 'appliance'), at('home', 'appliance'));
  symlinkSync(at('data'), at('home', 'data'));
  // A worker of nginx as another user passes through these.
  for (const name of ['', 'home']) chmodSync(at(name), 0o755);
  sshPort = await freePort();
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('host-key')]);
  writeFileSync(
    at('sshd.conf'),
    [
      ...[
        `Port ${sshPort}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${at('host-key')}`,
        `AuthorizedKeysFile ${at('home/.ssh/authorized_keys')}`,
      ],
      ...['StrictModes no', 'UsePAM no', 'PermitRootLogin yes', 'PasswordAuthentication no', `PidFile ${at('sshd.pid')}`, ''],
    ].join('\n'),
  );
  writeFileSync(
    at('home/.ssh/config'),
    `Host example\n  HostName 127.0.0.1\n  Port ${sshPort}\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n`,
  );
  mkdirSync('/run/sshd', { recursive: true });
  await provideProvider();
});
afterAll(() => daemon.stop());

/** OpenSSL's provider for PKCS#11 is in Debian from 13 on, and runs with the OpenSSL and the C library of 12. */
async function provideProvider(): Promise<void> {
  cpSync(providers, at('providers'), { recursive: true });
  if (existsSync(at('providers/pkcs11.so'))) return;
  mkdirSync(at('trixie'));
  const unpacked = await unpackPackages(at('trixie'), { suite: 'trixie', of: ['pkcs11-provider'] });
  cpSync(join(unpacked, providers, 'pkcs11.so'), at('providers/pkcs11.so'));
}

/** Runs lines of bash as a reader whose home is that of the test, with its own module files. */
function asReader(lines: string): Promise<Ending> {
  const script = [
    'mount --make-rprivate /',
    `mount --bind ${at('modules')} /etc/pkcs11/modules`,
    `mount --bind ${at('none')} /usr/share/p11-kit/modules`,
    `mount --bind ${at('providers')} ${providers}`,
    `mount --bind ${at('home')} ${homedir()}`,
    'cd ~',
    'ulimit -c 0',
    'trap \'echo "stopped in the block at line $LINE" >&2\' ERR',
    'set -eE',
    lines,
  ].join('\n');
  // With a process namespace, nothing that a block has started outlives the script.
  return run('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'bash', '-c', script], {
    environment: {
      PATH: `${join(root, 'appliance')}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
      HOME: homedir(),
      KEYSTORED_DATA: at('data'),
      KEYSTORED_URL: daemon.url,
      LC_ALL: 'C.UTF-8',
      XDG_CACHE_HOME: at('cache'),
    },
  });
}

test('every command of the page does what it says, and its signatures hold for other programs', async () => {
  mkdirSync('/etc/pkcs11/modules', { recursive: true });
  const blocks = blocksOf(page).filter(({ language }) => language === 'bash');
  expect(blocks.length).toBeGreaterThan(11);
  const commands = blocks.flatMap(({ line, text }) => [`LINE=${line}`, text]).join('\n');
  const lines = commands.replaceAll('127.0.0.1:4646', new URL(daemon.url).host);
  const ports = [8443, 8444, 8445, 8446, 8447];
  let moved = lines;
  for (const port of ports) moved = moved.replaceAll(String(port), String(await freePort()));
  const { code, output } = await asReader(`$(command -v sshd) -f ${at('sshd.conf')}\n${moved}`);
  expect(code, output).toBe(0);
  expect(output.match(/^0 200$/gm), output).toHaveLength(4);
  const trail = readFileSync(at('data/audit/worker-1.000000000001.jsonl'), 'utf8');
  const agents = new Set(
    [...trail.matchAll(/"user-agent":"keystorectl-pkcs11\/[^ "]+ ?(?:\(claimed: ([^)]+)\))?"/g)].map(([, name = '']) => name),
  );
  expect([...agents]).toEqual(
    expect.arrayContaining([
      '',
      'openssl',
      'ssh',
      'p11tool',
      'gnutls-serv',
      'pkcs11-tool',
      'keytool',
      'jarsigner',
      'cmsutil',
      'pki',
      'osslsigncode',
      'sbsign',
    ]),
  );
});

test('every program of the table has a section whose commands are run', () => {
  const text = readFileSync(page, 'utf8');
  const sections = [...text.matchAll(/\]\(#([a-z-]+)\) \|$/gm)].map(([, name]) => name);
  expect(sections.length).toBeGreaterThan(8);
  const headings = new Map(
    [...text.matchAll(/^#{2,3} (.+)$/gm)].map((match) => [(match[1] ?? '').toLowerCase().replaceAll(' ', '-'), match.index]),
  );
  for (const name of sections) {
    const start = headings.get(name ?? '');
    expect(start, name).toBeDefined();
    const next = Math.min(...[...headings.values()].filter((index) => index > (start ?? 0)), text.length);
    expect(text.slice(start, next), name).toContain('```bash');
  }
});
