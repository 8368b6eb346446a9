// Records with wrapped keys, for the rotation of the wrapping key.
import type { KeyBinding, StoredKey } from '../../hsm/api.ts';
import { isRecordUnreadable, type StoreKey, type Table } from '../store/store.ts';
import type { KeyHolder } from './services/wrapping-keys.ts';

/** Tells whether two stored keys are the same wrapping of the same key. */
export function isSameStored(one: StoredKey, other: StoredKey): boolean {
  return Buffer.compare(one.blob, other.blob) === 0 && Buffer.compare(one.mac, other.mac) === 0;
}

/** Concatenates walks. If some end with `record-unreadable`, the first of these errors is thrown after all walks. */
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

/** Ignores the `record-unreadable` at the end of a walk: all other records were yielded before. */
export function* withoutUnreadable<T>(walk: Iterable<T>): Iterable<T> {
  try {
    yield* walk;
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
  }
}

/** Yields the holder of a record with one stored key; nothing if the key is an object in its token. */
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
