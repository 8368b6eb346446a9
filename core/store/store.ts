// Interface of the store for core and plugins: typed tables of sealed records, one way to write, snapshots refreshed once per turn.
import { ServiceError } from '../base/errors.ts';
/** Parts of a key, in sort order. The first part of tenant data is the tenant's uuid. */
export type StoreKey = readonly (string | number)[];

/** Transaction, which exists only inside Store.write. Every change requires one, so that a change outside a transaction does not compile. */
export interface WriteTransaction {
  /** Returns the newest value, including this transaction's own writes. Do not modify it: put a copy. */
  get<V>(table: Table<V>, key: StoreKey): V | undefined;
  /** Tells whether a record exists, without opening it. */
  has<V>(table: Table<V>, key: StoreKey): boolean;
  put<V>(table: Table<V>, key: StoreKey, value: V): void;
  /** Deletes a record. Returns whether it existed. */
  delete<V>(table: Table<V>, key: StoreKey): boolean;
  /** Deletes a record only if it does not open. Returns whether it did. */
  deleteUnreadable<V>(table: Table<V>, key: StoreKey): boolean;
  /** As Table.entries, as this transaction sees them. */
  entries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]>;
  /** As Table.allEntries, as this transaction sees them. */
  allEntries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]>;
  /** Keys below a prefix, without opening the records. */
  keys<V>(table: Table<V>, prefix: StoreKey): Iterable<StoreKey>;
}

export type RangeOptions = {
  /** last part of the key to start after */
  readonly after?: string | number;
  readonly limit?: number;
  readonly reverse?: boolean;
  /** for walks over very many records: records that are read do not replace others in the cache */
  readonly uncached?: true;
};

/** Stands for a record that does not open, because it was changed or moved outside keystored. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** As Table.get, for a record that can begin again, as a count or a copy: one that does not open counts as absent. Store and health name it. */
export function getIfOpen<V>(table: Pick<Table<V>, 'getFound'>, key: StoreKey): V | undefined {
  const found = table.getFound(key);
  return found instanceof Unreadable ? undefined : found;
}

/** As getIfOpen, and deletes one that does not open. */
export function getOrDrop<V>(
  transaction: Pick<WriteTransaction, 'get' | 'deleteUnreadable'>,
  table: Table<V>,
  key: StoreKey,
): V | undefined {
  return transaction.deleteUnreadable(table, key) ? undefined : transaction.get(table, key);
}

/** Tells whether an error is that of a record that does not open. */
export function isRecordUnreadable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'record-unreadable';
}

/**
 * Records of one kind, sealed under the store's data key and bound to table and key. Values are plain data (objects, arrays, strings,
 * numbers, booleans, null, Uint8Array) and frozen when read: copy to change. Reads see the snapshot of the last Store.refresh(); a record
 * is decoded once until it changes. New kinds of records keep times as formatTimestamp writes them; older ones keep the form they have.
 */
export interface Table<V> {
  readonly name: string;
  /** Returns a record. Throws `record-unreadable`, with the remedy, for one that does not open. */
  get(key: StoreKey): V | undefined;
  has(key: StoreKey): boolean;
  /** As get, with `Unreadable` for a record that does not open. */
  getFound(key: StoreKey): V | Unreadable | undefined;
  /** Records below a key prefix that open. One that does not open is skipped, and reported in log and health. */
  entries(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V]>;
  /** As entries, for decisions that an unreadable record could change: throws `record-unreadable` after all others were yielded. */
  allEntries(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V]>;
  /** As entries, with `Unreadable` for a record that does not open. */
  entriesFound(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V | Unreadable]>;
  keys(prefix: StoreKey, options?: RangeOptions): Iterable<StoreKey>;
  count(prefix: StoreKey): number;
}

export interface Store {
  /** Opens a table; the same name gives the same table. The store of a plugin prefixes its names. */
  table<V>(name: string): Table<V>;
  /** As table, for records of a tenant. A transaction that puts one of a deleted tenant is undone (`invalid-token`). */
  tenantTable<V>(name: string): Table<V>;
  /**
   * Writes; the only way to do so. `change` runs synchronously inside one LMDB write transaction; a throw undoes all of it. Resolves when the commit
   * is on the disk. Rejects with `storage-unavailable` if it fails. A read that a decision depends on must be repeated inside `change`
   * through the transaction.
   */
  write<T>(change: (transaction: WriteTransaction) => T): Promise<T>;
  /** Moves reads of this process to the newest committed state. The request pipeline calls it once per turn. */
  refresh(): void;
  /** id of the appliance in its cluster, never reused; undefined for a single appliance. Chains of its audit trail are named by it */
  readonly appliance: string | undefined;
  /** time for which keys may be used while nothing can be written: records that such uses need must be written beforehand; absent: not at all */
  readonly isolatedSeconds?: number | undefined;
  /**
   * level in which records are written now (records/level.ts): below that of this program while an appliance of an earlier version shares
   * the store
   */
  readonly level: number;
  /** number that changes whenever reads may find other records than before; undefined inside a commit, whose writes are not certain yet */
  readonly state: number | undefined;
}

/** Key of a record that each appliance of a cluster has for itself; for a single appliance without the name of the appliance. */
export function ownKey({ appliance }: Pick<Store, 'appliance'>, ...parts: readonly string[]): StoreKey {
  return appliance === undefined ? parts : [...parts, appliance];
}
