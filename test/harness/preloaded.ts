// Libraries of C that tests preload into processes.
import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { madeOnce } from './once.ts';

/** Compiled once in a run; returns the path of the library. */
export async function preloaded(source: string): Promise<string> {
  const name = basename(source, '.c');
  const directory = await madeOnce(name, async (at) => {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', join(at, `${name}.so`), source, '-ldl']);
  });
  return join(directory, `${name}.so`);
}
