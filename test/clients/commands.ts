// Runs the programs of other languages, says what failed in their own words, and measures what the generators write.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { endWithTests } from '../harness/children.ts';
import { toolchains } from './versions.ts';

export type Ending = { readonly code: number; readonly stdout: string; readonly output: string; readonly seconds: number };

export type Where = { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> };

const tailCharacters = 6_000;

/** Runs a program to its end; `output` is both streams as they came. Rejects only when it cannot be started. */
export function run(program: string, args: readonly string[], where: Where = {}): Promise<Ending> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...where.environment };
    const child = spawn(program, args, { cwd: where.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    endWithTests(child);
    let [stdout, output] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => ((stdout += chunk.toString()), (output += chunk.toString())));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, output, seconds: (performance.now() - started) / 1_000 }));
  });
}

/** Runs a program that has to end well; throws the end of what it printed otherwise. */
export async function must(program: string, args: readonly string[], where: Where = {}): Promise<Ending> {
  const ending = await run(program, args, where);
  if (ending.code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${ending.code}:\n${ending.output.slice(-tailCharacters)}`);
  return ending;
}

/**
 * Fails with a sentence where a toolchain is missing or too old: a proof that is left out is not a proof.
 * `setup.mjs` installs what Debian has; this speaks for the rest.
 */
export async function requireToolchain(name: keyof typeof toolchains): Promise<void> {
  const { oldest, install } = toolchains[name];
  const asked = await run(name, [name === 'go' ? 'version' : '--version']).catch(() => undefined);
  if (asked?.code !== 0) throw new Error(`${name} is not installed: install ${install}`);
  const version = /\d+(?:\.\d+)+/.exec(asked.output)?.[0] ?? '0';
  if (isOlder(version, oldest)) throw new Error(`${name} ${version} is too old: install ${install}`);
}

function isOlder(version: string, oldest: string): boolean {
  const [left, right] = [version, oldest].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const differs = right.findIndex((part, index) => (left[index] ?? 0) !== part);
  return differs >= 0 && (left[differs] ?? 0) < (right[differs] ?? 0);
}

/** A directory for tools that serve many runs: in the user's cache, never in the project. */
export function toolDirectory(...names: readonly string[]): string {
  const directory = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'keystored-clients', ...names);
  mkdirSync(directory, { recursive: true });
  return directory;
}

type Measure = { readonly what: string; readonly seconds: number; readonly size?: string };

const measures: Measure[] = [];

/** Prints the measures of a test file when its tests are done. Call it at the top of the file. */
export function printMeasures(): void {
  afterAll(() => {
    const lines = measures.map(
      ({ what, seconds, size }) => `${seconds.toFixed(1).padStart(7)} s  ${what}${size === undefined ? '' : `: ${size}`}`,
    );
    console.log(lines.join('\n'));
  });
}

/** Remembers how long a step took and, where it wrote `directory`, how many files and lines of these endings it has. */
export function measure(what: string, { seconds }: Pick<Ending, 'seconds'>, directory?: string, ending = ''): void {
  measures.push({ what, seconds, ...(directory === undefined ? {} : { size: sizeOf(directory, ending) }) });
}

function sizeOf(directory: string, ending: string): string {
  const texts = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const octets = texts.reduce((sum, text) => sum + text.length, 0);
  const lines = texts.reduce((sum, text) => sum + text.toString('latin1').split('\n').length - 1, 0);
  return `${texts.length} files, ${lines.toLocaleString('en')} lines, ${(octets / 1e6).toFixed(1)} MB`;
}
