// Keys in the token that no CA owns: put on record before anything else happens to them, destroyed when nobody claims them.
import { encodeHex } from '../../../core/base/bytes.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { isKeyLost, type KeyBinding, type StoredKey } from '../../../hsm/api.ts';
import type { CaContext } from '../context.ts';
import type { UnclaimedKey } from '../records/records.ts';

/** A key nobody claimed for this long was left by a crash or a refused change. */
const graceSeconds = 900;

/** Puts a key on record before it is made; the transaction that makes a CA own it claims it. */
export async function recordUnclaimedKey(context: CaContext, stored: StoredKey, binding: KeyBinding): Promise<void> {
  await context.store.write((transaction) =>
    put(context, transaction, { stored, binding, since: formatTimestamp(context.clock.now()), doomed: false }),
  );
}

/** The CA now owns the key. Throws `conflict` when the key was given up meanwhile, because its making took too long. */
export function claimKey(context: CaContext, transaction: WriteTransaction, caId: string, stored: StoredKey): void {
  const key = unclaimedKey(caId, stored);
  if (transaction.get(context.tables.unclaimedKeys, key)?.doomed !== false) throw fail('conflict', { overtaken: true });
  transaction.delete(context.tables.unclaimedKeys, key);
}

/** The CA that owned the key is gone, or needs it no longer: it is to leave its token. */
export function disownKey(context: CaContext, transaction: WriteTransaction, stored: StoredKey, binding: KeyBinding): void {
  put(context, transaction, { stored, binding, since: formatTimestamp(context.clock.now()), doomed: true });
}

/** Destroys this key now, unless a CA claimed it. */
export async function destroyIfUnclaimed(context: CaContext, caId: string, stored: StoredKey): Promise<void> {
  const key = unclaimedKey(caId, stored);
  // Given up first and destroyed then: a key that is being destroyed cannot be claimed any more.
  const doomed = await context.store.write((transaction) => {
    const unclaimed = transaction.get(context.tables.unclaimedKeys, key);
    if (unclaimed !== undefined && !unclaimed.doomed) put(context, transaction, { ...unclaimed, doomed: true });
    return unclaimed;
  });
  if (doomed === undefined) return;
  await destroyIfThere(context, doomed);
  await context.store.write((transaction) => transaction.delete(context.tables.unclaimedKeys, key));
}

/** Destroys every key that is doomed or past the grace time. Safe to repeat and to lose half-way. */
export async function destroyUnclaimedKeys(context: CaContext): Promise<void> {
  const limit = formatTimestamp(context.clock.now().subtract({ seconds: graceSeconds }));
  context.store.refresh();
  const all = Array.from(context.tables.unclaimedKeys.entries([]), ([, unclaimed]) => unclaimed);
  for (const { stored, binding } of all.filter(({ doomed, since }) => doomed || since <= limit)) {
    await destroyIfUnclaimed(context, binding.keyId, stored);
  }
}

/** A crash may have come before the key was made. */
async function destroyIfThere(context: CaContext, { stored, binding }: UnclaimedKey): Promise<void> {
  try {
    await context.hsm.destroy({ stored, binding });
  } catch (error) {
    if (!isKeyLost(error)) throw error;
  }
}

function put(context: CaContext, transaction: WriteTransaction, unclaimed: UnclaimedKey): void {
  transaction.put(context.tables.unclaimedKeys, unclaimedKey(unclaimed.binding.keyId, unclaimed.stored), unclaimed);
}

/** Two renewals at once make two keys of the same generation: the MAC tells them apart. */
function unclaimedKey(caId: string, stored: StoredKey): StoreKey {
  return [caId, encodeHex(stored.mac)];
}
