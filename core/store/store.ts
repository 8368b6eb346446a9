// What the house sees of the store: typed tables of sealed records, one write path, snapshots refreshed once per turn.

/** Parts of a key, in sort order. The first part of tenant data is always the tenant's uuid. */
export type StoreKey = readonly (string | number)[];

/** Exists only inside Store.write; every change takes one, so a change outside the write path does not compile. */
export interface WriteTransaction {
  /** The newest value, including this transaction's own writes. Do not modify it: put a copy. */
  get<V>(table: Table<V>, key: StoreKey): V | undefined;
  put<V>(table: Table<V>, key: StoreKey, value: V): void;
  /** Answers whether there was something to delete. */
  delete<V>(table: Table<V>, key: StoreKey): boolean;
  /** Entries below a key prefix as this transaction sees them. */
  entries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]>;
}

export type RangeOptions = {
  /** last part of the key to start after */
  readonly after?: string | number;
  readonly limit?: number;
  readonly reverse?: boolean;
};

/**
 * Records of one kind, sealed under the store's data key and bound to table and key. Values are plain data
 * (objects, arrays, strings, numbers, booleans, null, Uint8Array); they come back frozen: copy to change.
 * Reads see the snapshot of the last Store.refresh() and are decoded once until the record changes.
 */
export interface Table<V> {
  readonly name: string;
  get(key: StoreKey): V | undefined;
  has(key: StoreKey): boolean;
  entries(prefix: StoreKey, options?: RangeOptions): Iterable<readonly [StoreKey, V]>;
  keys(prefix: StoreKey, options?: RangeOptions): Iterable<StoreKey>;
  count(prefix: StoreKey): number;
}

export interface Store {
  /** Opens the table of that name; the same name gives the same table. Plugins get a store whose names carry their prefix. */
  table<V>(name: string): Table<V>;
  /** The same for records that hang on a tenant alone. A transaction that puts one whose tenant is gone is undone (`invalid-token`). */
  tenantTable<V>(name: string): Table<V>;
  /**
   * The only way to change anything. `change` runs synchronously inside one LMDB write transaction; a throw undoes all of it.
   * Resolves after the commit is on the disk: acknowledged is durable. Rejects with `storage-unavailable` when it cannot be.
   * A read that a decision rests on must be repeated inside `change` through the transaction.
   */
  write<T>(change: (transaction: WriteTransaction) => T): Promise<T>;
  /** Moves reads of this process to the newest committed state. The request pipeline calls it once per turn. */
  refresh(): void;
}
