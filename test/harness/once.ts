// Directories that are expensive to make and equal for many tests: made once in a run, by the first test that needs one, then copied.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Set by the set-up of a run (scratch.ts), for all its processes. */
export const onceVariable = 'KEYSTORED_TEST_ONCE';

const pollMs = 50;
const made = new Map<string, Promise<string>>();

/**
 * A directory made by `make` once in a run, under this name. Two workers may ask at the same time: one makes it, the other waits.
 * Nobody changes it: see copyDirectory().
 */
export function madeOnce(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const known = made.get(name) ?? makeOnce(join(sharedDirectory(), name), make);
  made.set(name, known);
  return known;
}

/** Copies a directory with modes and times to where nothing is yet. */
export function copyDirectory(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
}

async function makeOnce(directory: string, make: (directory: string) => Promise<void>): Promise<string> {
  const [lock, unfinished] = [`${directory}.lock`, `${directory}.new`];
  while (!existsSync(directory)) {
    if (!take(lock)) {
      await setTimeout(pollMs);
      continue;
    }
    try {
      // Between the look and the lock, another worker may have finished it.
      if (existsSync(directory)) continue;
      rmSync(unfinished, { recursive: true, force: true });
      mkdirSync(unfinished, { mode: 0o700 });
      await make(unfinished);
      renameSync(unfinished, directory);
    } finally {
      rmdirSync(lock);
    }
  }
  return directory;
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

let own: string | undefined;

/** The run's directory; outside a run (benchmarks), one of this process. */
function sharedDirectory(): string {
  const shared = process.env[onceVariable];
  if (shared !== undefined) return shared;
  if (own === undefined) {
    const directory = mkdtempSync(join(tmpdir(), 'keystored-once-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    own = directory;
  }
  return own;
}
