// Removing versions of a key: some with the transaction that ends them, and the others after it if there are too many for a shared store.
import { defined } from '../../../core/base/defined.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { type Key, referencesOf, type Version } from '../records/keyring.ts';
import { forgetPrivateKey } from '../records/private-key-uses.ts';
import type { KeyRecord, RemovedVersions, VersionRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';

/** Versions that one transaction of a shared store removes: it takes 128 operations, and each version has up to eight. */
const removedAtOnce = 12;

/**
 * The versions of a key as the transaction sees them, oldest first; those below `end`, or all. One search, however many there are. Throws
 * `record-unreadable`.
 */
export function versionsIn(
  { tables }: Transit,
  transaction: WriteTransaction,
  { tenantId, record: key }: Key,
  end = key.latest + 1,
): Version[] {
  return between(transaction.allEntries(tables.versions, [tenantId, key.id]), key.floor, end);
}

function between(entries: Iterable<readonly [StoreKey, VersionRecord]>, floor: number, end: number): Version[] {
  const all = Array.from(entries, ([storeKey, record]) => ({ number: Number(storeKey[2]), record }));
  return all.filter(({ number }) => number >= floor && number < end);
}

/**
 * Removes versions below `end`, inside the transaction after which they no longer exist: the record of the key is gone, or begins there.
 * Removes the oldest, notes the others for `finishRemoval`, and returns the keys of those that it has removed.
 */
export function removeVersions(transit: Transit, transaction: WriteTransaction, key: Key, end = key.record.latest + 1): KeyReference[] {
  const { tables, store } = transit;
  const { tenantId, record } = key;
  const going = between(transaction.entries(tables.versions, [tenantId, record.id]), record.floor, end);
  // A version that does not open has unknown keys in the token.
  if (going.length < end - record.floor)
    for (let number = record.floor; number < end; number++) transaction.deleteUnreadable(tables.versions, [tenantId, record.id, number]);
  const now = store.appliance === undefined ? going : going.slice(0, removedAtOnce);
  if (now.length < going.length) {
    const { cipher, use, derived, id } = key.record;
    transaction.put(tables.removedVersions, [key.tenantId, id], { cipher, ...defined({ use }), derived, through: end - 1 });
  }
  return removeSome(transit, transaction, key, now);
}

/** Destroys the keys that it returned, and removes the versions that it has noted, after the commit. Never rejects: the job tries again. */
export async function finishRemoval(
  transit: Transit,
  key: Pick<Key, 'tenantId'> & { readonly record: Pick<KeyRecord, 'id'> },
  removed: readonly KeyReference[],
): Promise<void> {
  await transit.ledger.destroy(removed);
  const storeKey = [key.tenantId, key.record.id] as const;
  const noted = transit.tables.removedVersions.get(storeKey);
  if (noted !== undefined) await clear(transit, storeKey, noted).catch(() => undefined);
}

/** Finishes removals that a crash has interrupted. For the job. */
export async function finishRemovals(transit: Transit): Promise<void> {
  transit.store.refresh();
  for (const [storeKey, noted] of Array.from(transit.tables.removedVersions.entries([]))) {
    await clear(transit, storeKey as readonly [string, string], noted);
  }
}

/** Tells whether a version was removed, and its records are about to follow. */
export function isRemoved({ tables }: Transit, tenantId: string, keyId: string, version: number): boolean {
  return version <= (tables.removedVersions.get([tenantId, keyId])?.through ?? 0);
}

async function clear(transit: Transit, storeKey: readonly [string, string], noted: RemovedVersions): Promise<void> {
  const { store, tables, ledger } = transit;
  const [tenantId, id] = storeKey;
  // References of a removed key need only these fields.
  const key = { tenantId, name: '', record: { id, ...noted } as unknown as KeyRecord };
  for (;;) {
    const [removed, isLeft] = await store.write((transaction) => {
      const through = transaction.get(tables.removedVersions, storeKey)?.through ?? 0;
      const oldest = Iterator.from(transaction.entries(tables.versions, storeKey)).take(removedAtOnce);
      const going = Array.from(oldest, ([row, record]) => ({ number: Number(row[2]), record })).filter(({ number }) => number <= through);
      const isLeft = going.length === removedAtOnce;
      if (!isLeft) transaction.delete(tables.removedVersions, storeKey);
      return [removeSome(transit, transaction, key, going), isLeft] as const;
    });
    await ledger.destroy(removed);
    if (!isLeft) return;
  }
}

function removeSome(transit: Transit, transaction: WriteTransaction, key: Key, going: readonly Version[]): KeyReference[] {
  const { tables, ledger } = transit;
  const references = going.flatMap((version) => referencesOf(key, version));
  for (const { number, record } of going) {
    forgetPrivateKey(transit, transaction, [key.tenantId, key.record.id, number], record);
    transaction.delete(tables.versions, [key.tenantId, key.record.id, number]);
    transaction.delete(tables.usage, [key.tenantId, key.record.id, number]);
    transaction.delete(tables.versionMaterials, [key.tenantId, key.record.id, number]);
  }
  ledger.disown(transaction, references);
  return references;
}
