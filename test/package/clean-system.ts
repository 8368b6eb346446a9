// Debian systems that have what is asked for and nothing else, and commands in them.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { must, type Ending } from '../clients/commands.ts';

/** The Debian releases that a test takes when KEYSTORED_TEST_SUITE does not name others. */
export function suitesOr(...suites: readonly string[]): readonly string[] {
  return process.env['KEYSTORED_TEST_SUITE']?.split(',') ?? suites;
}

/** Whether clean systems can be made here; says what is skipped otherwise. */
export function canMakeCleanSystems(what: string): boolean {
  const possible = process.getuid?.() === 0 && spawnSync('mmdebstrap', ['--version']).status === 0;
  if (!possible) console.warn(`SKIPPED: ${what}, because that needs root and mmdebstrap`);
  return possible;
}

/** Who uses the system: not root, with a home. */
const reader = { name: 'reader', home: '/home/reader' };

export type CleanSystem = {
  /** the root of the system, as seen from outside */ readonly directory: string;
  /** the home of its user, as seen from outside */ readonly home: string;
  /** how long it took to make it */ readonly seconds: number;
  /** A script for bash in a directory below the home; ends at the first command that fails, and throws what was said. The network is the one of this machine. */
  runAsReader(script: string, directory: string, environment?: Readonly<Record<string, string>>): Promise<Ending>;
};

export type Contents = {
  /** packages of the release, without those they recommend */ readonly packages?: readonly string[];
  /** a package file, installed with what it depends on; it is in /root afterwards */ readonly deb?: string;
  /** further options of mmdebstrap */ readonly options?: readonly string[];
};

/** Makes a system of a Debian release in a directory that does not exist. */
export async function makeCleanSystem(directory: string, suite: string, contents: Contents): Promise<CleanSystem> {
  const { packages = [], deb, options = [] } = contents;
  const mirror = process.env['KEYSTORED_TEST_MIRROR'];
  const install = (file: string): string[] => [
    `copy-in ${file} /root`,
    'chroot "$1" apt-get update',
    `chroot "$1" apt-get install --yes --no-install-recommends /root/${basename(file)}`,
  ];
  const hooks = [...(deb === undefined ? [] : install(deb)), `chroot "$1" useradd --create-home ${reader.name}`];
  const { seconds } = await must('mmdebstrap', [
    ...['--variant=minbase', '--quiet', `--include=${['ca-certificates', ...packages].join(',')}`],
    ...[...options, ...hooks.map((hook) => `--customize-hook=${hook}`)],
    ...[suite, directory, ...(mirror === undefined ? [] : [mirror])],
  ]);
  await trustWhatThisMachineTrusts(directory);
  return {
    directory,
    home: join(directory, reader.home),
    seconds,
    runAsReader: (script, at, environment = {}) => runAsReader(directory, script, join(reader.home, at), environment),
  };
}

/** Machines behind a proxy have a CA of their own; names are resolved as here. */
async function trustWhatThisMachineTrusts(directory: string): Promise<void> {
  const own = 'usr/local/share/ca-certificates';
  if (existsSync(`/${own}`) && readdirSync(`/${own}`).length > 0) {
    cpSync(`/${own}`, join(directory, own), { recursive: true });
    // Java has a store of its own, which a hook of this command fills with a program in Java: that needs /proc.
    await enter(directory, ['env', 'TMPDIR=/tmp', 'update-ca-certificates', '--fresh']);
  }
  if (existsSync('/etc/resolv.conf')) cpSync('/etc/resolv.conf', join(directory, 'etc/resolv.conf'), { dereference: true });
}

async function runAsReader(system: string, script: string, cwd: string, environment: Readonly<Record<string, string>>): Promise<Ending> {
  // What a test has put there belongs to the user, as if the user had.
  await must('chroot', [system, 'chown', '--recursive', '--no-dereference', `${reader.name}:`, reader.home]);
  writeFileSync(join(system, 'tmp/script'), `set -e\ncd "${cwd}"\n${script}\n`);
  const settings = { HOME: reader.home, PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', ...environment };
  const user = ['setpriv', `--reuid=${reader.name}`, `--regid=${reader.name}`, '--init-groups', '--no-new-privs'];
  return enter(system, [
    ...user,
    'env',
    '-i',
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    'bash',
    '/tmp/script',
  ]);
}

/** A command in the system, with the kernel's file systems. */
function enter(system: string, words: readonly string[]): Promise<Ending> {
  const mounts = `mount -t proc proc ${system}/proc && mount --rbind /dev ${system}/dev && exec chroot ${system} "$@"`;
  return must('unshare', ['--mount', 'sh', '-c', mounts, 'sh', ...words]);
}
