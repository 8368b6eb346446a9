// Private keys that a passphrase protects: the sender of one chooses, within bounds, how much work it is to open it.
import { fail } from '../errors.ts';
import { Semaphore } from './semaphore.ts';
import { inTurn } from './turns.ts';

/** Keys of each tenant that are opened, or wait to be. */
const opening = new Map<string, number>();
/** With those that ask for the most work, the last of them waits some 20 seconds. */
const mostOpening = 8;
/** Few threads are for all tenants together. */
const threads = new Semaphore(2);

/**
 * One at a time for each tenant, so that none has more than one of the threads, and tenants take turns at them; and few of them wait.
 * `open` works in a thread. Throws `busy`.
 */
export async function openInTurn<T>(tenantId: string, open: () => Promise<T>): Promise<T> {
  const before = opening.get(tenantId) ?? 0;
  if (before >= mostOpening)
    throw fail('busy', { detail: 'Too many private keys are being opened: send this one again.', retryAfterSeconds: 10 });
  opening.set(tenantId, before + 1);
  try {
    return await inTurn(`opening/${tenantId}`, () => threads.run(open));
  } finally {
    const left = (opening.get(tenantId) ?? 1) - 1;
    if (left === 0) opening.delete(tenantId);
    else opening.set(tenantId, left);
  }
}
