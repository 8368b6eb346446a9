// Removes expired tokens, and those whose ancestor or grant is gone: they are no longer valid, but their records would stay.
import type { Clock, Job } from '../../base/context.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import { type Store, Unreadable, type WriteTransaction } from '../../store/store.ts';
import { hasEnded } from '../logins/grants.ts';
import { ancestorsOf, grantsOf, isExpired, isUsedUp, tokenTable, type TokenRecord } from './record.ts';
import { removeToken } from './tokens.ts';

/** An ended token; an orphan is not read again, because accessors and grants are never reused. */
type Over = Pick<TokenRecord, 'tenantId' | 'accessor'> & { readonly isOrphan: boolean };

/** The job that removes them. Safe to repeat and to interrupt. */
export function tokenExpiryJob(store: Store, clock: Clock): Job {
  return {
    name: 'expired-tokens',
    everySeconds: 3_600,
    async run(signal) {
      // Descendants of removed tokens are found in the next round.
      for (let over = findOver(store, clock); over.length > 0 && !signal.aborted; over = findOver(store, clock)) {
        const now = clock.now();
        const drop = (transaction: WriteTransaction, { tenantId, accessor, isOrphan }: Over): void => {
          const record = transaction.get(tokenTable(store), [tenantId, accessor]);
          // Another process may have refreshed it meanwhile.
          if (record !== undefined && (isOrphan || isUsedUp(record) || isExpired(record, now)))
            removeToken(transaction, store, tenantId, accessor);
        };
        await writeInPieces(store, over, drop, signal);
      }
    },
  };
}

function findOver(store: Store, clock: Clock): readonly Over[] {
  store.refresh();
  const now = clock.now();
  return Array.from(tokenTable(store).entriesFound([])).flatMap(([, record]) => {
    if (record instanceof Unreadable) return [];
    const isOrphan =
      (record.parent !== undefined && ancestorsOf(store, record).includes(undefined)) ||
      grantsOf(record).some((grant) => hasEnded(store, record.tenantId, grant));
    return isOrphan || isUsedUp(record) || isExpired(record, now)
      ? [{ tenantId: record.tenantId, accessor: record.accessor, isOrphan }]
      : [];
  });
}
