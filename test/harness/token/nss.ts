// NSS softoken with ML-DSA for tests, taken from a newer suite of the machine's own distribution and unpacked beside the packages.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TokenConfig } from '../../../hsm/api.ts';
import { describeModule, initialiseSoftToken, prepareToken } from '../../../hsm/setup/setup.ts';

/** The path of the module, or why it is not available. */
export type NssModule = { readonly directory: string } | { readonly missing: string };

const run = promisify(execFile);
const cache = resolve(import.meta.dirname, '../../../node_modules/.cache/nss-softoken');
/** Suites newer than any release; the first one whose module offers ML-DSA is used. */
const newerSuites: Readonly<Record<string, readonly string[]>> = { debian: ['testing', 'unstable'], ubuntu: ['devel'] };
const forgetFailureMilliseconds = 10 * 60_000;

/**
 * Finds or fetches the module. KEYSTORED_TEST_NSS names a directory that has it already, or `off`. A failure is remembered for ten
 * minutes, so that a machine without network waits for it once.
 */
export async function obtainNss(): Promise<NssModule> {
  const given = process.env['KEYSTORED_TEST_NSS'];
  if (given === 'off') return { missing: 'KEYSTORED_TEST_NSS is off' };
  if (given !== undefined) return { directory: given };
  const directory = join(cache, 'lib');
  if (existsSync(join(directory, 'libsoftokn3.so'))) return { directory };
  const failure = join(cache, 'unavailable');
  if (existsSync(failure) && Date.now() - statSync(failure).mtimeMs < forgetFailureMilliseconds) {
    return { missing: readFileSync(failure, 'utf8') };
  }
  mkdirSync(cache, { recursive: true });
  try {
    await fetchModule(directory);
    return { directory };
  } catch (error) {
    const missing = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    writeFileSync(failure, missing);
    return { missing };
  }
}

/** Makes a fresh token below `directory`, by default a prepared one, and returns its configuration. */
export async function makeNssToken(
  nss: { directory: string },
  directory: string,
  name = 'pq',
  { isPrepared = true } = {},
): Promise<TokenConfig> {
  const database = join(directory, `${name}-nss`);
  mkdirSync(database, { recursive: true, mode: 0o700 });
  const pin = join(directory, `${name}-nss-pin`);
  writeFileSync(pin, randomUUID(), { mode: 0o600 });
  const label = `test-${name}`;
  const token = {
    name,
    module: join(nss.directory, 'libsoftokn3.so'),
    label,
    pin: { file: pin },
    environment: { LD_LIBRARY_PATH: nss.directory },
    libraryParameters: `configdir='sql:${database}' certPrefix='' keyPrefix='' secmod='secmod.db' flags= tokenDescription='keystored' dbTokenDescription='${label}'`,
  } as const;
  await initialiseSoftToken(token);
  if (isPrepared) await prepareToken(token);
  return token;
}

async function fetchModule(directory: string): Promise<void> {
  const release = parseAssignments(readFileSync('/etc/os-release', 'utf8'));
  const suites = newerSuites[release['ID'] ?? ''];
  if (suites === undefined) throw new Error(`no newer suite is known for ${release['ID'] ?? 'this system'}`);
  const sources = findSources(release['VERSION_CODENAME'] ?? '');
  if (sources.length === 0) throw new Error('the package sources of this machine name no mirror of its release');
  const reasons: string[] = [];
  for (const suite of suites) {
    const work = mkdtempSync(join(cache, 'fetch-'));
    try {
      await download(work, suite, sources);
      const unpacked = join(work, 'lib');
      await requireMlDsa(unpacked);
      renameSync(unpacked, directory);
      return;
    } catch (error) {
      reasons.push(`${suite}: ${error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error)}`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(reasons.join('; '));
}

/** Downloads and unpacks the libraries with a private apt configuration: the package state of the machine does not change. */
async function download(work: string, suite: string, sources: readonly { options: string; uri: string }[]): Promise<void> {
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'debs', 'root', 'lib'])
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
  await run('apt-get', [...settings, 'update']);
  await run('apt-get', [...settings, 'download', 'libnss3'], { cwd: join(work, 'debs') });
  // The portable runtime and SQLite of this release fit its C library; newer ones might not.
  await run('apt-get', ['download', 'libnspr4', 'libsqlite3-0'], { cwd: join(work, 'debs') }).catch(() => {});
  for (const name of readdirSync(join(work, 'debs'))) await run('dpkg', ['-x', join(work, 'debs', name), join(work, 'root')]);
  for (const path of readdirSync(join(work, 'root'), { recursive: true, encoding: 'utf8' })) {
    const name = path.split('/').at(-1) ?? '';
    if (/\.so(\.\d+)*$|\.chk$/.test(name)) await run('cp', ['-L', join(work, 'root', path), join(work, 'lib', name)]).catch(() => {});
  }
}

async function requireMlDsa(directory: string): Promise<void> {
  const database = mkdtempSync(join(cache, 'probe-'));
  try {
    const { slots } = await describeModule(join(directory, 'libsoftokn3.so'), {
      environment: { LD_LIBRARY_PATH: directory },
      libraryParameters: `configdir='sql:${database}' certPrefix='' keyPrefix='' secmod='secmod.db' flags=`,
    });
    if (!slots.some(({ keyTypes }) => keyTypes.includes('ml-dsa-65'))) throw new Error('its NSS softoken does not offer CKM_ML_DSA');
  } finally {
    rmSync(database, { recursive: true, force: true });
  }
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

function parseAssignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)="?([^"\n]*)"?$/gm)].map(([, name = '', value = '']) => [name, value]));
}
