// Records with wrapped keys, as the rotation of the wrapping key sees them.
import type { KeyBinding, StoredKey } from '../../hsm/api.ts';
import type { StoreKey, Table } from '../store/store.ts';
import type { KeyHolder } from './services/wrapping-keys.ts';

/** Whether two stored keys are the same wrapping of the same key. */
export function isSameStored(one: StoredKey, other: StoredKey): boolean {
  return Buffer.compare(one.blob, other.blob) === 0 && Buffer.compare(one.mac, other.mac) === 0;
}

/** The holder of a record with one stored key; none where the key is an object in its token. */
export function* holderOfStored<R extends { readonly stored: StoredKey }>(
  table: Table<R>,
  storeKey: StoreKey,
  { stored }: R,
  binding: KeyBinding,
): Iterable<KeyHolder> {
  if (stored.custody !== 'wrapped') return;
  yield {
    keys: [{ stored, binding }],
    replace(transaction, rewrapped) {
      const [current, fresh] = [transaction.get(table, storeKey), rewrapped.get(stored)];
      if (current === undefined || fresh === undefined || !isSameStored(current.stored, stored)) return 0;
      transaction.put(table, storeKey, { ...current, stored: fresh });
      return 1;
    },
  };
}
