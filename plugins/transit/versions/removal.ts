// Versions that are about to go, with a trim or under a restore: which they are, and whether something still needs them.
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Key, Version } from '../records/keyring.ts';
import { keyView, versionView } from './views.ts';
import type { Transit } from '../context.ts';

/** The versions of a key as the transaction sees them, oldest first; those below `end`, or all. */
export function versionsIn(
  { tables }: Transit,
  transaction: WriteTransaction,
  { tenantId, record: key }: Key,
  end = key.latest + 1,
): Version[] {
  const versions: Version[] = [];
  for (let number = key.floor; number < end; number += 1) {
    const record = transaction.get(tables.versions, [tenantId, key.id, number]);
    if (record !== undefined) versions.push({ number, record });
  }
  return versions;
}

/** Throws in-use when OpenPGP subkeys are bound to one of the versions that go: only these can revoke them. */
export function requireUnbound(transit: Transit, transaction: WriteTransaction, key: Key, going: readonly Version[]): void {
  if (key.record.openpgpUserId === undefined || going.length === 0) return;
  const views = going.map((version) => versionView(key, version));
  transit.openpgp?.requireUnbound(
    keyView(key, () => going),
    views,
    transaction,
  );
}
