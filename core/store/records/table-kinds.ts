// Whose the records of each table are when several appliances share the store, and which of them come without a person. What has no kind is
// of all, and a person has made it.
import type { Store, Table, WriteTransaction } from '../store.ts';
import { writeInPieces } from './pieces.ts';

export type TableKind = {
  /**
   * `all`: means the same to every appliance, no matter which of them writes it. `each`: a record for each appliance, with its id at the end of
   * the key; one that stands alone has the record without it. `chains`: by names of chains of the audit trail, which begin with the id of their
   * appliance. `cluster`: about the appliances themselves; one that stands alone has none.
   */
  readonly of: 'all' | 'each' | 'chains' | 'cluster';
  /** Filled by a start, jobs and logins without more; a text: the last part of the keys of what these put there. */
  readonly fills?: true | string;
  /** A field that others may have in a newer form than a restored store: it is made again before it is handed out. */
  readonly published?: string;
};

/** Of OpenStore. */
type WholeStore = Store & { prefixed(owner: string): Store; tableNames(): Iterable<string> };

/** By name of the table. */
export type TableKinds = Readonly<Record<string, TableKind>>;

/** Full name of a table with something that a person has made; undefined for an appliance that has nothing but ways to log in. */
export function findContent(store: WholeStore, kinds: TableKinds): string | undefined {
  return [...store.tableNames()].find((name) => {
    const { of, fills } = kinds[name] ?? { of: 'all' };
    return of === 'all' && fills !== true && Array.from(tableOf(store, name).keys([])).some((key) => key.at(-1) !== fills);
  });
}

/** What an appliance that was restored from a backup of a cluster drops: it stands alone, and others join it as new ones. */
export async function dropOwnRecords(store: WholeStore, kinds: TableKinds): Promise<void> {
  await store.write((transaction) => {
    for (const [name, { of }] of Object.entries(kinds)) {
      if (of === 'all') continue;
      const table = tableOf(store, name);
      for (const key of Array.from(transaction.keys(table, []))) if (of !== 'each' || key.length > 1) transaction.delete(table, key);
    }
  });
}

/** Drops what an appliance that is gone for ever had for itself. */
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
