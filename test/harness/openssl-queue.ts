// A look at OpenSSL's error queue of this thread: a call that fails shows everything that was there before its own errors.
import { createPublicKey } from 'node:crypto';

const notAKey = { key: Buffer.from('3003020100', 'hex'), format: 'der', type: 'spki' } as const;

/** What node:crypto left in the queue, which is empty afterwards. Empty when nothing was left. */
export function takeOpensslErrors(): readonly string[] {
  const own = errorsOfNoKey();
  // The same call again, on a queue that is empty now, shows its own errors alone.
  const alone = errorsOfNoKey();
  return own.length === alone.length ? [] : own.filter((error) => !alone.includes(error)).concat(`${own.length - alone.length} more`);
}

function errorsOfNoKey(): readonly string[] {
  try {
    createPublicKey(notAKey);
  } catch (error) {
    return (error as { opensslErrorStack?: string[] }).opensslErrorStack ?? [];
  }
  return [];
}
