// Writes the client libraries to dist/clients, unless they are those of the present sources: the tests and the type check begin with this.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { languages } from './languages.ts';

const root = resolve(import.meta.dirname, '../..');

/** Directory of the clients, with a folder for each language. */
export const clientsDirectory = join(root, 'dist/clients');

/**
 * Makes the sources of all clients in `directory`. Each folder is replaced as a whole, so nothing of earlier sources is left.
 * Rejects when the API cannot be described; then no clients are there that could be taken for those of the present sources.
 */
export async function provideClients(directory = clientsDirectory, generate = describeAndGenerate): Promise<void> {
  const state = stateOfSources();
  const isPresent = (): boolean => readIfThere(join(directory, 'state')) === state;
  if (isPresent()) return;
  mkdirSync(directory, { recursive: true });
  const unfinished = mkdtempSync(join(directory, '.new-'));
  try {
    for (const [path, text] of await generate()) write(join(unfinished, path), text);
    // Another run may have made the same meanwhile, and be reading it.
    if (!isPresent()) replace(directory, unfinished, state);
  } catch (error) {
    for (const name of ['state', ...languages]) rmSync(join(directory, name), { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(unfinished, { recursive: true });
  }
}

/** Loads the whole appliance, which takes longer than everything else here. */
async function describeAndGenerate(): Promise<ReadonlyMap<string, string>> {
  const { clientSources } = await import('./generate.ts');
  return clientSources();
}

function replace(directory: string, unfinished: string, state: string): void {
  // Packages of other sources are stale.
  for (const name of ['state', 'packages']) rmSync(join(directory, name), { recursive: true, force: true });
  for (const language of languages) {
    const target = join(directory, language);
    if (existsSync(target)) renameSync(target, join(unfinished, `${language}-before`));
    renameSync(join(unfinished, language), target);
  }
  write(join(directory, 'state'), state);
}

/** A sum of all that the clients are made of: the appliance itself describes the API. */
function stateOfSources(): string {
  const made = [
    'LICENSE',
    'package-lock.json',
    '{core,hsm,plugins,appliance}/**/*.ts',
    `appliance/clients/{${languages.join(',')}}/**/*.*`,
  ];
  const names = globSync(made, { cwd: root, exclude: ['plugins/console/app'] }).toSorted();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  // Packages have these modes, independent of the umask of their builder.
  chmodSync(path, 0o644);
}

if (import.meta.main) await provideClients();
