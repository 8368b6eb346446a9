// The versions of a key inside a transaction that removes them.
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Key, Version } from '../records/keyring.ts';
import type { Transit } from '../context.ts';

/** The versions of a key as the transaction sees them, oldest first; those below `end`, or all. */
export function versionsIn(
  { tables }: Transit,
  transaction: WriteTransaction,
  { tenantId, record: key }: Key,
  end = key.latest + 1,
): Version[] {
  const versions: Version[] = [];
  for (let number = key.floor; number < end; number += 1) {
    const record = transaction.get(tables.versions, [tenantId, key.id, number]);
    if (record !== undefined) versions.push({ number, record });
  }
  return versions;
}
