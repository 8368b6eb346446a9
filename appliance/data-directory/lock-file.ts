// The file `lock` of the data directory: held by one appliance at a time in its file system, and made again when it goes while it runs.
import { closeSync, constants, fchownSync, fstatSync, ftruncateSync, lstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import { StartRefused } from '../start-refused.ts';

const fileOf = (directory: string): string => join(directory, 'lock');

/** Kept open to the end of the process, by which file each has locked. To close a file gives back every lock on it (fcntl(2)). */
const held = new Map<string, DatabaseSync>();

/** The file that an appliance holds, as its processes know it, by data directory. */
const expected = new Map<string, string>();

/**
 * A lock of SQLite on an empty file, which the kernel releases at the end of the process; nothing is ever written. False while another
 * process has it. Throws StartRefused where the file cannot be made or locked.
 */
export function holdLockFile(directory: string): boolean {
  const file = fileOf(directory);
  try {
    provideLockFile(directory, file);
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new StartRefused(`${file} cannot be opened (${code}): ${code === 'EACCES' ? remedies.rights : remedies.place}`);
  }
  const identity = identityOf(directory);
  const lock = lockExclusively(file);
  // It may have been removed meanwhile.
  if (lock === undefined || identity === undefined || identityOf(directory) !== identity) {
    lock?.close();
    return false;
  }
  held.set(identity, lock);
  expected.set(directory, identity);
  return true;
}

const sqliteBusy = 5;

function lockExclusively(file: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file);
    // In a file it would need room, which a full disk does not have.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw new StartRefused(`${file} cannot be locked (${(error as Error).message}): the file system has to have locks (fcntl)`);
  }
}

/** A process that has the former file would not be seen. */
const remedies = {
  rights: 'give it to the user of the service, with mode 0600',
  place: 'end every keystored that uses this directory, also in other containers, and move away what is in the place of this file',
} as const;

/** Empty, and of the owner of the directory, also if root examines an appliance of another user. Its content has no meaning. */
function provideLockFile(directory: string, file: string): void {
  const present = lstatSync(file, { throwIfNoEntry: false });
  if (present?.isFile() === false) throw new StartRefused(`${file} is not a file: ${remedies.place}`);
  const lock = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    if (fstatSync(lock).size > 0) ftruncateSync(lock);
    const { uid, gid } = statSync(directory);
    if (process.getuid?.() === 0) fchownSync(lock, uid, gid);
  } finally {
    closeSync(lock);
  }
}

/** For a process of an appliance: the file that its supervisor holds, and holds again after it was made again. */
export function expectLockFile(directory: string, identity: string): void {
  expected.set(directory, identity);
}

/** Identity of the file that the supervisor holds, for its processes. Undefined if it holds none. */
export function heldLockFile(directory: string): string | undefined {
  return expected.get(directory);
}

/**
 * Reason for which another appliance could take the directory: one sentence without a path. Undefined if none can, or if the process
 * belongs to no appliance.
 */
export function lockFileDamage(directory: string): string | undefined {
  const wanted = expected.get(directory);
  if (wanted === undefined) return undefined;
  const present = identityOf(directory);
  if (present === wanted) return undefined;
  return `the lock file of the data directory was ${present === undefined ? 'removed' : 'replaced'}`;
}

const lookEveryMs = 500;

/** Listeners for a change of the held file. */
const followers = new Set<(identity: string) => void>();

/** Calls `renewed` with each file that is held from then on in place of the one before. Returns a function that ends this. */
export function followLockFile(renewed: (identity: string) => void): () => void {
  followers.add(renewed);
  return () => void followers.delete(renewed);
}

/**
 * Holds the file again in the supervisor when it was removed or replaced. `lost`: another appliance was faster, so that this one has to
 * end. Nothing is written into the data directory meanwhile: each process looks before it commits.
 */
export function watchLockFile(directory: string, log: Log, lost: () => void): void {
  let failure: string | undefined;
  setInterval(() => {
    const damage = lockFileDamage(directory);
    if (damage === undefined) return;
    try {
      const present = identityOf(directory);
      // One of its own that came back is held still.
      if (present !== undefined && held.has(present)) expected.set(directory, present);
      else if (!holdLockFile(directory)) return lost();
      failure = undefined;
      for (const tell of followers) tell(expected.get(directory) ?? '');
      log.error(`${damage} while the appliance runs, and is held again`);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== failure) log.error(`${damage}, and cannot be held again`, { reason });
      failure = reason;
    }
  }, lookEveryMs).unref();
}

function identityOf(directory: string): string | undefined {
  try {
    const found = lstatSync(fileOf(directory), { throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  } catch {
    return undefined;
  }
}
