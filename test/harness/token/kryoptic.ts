// The PKCS#11 module kryoptic for tests, built once from its crates, with the versions and sums of kryoptic/Cargo.lock. It is linked with no
// libcrypto: its calls bind to the OpenSSL of the Node.js that loads it, whose headers the archive of Node.js brings.
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchNodeArchive, ownPlatform } from '../../../appliance/packaging/node-binary.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { initialiseSoftToken, prepareToken } from '../../../hsm/setup/setup.ts';
import { madeOnce } from '../once.ts';

/** The path of the module, or why it is not available. */
export type KryopticModule = { readonly module: string } | { readonly missing: string };

const run = promisify(execFile);
const crate = join(import.meta.dirname, 'kryoptic');
const sources = ['Cargo.toml', 'Cargo.lock', 'src/lib.rs'];
/** Names of OpenSSL stay open until Node.js loads the module, and its loader then asks for those alone that are called. */
const linking = '-C relro-level=partial -C link-arg=-Wl,-z,lazy -C link-arg=-Wl,--unresolved-symbols=ignore-all';
/** It says 0.0 of itself. */
export const kryopticVersion = /^kryoptic-lib = .*"=([\d.]+)"/m.exec(readFileSync(join(crate, 'Cargo.toml'), 'utf8'))?.[1] ?? '';
const buildMilliseconds = 10 * 60_000;

/** The module that an earlier run has built. */
export function builtKryoptic(): KryopticModule {
  const module = modulePath();
  return existsSync(module) ? { module } : { missing: 'not built yet; npm test -- long builds it' };
}

/**
 * The module, built where that was not done yet: half a minute with two cores and the crates at hand. KEYSTORED_TEST_KRYOPTIC=off leaves it
 * out. What cannot be built is tried once in a run.
 */
export async function obtainKryoptic(): Promise<KryopticModule> {
  if (process.env['KEYSTORED_TEST_KRYOPTIC'] === 'off') return { missing: 'KEYSTORED_TEST_KRYOPTIC is off' };
  const built = builtKryoptic();
  if ('module' in built) return built;
  const outcome = await madeOnce('kryoptic', async (directory) => {
    const reason = await build().then(
      () => '',
      (error: unknown) => reasonOf(error),
    );
    writeFileSync(join(directory, 'reason'), reason);
  });
  const missing = readFileSync(join(outcome, 'reason'), 'utf8');
  return missing === '' ? builtKryoptic() : { missing };
}

/** Makes a fresh token below `directory`, by default a prepared one, and returns its configuration. */
export async function makeKryopticToken(
  { module }: { module: string },
  directory: string,
  name = 'kryoptic',
  { isPrepared = true } = {},
): Promise<TokenConfig> {
  const folder = join(directory, `${name}-kryoptic`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [configuration, pin, soPin] = ['kryoptic.conf', 'pin', 'so-pin'].map((file) => join(folder, file)) as [string, string, string];
  writeFileSync(configuration, `[[slots]]\nslot = 1\ndbtype = "sqlite"\ndbargs = "${join(folder, 'token.sql')}"\n`);
  for (const file of [pin, soPin]) writeFileSync(file, randomUUID(), { mode: 0o600 });
  const token = { name, module, label: `test-${name}`, pin: { file: pin }, environment: { KRYOPTIC_CONF: configuration } } as const;
  await initialiseSoftToken({ ...token, soPin: { file: soPin } });
  if (isPrepared) await prepareToken(token);
  return token;
}

function modulePath(): string {
  const digest = createHash('sha256').update(linking).update(process.versions.node).update(process.arch);
  for (const name of sources) digest.update(readFileSync(join(crate, name)));
  return join(homedir(), '.cache', 'keystored-kryoptic', digest.digest('hex').slice(0, 16), 'libkryoptic_module.so');
}

async function build(): Promise<void> {
  await run('cargo', ['--version']);
  console.error('building kryoptic (half a minute, and what the crates take to come) …');
  const path = modulePath();
  mkdirSync(dirname(path), { recursive: true });
  // What a run that is killed leaves has no place beside the module, in the cache of the user.
  const work = mkdtempSync(join(tmpdir(), 'kryoptic-'));
  try {
    const include = await headersOfNode(work);
    // Its bindings ask pkg-config for OpenSSL.
    writeFileSync(join(work, 'openssl.pc'), `Name: openssl\nDescription: of Node.js\nVersion: ${openSslVersion()}\nCflags: -I${include}\n`);
    await run('cargo', ['build', '--locked', '--release', '--quiet'], {
      cwd: crate,
      timeout: buildMilliseconds,
      env: { ...process.env, PKG_CONFIG_PATH: work, RUSTFLAGS: linking, CARGO_TARGET_DIR: join(work, 'target') },
    });
    copyFileSync(join(work, 'target/release/libkryoptic_module.so'), `${path}.${process.pid}`);
    renameSync(`${path}.${process.pid}`, path);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function headersOfNode(work: string): Promise<string> {
  await run('tar', ['--extract', `--file=${fetchNodeArchive(ownPlatform())}`, `--directory=${work}`, 'package/include']);
  return join(work, 'package/include/node');
}

/** Without the mark of those that Node.js has patched. */
function openSslVersion(): string {
  return process.versions.openssl.replace(/[^\d.].*$/, '');
}

/** The first line that says what is wrong: cargo says more below it. */
function reasonOf(error: unknown): string {
  const { stderr, message, code } = error as { stderr?: string; message: string; code?: unknown };
  if (code === 'ENOENT') return 'there is no cargo to build it with';
  const lines = (stderr === undefined || stderr === '' ? message : stderr).split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => line.startsWith('error')) ?? lines[0] ?? message).trim();
}
