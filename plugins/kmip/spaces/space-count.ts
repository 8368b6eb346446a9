// Number of objects of a space, for its limit: kept beside them, and changed in the transactions that make and remove them, so that no two pass it together.
import { getIfOpen, getOrDrop, type WriteTransaction } from '../../../core/store/store.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { SpaceRecord } from '../records/space-record.ts';

export function countObjects({ tables }: Kmip, tenantId: string, spaceId: string): number {
  return tables.objects.count([tenantId, spaceId]);
}

/** Refuses what has no room before its material is made; `takeRoom` decides. Throws `kmip-space-full`. */
export function requireRoom({ tables }: Kmip, tenantId: string, { id, maxObjects }: SpaceRecord, more: number): void {
  if ((getIfOpen(tables.counts, [tenantId, id]) ?? 0) + more > maxObjects && tables.objects.count([tenantId, id]) + more > maxObjects)
    throw fail('kmip-space-full');
}

/** Counts an object that the transaction is about to make. Throws `kmip-space-full`. */
export function takeRoom({ tables }: Kmip, transaction: WriteTransaction, tenantId: string, { id, maxObjects }: SpaceRecord): void {
  const key = [tenantId, id];
  const counted = (): number => Array.from(transaction.keys(tables.objects, key)).length;
  let objects = getOrDrop(transaction, tables.counts, key) ?? counted();
  // An earlier version, before an update or in a cluster that is being updated, counts nothing.
  if (objects >= maxObjects) objects = counted();
  if (objects >= maxObjects) throw fail('kmip-space-full');
  transaction.put(tables.counts, key, objects + 1);
}

/** Counts an object that the transaction has removed. */
export function giveRoom({ tables }: Kmip, transaction: WriteTransaction, tenantId: string, spaceId: string): void {
  const objects = getOrDrop(transaction, tables.counts, [tenantId, spaceId]);
  if (objects !== undefined) transaction.put(tables.counts, [tenantId, spaceId], Math.max(0, objects - 1));
}
