// Small files that survive a power cut: their contents and their names are written through to the disk.
import { chownSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who owns a file. */
type Owner = { readonly uid: number; readonly gid: number };

/**
 * Puts a file in its place whole: after a crash the old one is there or the new one. Mode 0600. It is written beside its place, under the
 * name `temporary`. Where root does it, for an appliance that runs as somebody else, the file is the `owner`'s.
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

/** Writes a file's contents, or the names in a directory, through to the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
