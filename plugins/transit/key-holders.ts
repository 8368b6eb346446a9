// Every record with wrapped keys, for the rotation of the token's wrapping key.
import { isSameStored, walkAll } from '../../core/plugin/key-holders.ts';
import type { KeyHolder } from '../../core/plugin/services/wrapping-keys.ts';
import type { StoreKey, Table } from '../../core/store/store.ts';
import type { KeyReference, StoredKey } from '../../hsm/api.ts';
import { type Key, referencesOf } from './records/keyring.ts';
import type { VersionRecord } from './records/records.ts';
import type { Transit } from './context.ts';
import { formerTenant, referenceOf } from './keys/import-wrapping-key.ts';

/**
 * Yields every version of every key of every tenant, and the import wrapping keys. If a record does not open, `record-unreadable` is thrown
 * after all others: the wrapping key that it needs is unknown.
 */
export function keyHolders(transit: Transit): Iterable<KeyHolder> {
  return walkAll([importKeyHolders(transit), walkAll(holdersByKey(transit))]);
}

function* importKeyHolders({ tables }: Transit): Iterable<KeyHolder> {
  for (const [storeKey, record] of tables.importWrappingKeys.allEntries([]))
    yield holderOf(tables.importWrappingKeys, storeKey, record, [referenceOf(String(storeKey[0]), record)]);
  for (const [storeKey, record] of tables.formerImportWrappingKeys.allEntries([]))
    yield holderOf(tables.formerImportWrappingKeys, storeKey, record, [referenceOf(formerTenant, record)]);
}

function* holdersByKey(transit: Transit): Iterable<Iterable<KeyHolder>> {
  for (const [[tenantId, name], record] of transit.tables.keys.allEntries([], { uncached: true }))
    yield versionHolders(transit, { tenantId: tenantId as string, name: name as string, record });
}

function* versionHolders({ tables, keyring }: Transit, key: Key): Iterable<KeyHolder> {
  for (const version of keyring.versions(key))
    yield holderOf(tables.versions, [key.tenantId, key.record.id, version.number], version.record, referencesOf(key, version));
}

/** The fields in which records hold stored keys. */
type Keys = Pick<VersionRecord, 'stored' | 'hmac' | 'convergent' | 'agreement'>;
const fields = ['stored', 'hmac', 'convergent', 'agreement'] as const satisfies (keyof Keys)[];

function holderOf<R extends Keys>(table: Table<R>, storeKey: StoreKey, seen: R, keys: readonly KeyReference[]): KeyHolder {
  return {
    keys,
    replace(transaction, rewrapped) {
      const current = transaction.get(table, storeKey);
      if (current === undefined) return 0;
      const fresh: Partial<Record<keyof Keys, StoredKey>> = {};
      for (const field of fields) {
        const [was, is] = [seen[field], current[field]];
        const next = was === undefined ? undefined : rewrapped.get(was);
        if (next !== undefined && is !== undefined && was !== undefined && isSameStored(was, is)) fresh[field] = next;
      }
      const count = Object.keys(fresh).length;
      if (count > 0) transaction.put(table, storeKey, { ...current, ...fresh });
      return count;
    },
  };
}
