// The store as core and plugins use it: typed tables of sealed records, one way to write, snapshots refreshed once per turn.
import { ServiceError } from '../base/errors.ts';
/** Parts of a key, in sort order. The first part of tenant data is the tenant's uuid. */
export type StoreKey = readonly (string | number)[];

/** Exists only inside Store.write. Every change requires one, so that a change outside of a transaction does not compile. */
export interface WriteTransaction {
  /** The newest value, including this transaction's own writes. Do not modify it: put a copy. */
  get<V>(table: Table<V>, key: StoreKey): V | undefined;
  /** Whether there is a record, without opening it. */
  has<V>(table: Table<V>, key: StoreKey): boolean;
  put<V>(table: Table<V>, key: StoreKey, value: V): void;
  /** Returns whether there was something to delete. */
  delete<V>(table: Table<V>, key: StoreKey): boolean;
  /** Deletes a record that does not open, and no other. Returns whether it did. */
  deleteUnreadable<V>(table: Table<V>, key: StoreKey): boolean;
  /** Entries below a key prefix as this transaction sees them; as those of a table, one that does not open is passed over. */
  entries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]>;
  /** As those of a table. */
  allEntries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]>;
  /** Their keys, without opening them. */
  keys<V>(table: Table<V>, prefix: StoreKey): Iterable<StoreKey>;
}

export type RangeOptions = {
  /** last part of the key to start after */
  readonly after?: string | number;
  readonly limit?: number;
  readonly reverse?: boolean;
  /** for walks over very many records: what is read does not take the place of others in the cache */
  readonly uncached?: true;
};

/** In place of a record that does not open: somebody changed or moved it, past keystored. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Whether something could not be done because a record does not open. */
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
  /** Throws `record-unreadable`, with what to do, for a record that does not open. */
  get(key: StoreKey): V | undefined;
  has(key: StoreKey): boolean;
  /** As get, with `Unreadable` for a record that does not open. */
  getFound(key: StoreKey): V | Unreadable | undefined;
  /** Those that open. One that does not ends no walk: it is passed over, and said in log and health. */
  entries(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V]>;
  /** The same for decisions that one which does not open could change: when all others were seen, it throws `record-unreadable`. */
  allEntries(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V]>;
  /** The same with `Unreadable` in the place of one that does not open. */
  entriesFound(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V | Unreadable]>;
  keys(prefix: StoreKey, options?: RangeOptions): Iterable<StoreKey>;
  count(prefix: StoreKey): number;
}

export interface Store {
  /** Opens a table; the same name gives the same table. The store of a plugin prefixes its names. */
  table<V>(name: string): Table<V>;
  /** The same for records of a tenant. A transaction that puts one of a deleted tenant is undone (`invalid-token`). */
  tenantTable<V>(name: string): Table<V>;
  /**
   * The only way to write. `change` runs synchronously inside one LMDB write transaction; a throw undoes all of it. Resolves when the commit
   * is on the disk. Rejects with `storage-unavailable` when it cannot be. A read that a decision depends on must be repeated inside `change`
   * through the transaction.
   */
  write<T>(change: (transaction: WriteTransaction) => T): Promise<T>;
  /** Moves reads of this process to the newest committed state. The request pipeline calls it once per turn. */
  refresh(): void;
  /** Id of the appliance in its cluster, never used again; undefined for one that stands alone. Chains of its audit trail are named by it. */
  readonly appliance: string | undefined;
  /** How long keys may be used while nothing can be written: what such uses need has to be written before. Absent: not at all. */
  readonly isolatedSeconds?: number | undefined;
  /** The level in which records are written now (records/level.ts): below that of this program while an appliance of an earlier version shares the store. */
  readonly level: number;
  /** A number that changes whenever reads may find other records than before; undefined inside a commit, whose writes are not certain yet. */
  readonly state: number | undefined;
}

/** The key of a record that every appliance of a cluster has for itself; one that stands alone has the same key without its name. */
export function ownKey({ appliance }: Pick<Store, 'appliance'>, ...parts: readonly string[]): StoreKey {
  return appliance === undefined ? parts : [...parts, appliance];
}
