// Copies an environment into a new directory, durably.
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from '../base/durable-files.ts';
import { countEntries, type Environment } from './environment.ts';

/** Rejects when the directory exists, so that a copy never overwrites another. Resolves with the number of entries in the copy. */
export async function copyEnvironment(environment: Environment, directory: string): Promise<{ readonly records: number }> {
  await mkdir(directory, { mode: 0o700 });
  await environment.copy(directory);
  await chmod(join(directory, 'data.mdb'), 0o600);
  await syncPath(join(directory, 'data.mdb'));
  await syncPath(directory);
  await syncPath(dirname(directory));
  return { records: await countEntries(directory) };
}

/** The number of entries in the store of a directory that no process has open. */
export function countRecords(directory: string): Promise<number> {
  return countEntries(directory);
}
