// The data directory: made with mode 0700, proven writable, and held by one appliance at a time.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isUnfinished } from '../../core/base/durable-files.ts';
import { StartRefused } from './start-refused.ts';

/** The least free space for a start: token, store and audit trail each write a little. */
const roomBytes = 256 << 10;

/** How long a killed appliance and its workers may take to end, and how often that is looked at. */
const patienceMs = 5_000;
const againMs = 50;

/** Throws StartRefused when the directory cannot be made or written, has no room, or another appliance holds it. Held until the process ends. `source` is what the directory was given with, for the messages. */
export async function holdDataDirectory(directory: string, source = '--data'): Promise<void> {
  try {
    makeDirectory(directory);
    proveRoom(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT')
      throw new StartRefused(`the disk of ${source} ${directory} is full: make room, at least ${roomBytes >> 10} KiB, then start again`);
    throw new StartRefused(`${source} ${directory} cannot be written (${codeOf(error)}): give a directory this user may write`);
  }
  await holdLock(directory, source);
  await holdFile(directory, source);
  sweepTemporaryFiles(directory);
}

/** Removes half-written files of a crash; some are secret. */
function sweepTemporaryFiles(directory: string): void {
  const entries = readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile() && (isUnfinished(entry.name) || /^\.probe-[\da-f-]{36}$/.test(entry.name)))
      rmSync(join(directory, entry.name), { force: true });
    if (entry.isDirectory() && ['tls', 'audit'].includes(entry.name)) sweepTemporaryFiles(join(directory, entry.name));
  }
}

function proveRoom(directory: string): void {
  const probe = join(directory, `.probe-${randomUUID()}`);
  try {
    writeFileSync(probe, Buffer.alloc(roomBytes), { mode: 0o600, flush: true });
  } finally {
    rmSync(probe, { force: true });
  }
}

/** As `mkdir -p`; Node's own recursive form spins for ever below /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}

/**
 * The lock is a Unix socket in the abstract name space: the kernel releases it when the process ends for any reason,
 * so a crash leaves no lock file to remove.
 */
async function holdLock(directory: string, source: string): Promise<void> {
  const lock = createServer();
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      lock.listen(`\0keystored-${nameOf(directory)}`);
      await once(lock, 'listening');
      lock.unref();
      return;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
      if (performance.now() > deadline) throw heldByAnother(directory, source);
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

/** Kept open to the end of the process. */
const held: DatabaseSync[] = [];

/**
 * The socket is one of the network name space: in a container, another one that has the directory would not see it. A lock of SQLite on an empty
 * file is one of the file system, which the kernel releases as well; nothing is ever written.
 */
async function holdFile(directory: string, source: string): Promise<void> {
  const file = join(directory, 'lock');
  provideLockFile(directory, file);
  for (const deadline = performance.now() + patienceMs; ; await new Promise((resolve) => setTimeout(resolve, againMs))) {
    const lock = new DatabaseSync(file);
    try {
      // In a file it would need room, which a full disk does not have.
      lock.exec('PRAGMA journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
      held.push(lock);
      return;
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== sqliteBusy)
        throw new StartRefused(`${file} cannot be locked (${(error as Error).message}): the file system has to have locks (fcntl)`);
      if (performance.now() > deadline) throw heldByAnother(directory, source, 'perhaps in another container or on another machine, ');
    }
  }
}

const sqliteBusy = 5;

/** Empty, and of the owner of the directory, also where root looks at an appliance of another user. What it says has no meaning. */
function provideLockFile(directory: string, file: string): void {
  try {
    const lock = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      if (fstatSync(lock).size > 0) ftruncateSync(lock);
      const { uid, gid } = statSync(directory);
      if (process.getuid?.() === 0) fchownSync(lock, uid, gid);
    } finally {
      closeSync(lock);
    }
  } catch (error) {
    throw new StartRefused(`${file} cannot be opened (${codeOf(error)}): remove it, it has nothing in it`);
  }
}

function heldByAnother(directory: string, source: string, where = ''): StartRefused {
  return new StartRefused(
    `${source} ${directory} is held by another running keystored: ${where}stop it first, or give another directory${source === '--data' ? '' : ' with --data, which wins'}`,
  );
}

/** What one process of an appliance does at a time: answers how to let go of it, undefined while another one has it. Its end lets go, too. */
export async function holdAlone(directory: string, what: string): Promise<(() => void) | undefined> {
  const lock = createServer().unref();
  try {
    // Not exclusive, it would be shared by all workers.
    lock.listen({ path: `\0keystored-${what}-${nameOf(directory)}`, exclusive: true });
    await once(lock, 'listening');
    return () => void lock.close();
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/** The same for every path of a directory. */
function nameOf(directory: string): string {
  const { dev, ino } = statSync(realpathSync(directory));
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
