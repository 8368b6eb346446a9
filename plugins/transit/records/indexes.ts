// Keys by due rotation, by due deletion, those that are published, and by the key they refer to: indexes that change in the same transaction as the key record.
import type { Table, WriteTransaction } from '../../../core/store/store.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { fail } from '../errors.ts';
import { type Attachments, isPublishedBy, referenceOf } from './attachments.ts';
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
  const listed = (isPublic: (record: KeyRecord) => boolean): readonly (string | undefined)[] =>
    [before, after].map((record) => (record !== undefined && isPublic(record) ? record.id : undefined));
  list(transaction, tables.published, key, 'publish', ...listed(({ publish }) => publish === true));
  for (const attachment of attachments) {
    const { field } = attachment.published;
    list(transaction, attachments.publishedOf(attachment), key, toKebab(field), ...listed((record) => isPublishedBy(attachment, record)));
    const [was, is] = [before, after].map((record) => record && referenceOf(attachment, record));
    if (was === is) continue;
    const index = attachments.indexOf(attachment);
    if (was !== undefined) transaction.delete(index, [key.tenantId, was, key.name]);
    if (is !== undefined) transaction.put(index, [key.tenantId, is, key.name], true);
  }
}

/** Moves a key into a table of published ones, or out of it. */
function list(
  transaction: WriteTransaction,
  table: Table<string>,
  { tenantId, name }: Pick<Key, 'tenantId' | 'name'>,
  field: string,
  was?: string,
  is?: string,
): void {
  if (was === is) return;
  if (was === undefined) requireRoom(table, transaction, tenantId, field);
  if (is === undefined) transaction.delete(table, [tenantId, name]);
  else transaction.put(table, [tenantId, name], is);
}

/** Published keys of a tenant: a request for one has all of them read. */
const mostPublished = 100;

function requireRoom(published: Table<string>, transaction: WriteTransaction, tenantId: string, field: string): void {
  if (
    Iterator.from(transaction.keys(published, [tenantId]))
      .take(mostPublished)
      .toArray().length < mostPublished
  )
    return;
  throw fail('publish-limit', {
    detail: `The tenant publishes ${mostPublished} keys already: set "${field}" of another one to false first.`,
  });
}
