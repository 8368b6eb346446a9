// Keys by due rotation and by OpenPGP primary: two indexes that change in the same transaction as the key record.
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Key } from './keyring.ts';
import type { KeyRecord, Tables } from './records.ts';

/** Stores a key's new record and moves its index entries. */
export function putIndexed(tables: Tables, transaction: WriteTransaction, key: Key, record: KeyRecord): void {
  reindex(tables, transaction, key, key.record, record);
  transaction.put(tables.keys, [key.tenantId, key.name], record);
}

/** Moves the index entries of a key; undefined stands for a key that does not exist before or after. */
export function reindex(
  tables: Tables,
  transaction: WriteTransaction,
  key: Pick<Key, 'tenantId' | 'name'>,
  before: KeyRecord | undefined,
  after: KeyRecord | undefined,
): void {
  if (before?.rotatesAt !== after?.rotatesAt || before?.id !== after?.id) {
    if (before?.rotatesAt !== undefined) transaction.delete(tables.rotations, [before.rotatesAt, key.tenantId, key.name]);
    if (after?.rotatesAt !== undefined) transaction.put(tables.rotations, [after.rotatesAt, key.tenantId, key.name], after.id);
  }
  if (before?.openpgpPrimary !== after?.openpgpPrimary) {
    if (before?.openpgpPrimary !== undefined) transaction.delete(tables.subkeys, [key.tenantId, before.openpgpPrimary, key.name]);
    if (after?.openpgpPrimary !== undefined) transaction.put(tables.subkeys, [key.tenantId, after.openpgpPrimary, key.name], true);
  }
}
