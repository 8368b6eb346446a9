// Writes small files that survive a power cut: contents and name are flushed to the disk.
import { chownSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Owner of a file. */
type Owner = { readonly uid: number; readonly gid: number };

/**
 * Replaces a file atomically: after a crash the old or the new one exists. Mode 0600. It is written as `temporary` first. When root writes
 * for an appliance that runs as another user, the file belongs to `owner`.
 */
export function replaceFile(path: string, contents: string | Uint8Array, temporary: string, owner: Owner): void {
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(descriptor, contents);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (process.getuid?.() === 0) chownSync(temporary, owner.uid, owner.gid);
  renameSync(temporary, path);
  syncPath(dirname(path));
}

/** Flushes the contents of a file, or the entries of a directory, to the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
