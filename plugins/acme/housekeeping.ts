// Periodic work: what accounts and unauthenticated callers have left ends here.
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, Table } from '../../core/store/store.ts';
import type { Acme } from './context.ts';
import { livesInHours } from './limits.ts';

/** Most records of a table that one run deletes. */
const stepRecords = 5_000;

/** Deletes orders, proofs and certificates that are over, accounts that are not used, and everything of CAs that are gone. Idempotent. */
export async function sweepAcme(acme: Acme, signal: AbortSignal): Promise<void> {
  const { store, tables, clock } = acme;
  store.refresh();
  const now = clock.now();
  const isOver = (text: string): boolean => Temporal.Instant.compare(text, now) < 0;
  const isUnused = (usedAt: string, hours: number): boolean => Temporal.Instant.compare(usedAt, now.subtract({ hours })) < 0;
  const isGone = goneCas(acme);
  const over = <T>(table: Table<T>, ends: (record: T) => boolean): readonly StoreKey[] =>
    Array.from(
      Iterator.from(table.entries([]))
        .filter(([key, record]) => isGone(key) || ends(record))
        .take(stepRecords),
      ([key]) => key,
    );
  await writeInPieces(
    store,
    over(tables.orders, ({ until }) => isOver(until)),
    (transaction, key) => {
      transaction.delete(tables.orders, key);
      transaction.delete(tables.openOrders, key);
    },
    signal,
  );
  await writeInPieces(store, over(tables.proofs, isOver), (transaction, key) => void transaction.delete(tables.proofs, key), signal);
  await writeInPieces(
    store,
    over(tables.certificates, ({ until }) => isOver(until)),
    (transaction, key) => void transaction.delete(tables.certificates, key),
    signal,
  );
  const unused = over(tables.accounts, ({ createdAt, usedAt, isProven }) =>
    // Orders keep an account that has proved something; otherwise one a week would hold the room for good.
    isProven ? isUnused(usedAt, livesInHours.account) : isUnused(createdAt, livesInHours.unproven),
  );
  await writeInPieces(
    store,
    unused,
    (transaction, key) => {
      const account = transaction.get(tables.accounts, key);
      if (account === undefined) return;
      const [tenantId = '', caId = '', id = ''] = key;
      transaction.delete(tables.accounts, key);
      transaction.delete(tables.accountKeys, [tenantId, caId, account.thumbprint]);
      transaction.delete(tables.unproven, [tenantId, caId, account.subscriber, id]);
      transaction.delete(tables.openAccounts, [tenantId, caId, account.subscriber, id]);
    },
    signal,
  );
}

/** Tells whether a record is one of a CA that was deleted. */
function goneCas({ authorities }: Acme): (key: StoreKey) => boolean {
  const known = new Map<string, boolean>();
  return ([tenantId, caId]) => {
    const name = `${tenantId} ${caId}`;
    let isThere = known.get(name);
    if (isThere === undefined) known.set(name, (isThere = authorities.exists(String(tenantId), String(caId))));
    return !isThere;
  };
}
