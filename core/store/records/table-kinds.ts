// Ownership of the records of each table if several appliances share the store, and origin of those made without a person. Records of a
// table without a kind belong to all, and were made by a person.
import type { Store, Table, WriteTransaction } from '../store.ts';
import { writeInPieces } from './pieces.ts';

export type TableKind = {
  /**
   * `all`: has the same meaning for every appliance, whichever writes it. `each`: a record for each appliance, with its id at the end of
   * the key; a single appliance has the record without the id. `chains`: by names of chains of the audit trail, which begin with the id of their
   * appliance. `cluster`: about the appliances themselves; a single appliance has none.
   */
  readonly of: 'all' | 'each' | 'chains' | 'cluster';
  /** true if filled only by starts, jobs and logins; a text: the last part of the keys of records made by those */
  readonly fills?: true | string;
  /** field that others may have in a newer form than a restored store: it is made again before it is published */
  readonly published?: string;
};

/** Required part of OpenStore. */
type WholeStore = Store & { prefixed(owner: string): Store; tableNames(): Iterable<string> };

/** Kinds by name of the table. */
export type TableKinds = Readonly<Record<string, TableKind>>;

/** Full name of a table with a record made by a person; undefined for an appliance that has only ways to log in. */
export function findContent(store: WholeStore, kinds: TableKinds): string | undefined {
  return [...store.tableNames()].find((name) => {
    const { of, fills } = kinds[name] ?? { of: 'all' };
    return of === 'all' && fills !== true && Array.from(tableOf(store, name).keys([])).some((key) => key.at(-1) !== fills);
  });
}

/**
 * Drops the records about appliances after a restore from a backup of a cluster: the restored appliance is single, and others join it as new
 * ones.
 */
export async function dropOwnRecords(store: WholeStore, kinds: TableKinds): Promise<void> {
  await store.write((transaction) => {
    for (const [name, { of }] of Object.entries(kinds)) {
      if (of === 'all') continue;
      const table = tableOf(store, name);
      for (const key of Array.from(transaction.keys(table, []))) if (of !== 'each' || key.length > 1) transaction.delete(table, key);
    }
  });
}

/** Drops the records of a removed appliance. */
export function dropRecordsOf(transaction: WriteTransaction, store: WholeStore, kinds: TableKinds, appliance: string): void {
  for (const [name, { of }] of Object.entries(kinds)) {
    if (of !== 'each') continue;
    const table = tableOf(store, name);
    for (const key of Array.from(transaction.keys(table, []))) if (key.at(-1) === appliance) transaction.delete(table, key);
  }
}

/** Drops the fields that are to be made again. */
export async function forgetPublished(store: WholeStore, kinds: TableKinds): Promise<void> {
  for (const [name, { published: field }] of Object.entries(kinds)) {
    if (field === undefined) continue;
    const table = tableOf(store, name) as Table<Readonly<Record<string, unknown>>>;
    await writeInPieces(store, Array.from(table.keys([])), (transaction, key) => {
      const { [field]: gone, ...kept } = transaction.get(table, key) ?? {};
      if (gone !== undefined) transaction.put(table, key, kept);
    });
  }
}

function tableOf(store: WholeStore, name: string): Table<unknown> {
  const [owner = '', own] = name.split('/');
  return own === undefined ? store.table(owner) : store.prefixed(owner).table(own);
}
