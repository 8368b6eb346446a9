// Files and names that survive a power loss: written through to the disk, and put in their place whole.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Resolves when a file's content, or a directory's names, are on the disk. A new name can be lost until its directory is synced. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** As syncPath, for starts and commands, which do one thing after another. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Writes a small file so that after a crash it has either the old content or the whole new one. Mode 0600. A file that has the content
 * already is not written again, so that a start needs no room on a full disk.
 */
export function writeDurably(path: string, content: string | Uint8Array): void {
  if (!holds(path, content)) replaceFile(path, content);
  syncDirectory(dirname(path));
}

/** Whether a file name is that of content which writeDurably had not yet put in its place: left by a crash, it can be removed. */
export function isUnfinished(name: string): boolean {
  return /\.[\da-f-]{36}\.tmp$/.test(name);
}

/** Errors of a read do not say of which file: a directory in its place would not be found. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Error && !message.includes(path)) error.message = `${message} '${path}'`;
    throw error;
  }
}

/** The content of a file. Throws an error of the system that names it, also for a FIFO in its place, which would be waited for. */
export function readWhole(path: string): Buffer {
  requireFile(path);
  return naming(path, () => readFileSync(path));
}

/** Throws ENOTFILE, a code of our own, where something else than a file is in its place; nothing where nothing is. */
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
