// Uses of key material that several keys have: the limit of a cipher is one of the material, however many copies of it count.
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import type { Tables } from './records.ts';
import { type SharedUses, unused, type UsageRecord } from './usage-record.ts';

/** Reads a record: within a transaction, or without one. */
type Read = <V>(table: Table<V>, key: StoreKey) => V | undefined;

const readOutside: Read = (table, key) => table.get(key);

type Shared = { readonly storeKey: StoreKey; readonly counts: SharedUses };

function findShared(read: Read, tables: Tables, [tenantId = '', keyId = '', number = 0]: StoreKey): Shared | undefined {
  const proof = read(tables.versionMaterials, [tenantId, keyId, number]);
  if (proof === undefined) return undefined;
  const storeKey = [tenantId, proof];
  const counts = read(tables.sharedUses, storeKey);
  return counts === undefined ? undefined : { storeKey, counts };
}

/** The counts of a version, with those of the others that have its material; `unused` for one that was never used. */
export function countedUses(tables: Tables, version: StoreKey, transaction?: WriteTransaction): UsageRecord {
  const read: Read = transaction === undefined ? readOutside : (table, key) => transaction.get(table, key);
  const own = read(tables.usage, version) ?? unused;
  return { ...own, ...findShared(read, tables, version)?.counts };
}

/** Writes the record of a version; what it has more, or less, all have that share its material. */
export function putUsage(transaction: WriteTransaction, tables: Tables, version: StoreKey, after: UsageRecord): void {
  const before = transaction.get(tables.usage, version) ?? unused;
  transaction.put(tables.usage, version, after);
  const shared = findShared((table, key) => transaction.get(table, key), tables, version);
  if (shared === undefined) return;
  const { reserved, uses } = shared.counts;
  transaction.put(tables.sharedUses, shared.storeKey, {
    reserved: reserved + after.reserved - before.reserved,
    uses: uses + after.uses - before.uses,
  });
}

/** Makes the `versions`, which have the material of `proof`, count together, with no less than each has counted, and `known`. */
export function shareUses(
  transaction: WriteTransaction,
  tables: Tables,
  { tenantId, proof }: { readonly tenantId: string; readonly proof: string },
  versions: readonly StoreKey[],
  known: SharedUses,
): void {
  const storeKey = [tenantId, proof];
  const earlier = transaction.get(tables.sharedUses, storeKey);
  const all = [known, ...(earlier === undefined ? [] : [earlier]), ...versions.map((version) => countedUses(tables, version, transaction))];
  transaction.put(tables.sharedUses, storeKey, {
    reserved: Math.max(...all.map(({ reserved }) => reserved)),
    uses: Math.max(...all.map(({ uses }) => uses)),
  });
  for (const version of versions) transaction.put(tables.versionMaterials, version, proof);
}
