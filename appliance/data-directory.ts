// The data directory: made with mode 0700, proven writable, and held by one appliance at a time.
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { StartRefused } from './start-refused.ts';

/** Throws StartRefused when the directory cannot be made or written, or another appliance holds it. Held until the process ends. */
export async function holdDataDirectory(directory: string): Promise<void> {
  try {
    makeDirectory(directory);
    const probe = join(directory, `.probe-${randomUUID()}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    throw new StartRefused(`--data ${directory} cannot be written (${codeOf(error)}): give a directory this user may write`);
  }
  await holdLock(directory);
}

/** As `mkdir -p`; Node's own recursive form spins for ever below /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}

/** Writes a small file so that after a crash either the old content or the whole new one is there. Mode 0600. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

/** Makes names in a directory durable (renames and new files are not, until the directory itself is synced). */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * The lock is a Unix socket in the abstract name space: the kernel lets it go when the process dies, however it dies,
 * so a crash leaves no lock file to clear by hand.
 */
async function holdLock(directory: string): Promise<void> {
  const { dev, ino } = statSync(realpathSync(directory));
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  const lock = createServer();
  // A killed appliance may take a moment to be gone, and its workers go after it.
  const deadline = performance.now() + 5_000;
  for (;;) {
    try {
      await new Promise<void>((resolve, reject) => {
        lock.once('error', reject);
        lock.listen(`\0keystored-${name}`, resolve);
      });
      lock.unref();
      return;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      if (performance.now() > deadline)
        throw new StartRefused(`--data ${directory} is held by another running keystored: stop it first, or give another directory`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
