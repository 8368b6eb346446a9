// Removes expired tokens: they are no longer valid, but their records would stay.
import type { Clock, Job } from '../../base/context.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import { isExpired, tokenTable } from './record.ts';
import { disableToken } from './tokens.ts';

/** The job that removes expired tokens with their children. Safe to repeat and to interrupt. */
export function tokenExpiryJob(store: Store, clock: Clock): Job {
  return {
    name: 'expired-tokens',
    everySeconds: 3_600,
    async run(signal) {
      store.refresh();
      const now = clock.now();
      const expired = [...tokenTable(store).entries([])].filter(([, record]) => isExpired(record, now)).map(([key]) => key.map(String));
      const drop = (transaction: WriteTransaction, [tenantId = '', accessor = '']: readonly string[]): void => {
        const record = transaction.get(tokenTable(store), [tenantId, accessor]);
        // Another process may have refreshed it meanwhile.
        if (record !== undefined && isExpired(record, now)) disableToken(transaction, store, tenantId, accessor);
      };
      await writeInPieces(store, expired, drop, signal);
    },
  };
}
