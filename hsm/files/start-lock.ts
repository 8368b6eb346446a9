// Serialises starts on one token: SoftHSM rewrites the token's file at every login, and parallel logins corrupt it.
import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TokenAddress } from '../api.ts';
import { findTokenDirectory } from './softhsm.ts';

const waitMilliseconds = 30_000;

/**
 * Runs work while holding the lock of the token, across processes. It is an SQLite lock on an empty file: Node has no flock, and the
 * kernel releases this lock when its holder dies.
 */
export function withStartLock<T>(token: TokenAddress, work: () => T): T {
  return locked(token, work);
}

/** As withStartLock, but removes the file with the lock: for a program that runs once, in a directory that may belong to others. */
export function withPassingStartLock<T>(token: TokenAddress, work: () => T): T {
  return locked(token, (path) => {
    try {
      return work();
    } finally {
      rmSync(path, { force: true });
    }
  });
}

function locked<T>(token: TokenAddress, work: (path: string) => T): T {
  const path = lockPath(token);
  for (;;) {
    const before = fileAt(path);
    const lock = new DatabaseSync(path, { timeout: waitMilliseconds });
    try {
      // A journal in a file would need room, which a full disk lacks; nothing is ever written.
      lock.exec('PRAGMA journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
      // The previous holder may have removed the file: a process that locks a new one would not see this lock.
      if (before !== undefined && fileAt(path) === before) return work(path);
    } finally {
      lock.close();
    }
  }
}

/** Identifies the file at a path. Inode numbers are reused, their times are not. It is not opened: closing it would end the lock of this process. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}

function lockPath(token: TokenAddress): string {
  const directory = findTokenDirectory(token);
  if (directory !== undefined) return join(directory, 'start.lock');
  const name = createHash('sha256')
    .update(`${token.module}\0${token.label ?? ''}\0${token.serial ?? ''}`)
    .digest('hex')
    .slice(0, 16);
  return join(tmpdir(), `keystored-${process.getuid?.() ?? 0}-${name}.lock`);
}
