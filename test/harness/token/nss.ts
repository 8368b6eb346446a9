// NSS softoken with ML-DSA for tests, taken from a newer suite of the machine's own distribution and unpacked beside the packages.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TokenConfig } from '../../../hsm/api.ts';
import { distribution, unpackPackages } from '../debian-packages.ts';
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
  const suites = newerSuites[distribution()];
  if (suites === undefined) throw new Error(`no newer suite is known for ${distribution()}`);
  const reasons: string[] = [];
  for (const suite of suites) {
    const work = mkdtempSync(join(cache, 'fetch-'));
    try {
      await download(work, suite);
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

/** Downloads and unpacks the libraries. */
async function download(work: string, suite: string): Promise<void> {
  mkdirSync(join(work, 'lib'));
  // The portable runtime and SQLite of this release fit its C library; newer ones might not.
  const root = await unpackPackages(work, { suite, of: ['libnss3'], ofThisRelease: ['libnspr4', 'libsqlite3-0'] });
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const name = path.split('/').at(-1) ?? '';
    if (/\.so(\.\d+)*$|\.chk$/.test(name)) await run('cp', ['-L', join(root, path), join(work, 'lib', name)]).catch(() => {});
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
