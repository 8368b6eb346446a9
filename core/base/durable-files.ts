// Writes files and names that survive a power loss: flushed to the disk, and replaced atomically.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Resolves when a file's content, or a directory's names, are on the disk. A new name can be lost until its directory is synced. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** As syncPath, synchronously, for starts and commands. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Writes a small file so that after a crash it has either the old content or the complete new one. Mode 0600. A file that has the content
 * already is not written again, so that a start needs no room on a full disk.
 */
export function writeDurably(path: string, content: string | Uint8Array): void {
  if (!holds(path, content)) replaceFile(path, content);
  syncDirectory(dirname(path));
}

/** Tells whether a file name is that of a temporary file of writeDurably, which a crash has left and which can be removed. */
export function isUnfinished(name: string): boolean {
  return /\.[\da-f-]{36}\.tmp$/.test(name);
}

/** Adds the path to errors of a read, which do not name the file, for example if a directory is in its place. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Error && !message.includes(path)) error.message = `${message} '${path}'`;
    throw error;
  }
}

/** Reads a file. Throws a system error that names it, also for a FIFO in its place, on which a read would wait. */
export function readWhole(path: string): Buffer {
  requireFile(path);
  return naming(path, () => readFileSync(path));
}

/** Throws ENOTFILE, an own code, if something other than a file is at the path; does not throw if nothing is there. */
export function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw Object.assign(new Error(`ENOTFILE: not a file, open '${path}'`), { code: 'ENOTFILE', syscall: 'open', path });
}

function holds(path: string, content: string | Uint8Array): boolean {
  return existsSync(path) && readWhole(path).equals(Buffer.from(content));
}

function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
