// Serialises starts on one token: SoftHSM rewrites the token's file at every login, and parallel logins corrupt it (reference A1.4).
import { createHash } from 'node:crypto';
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
  const lock = new DatabaseSync(lockPath(token), { timeout: waitMilliseconds });
  try {
    // In a file it would need room, which a full disk does not have; nothing is ever written.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return work();
  } finally {
    lock.close();
  }
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
