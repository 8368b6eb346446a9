// Records with wrapped keys, as the rotation of the wrapping key sees them.
import type { KeyBinding, StoredKey } from '../../hsm/api.ts';
import { isRecordUnreadable, type StoreKey, type Table } from '../store/store.ts';
import type { KeyHolder } from './services/wrapping-keys.ts';

/** Whether two stored keys are the same wrapping of the same key. */
export function isSameStored(one: StoredKey, other: StoredKey): boolean {
  return Buffer.compare(one.blob, other.blob) === 0 && Buffer.compare(one.mac, other.mac) === 0;
}

/** One walk after another. Where some end with `record-unreadable`, the first of these errors is thrown when all were walked. */
export function* walkAll<T>(walks: Iterable<Iterable<T>>): Iterable<T> {
  let first: unknown;
  for (const walk of walks) {
    try {
      yield* walk;
    } catch (error) {
      if (!isRecordUnreadable(error)) throw error;
      first ??= error;
    }
  }
  if (first !== undefined) throw first;
}

/** A walk to which a record that does not open means nothing: all others were seen when it says so. */
export function* withoutUnreadable<T>(walk: Iterable<T>): Iterable<T> {
  try {
    yield* walk;
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
  }
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
