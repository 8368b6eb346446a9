// Keys in the token that no CA owns: put on record before anything else happens to them, destroyed when nobody claims them.
import { encodeHex } from '../../../core/base/bytes.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { isKeyLost, type KeyBinding, type StoredKey } from '../../../hsm/api.ts';
import type { CaHouse } from '../context.ts';
import type { UnclaimedKey } from '../records/records.ts';

/** A key nobody claimed for this long was left by a crash or a refused change. */
const graceSeconds = 900;

/** Puts a key on record before it is made; the transaction that makes a CA own it claims it. */
export async function recordUnclaimedKey(house: CaHouse, stored: StoredKey, binding: KeyBinding): Promise<void> {
  await house.store.write((transaction) =>
    put(house, transaction, { stored, binding, since: formatTimestamp(house.clock.now()), doomed: false }),
  );
}

/** The CA now owns the key. Throws `conflict` when the key was given up meanwhile, because its making took too long. */
export function claimKey(house: CaHouse, transaction: WriteTransaction, caId: string, stored: StoredKey): void {
  const key = unclaimedKey(caId, stored);
  if (transaction.get(house.tables.unclaimedKeys, key)?.doomed !== false) throw fail('conflict', { overtaken: true });
  transaction.delete(house.tables.unclaimedKeys, key);
}

/** The CA that owned the key is gone, or needs it no longer: it is to leave its token. */
export function disownKey(house: CaHouse, transaction: WriteTransaction, stored: StoredKey, binding: KeyBinding): void {
  put(house, transaction, { stored, binding, since: formatTimestamp(house.clock.now()), doomed: true });
}

/** Destroys this key now, unless a CA claimed it. */
export async function destroyIfUnclaimed(house: CaHouse, caId: string, stored: StoredKey): Promise<void> {
  const key = unclaimedKey(caId, stored);
  // Given up first and destroyed then: a key that is being destroyed cannot be claimed any more.
  const doomed = await house.store.write((transaction) => {
    const unclaimed = transaction.get(house.tables.unclaimedKeys, key);
    if (unclaimed !== undefined && !unclaimed.doomed) put(house, transaction, { ...unclaimed, doomed: true });
    return unclaimed;
  });
  if (doomed === undefined) return;
  await destroyIfThere(house, doomed);
  await house.store.write((transaction) => transaction.delete(house.tables.unclaimedKeys, key));
}

/** Destroys every key that is doomed or past the grace time. Safe to repeat and to lose half-way. */
export async function destroyUnclaimedKeys(house: CaHouse): Promise<void> {
  const limit = formatTimestamp(house.clock.now().subtract({ seconds: graceSeconds }));
  house.store.refresh();
  const all = Array.from(house.tables.unclaimedKeys.entries([]), ([, unclaimed]) => unclaimed);
  for (const { stored, binding } of all.filter(({ doomed, since }) => doomed || since <= limit)) {
    await destroyIfUnclaimed(house, binding.keyId, stored);
  }
}

/** A crash may have come before the key was made. */
async function destroyIfThere(house: CaHouse, { stored, binding }: UnclaimedKey): Promise<void> {
  try {
    await house.hsm.destroy({ stored, binding });
  } catch (error) {
    if (!isKeyLost(error)) throw error;
  }
}

function put(house: CaHouse, transaction: WriteTransaction, unclaimed: UnclaimedKey): void {
  transaction.put(house.tables.unclaimedKeys, unclaimedKey(unclaimed.binding.keyId, unclaimed.stored), unclaimed);
}

/** Two renewals at once make two keys of the same generation: the MAC tells them apart. */
function unclaimedKey(caId: string, stored: StoredKey): StoreKey {
  return [caId, encodeHex(stored.mac)];
}
