// Packages of another suite of the machine's own distribution, unpacked beside its own: nothing is installed.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The distribution, as its os-release has it: `debian`. */
export function distribution(): string {
  return osRelease()['ID'] ?? 'this system';
}

/**
 * Downloads packages of a suite, and others of this release, into `work` with a private apt configuration, so that the package state of the
 * machine does not change. Resolves to the directory in which they are unpacked; rejects where there is no mirror or no such package of the suite.
 */
export async function unpackPackages(
  work: string,
  {
    suite,
    of: names,
    ofThisRelease = [],
  }: { readonly suite: string; readonly of: readonly string[]; readonly ofThisRelease?: readonly string[] },
): Promise<string> {
  const sources = findSources(osRelease()['VERSION_CODENAME'] ?? '');
  if (sources.length === 0) throw new Error('the package sources of this machine name no mirror of its release');
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'debs', 'root'])
    mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, 'sources.list'), sources.map(({ options, uri }) => `deb ${options} ${uri} ${suite} main\n`).join(''));
  const settings = [
    `Dir::State=${work}/state`,
    'Dir::State::status=/dev/null',
    `Dir::Cache=${work}/cache`,
    `Dir::Etc::sourcelist=${work}/sources.list`,
    'Dir::Etc::sourceparts=-',
    'APT::Sandbox::User=root',
    'APT::Update::Error-Mode=any',
    'Acquire::Languages=none',
    'Acquire::Retries=1',
    'Acquire::http::Timeout=20',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
  ].flatMap((setting) => ['-o', setting]);
  const debs = join(work, 'debs');
  await run('apt-get', [...settings, 'update']);
  await run('apt-get', [...settings, 'download', ...names], { cwd: debs });
  if (ofThisRelease.length > 0) await run('apt-get', ['download', ...ofThisRelease], { cwd: debs }).catch(() => {});
  for (const name of readdirSync(debs)) await run('dpkg', ['-x', join(debs, name), join(work, 'root')]);
  return join(work, 'root');
}

/**
 * Downloads packages of this release with everything that they depend on and the machine lacks, and unpacks them into `work`, once: later calls find
 * them there. Resolves to the directory that has them; rejects where they are not to be had.
 */
export async function unpackWithDependencies(work: string, names: readonly string[]): Promise<string> {
  const [root, debs, whole] = [join(work, 'root'), join(work, 'debs'), join(work, 'whole')];
  if (existsSync(whole)) return root;
  for (const folder of [join(debs, 'partial'), root]) mkdirSync(folder, { recursive: true });
  const options = ['-o', `Dir::Cache::archives=${debs}`, '-o', 'Debug::NoLocking=true', '-o', 'APT::Sandbox::User='];
  await run('apt-get', ['-qq', ...options, 'install', '--download-only', '--no-install-recommends', '-y', ...names]);
  for (const name of readdirSync(debs).filter((one) => one.endsWith('.deb'))) await run('dpkg', ['-x', join(debs, name), root]);
  rmSync(debs, { recursive: true });
  writeFileSync(whole, '');
  return root;
}

/** The mirrors of this machine's own release, in either format of apt's source files. */
function findSources(codename: string): { options: string; uri: string }[] {
  const folder = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [])];
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      return file.endsWith('.sources') ? stanzaSources(text, codename) : lineSources(text, codename);
    });
}

function lineSources(text: string, codename: string): { options: string; uri: string }[] {
  return [...text.matchAll(/^deb\s+(\[[^\]]*\])?\s*(\S+)\s+(\S+)\s+.*\bmain\b/gm)]
    .filter(([, , , suite]) => suite === codename)
    .map(([, options = '', uri = '']) => ({ options, uri }));
}

function stanzaSources(text: string, codename: string): { options: string; uri: string }[] {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string): string[] => new RegExp(`^${name}:\\s*(.+)$`, 'm').exec(stanza)?.[1]?.split(/\s+/) ?? [];
    if (!field('Types').includes('deb') || !field('Suites').includes(codename) || !field('Components').includes('main')) return [];
    const [key] = field('Signed-By');
    return field('URIs').map((uri) => ({ options: key?.startsWith('/') === true ? `[signed-by=${key}]` : '', uri }));
  });
}

function osRelease(): Record<string, string> {
  const text = readFileSync('/etc/os-release', 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)="?([^"\n]*)"?$/gm)].map(([, name = '', value = '']) => [name, value]));
}
