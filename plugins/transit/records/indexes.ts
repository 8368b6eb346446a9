// Keys by due rotation, by due deletion and by the key they refer to: indexes that change in the same transaction as the key record.
import type { WriteTransaction } from '../../../core/store/store.ts';
import { type Attachments, referenceOf } from './attachments.ts';
import type { Key } from './keyring.ts';
import type { KeyRecord, Tables } from './records.ts';

/** Tables and attachments that have indexes of keys. */
type Indexed = { readonly tables: Tables; readonly attachments: Attachments };

/** Stores a key's new record and moves its index entries. */
export function putIndexed(indexed: Indexed, transaction: WriteTransaction, key: Key, record: KeyRecord): void {
  reindex(indexed, transaction, key, key.record, record);
  transaction.put(indexed.tables.keys, [key.tenantId, key.name], record);
}

/** Moves the index entries of a key; undefined stands for a key that does not exist before or after. */
export function reindex(
  { tables, attachments }: Indexed,
  transaction: WriteTransaction,
  key: Pick<Key, 'tenantId' | 'name'>,
  before: KeyRecord | undefined,
  after: KeyRecord | undefined,
): void {
  for (const [table, field] of [
    [tables.rotations, 'rotatesAt'],
    [tables.deletions, 'deletesAt'],
  ] as const) {
    const [was, is] = [before?.[field], after?.[field]];
    if (was === is && before?.id === after?.id) continue;
    if (was !== undefined) transaction.delete(table, [was, key.tenantId, key.name]);
    if (is !== undefined && after !== undefined) transaction.put(table, [is, key.tenantId, key.name], after.id);
  }
  for (const attachment of attachments) {
    const [was, is] = [before, after].map((record) => record && referenceOf(attachment, record));
    if (was === is) continue;
    const index = attachments.indexOf(attachment);
    if (was !== undefined) transaction.delete(index, [key.tenantId, was, key.name]);
    if (is !== undefined) transaction.put(index, [key.tenantId, is, key.name], true);
  }
}
