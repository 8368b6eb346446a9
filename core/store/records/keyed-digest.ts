// Digests under a key of the store: equal values have equal digests, which reveal nothing about the value without the key.
import { createHmac } from 'node:crypto';
import type { Store, Table, WriteTransaction } from '../store.ts';

/** Table of the key, named after its first use, entity tags. */
const keyTable = (store: Store): Table<Uint8Array> => store.table<Uint8Array>('entity-tag-key');

/** Stores the key (32 random octets) at the first start. */
export function putDigestKey(transaction: WriteTransaction, store: Store, key: Uint8Array): void {
  transaction.put(keyTable(store), ['key'], key);
}

/** HMAC-SHA-256 of a value as JSON, base64url. Throws when the store has no key yet. */
export function keyedDigest(store: Store, value: unknown): string {
  const key = keyTable(store).get(['key']);
  if (key === undefined) throw new Error('the store has no key for digests: the first start was not finished');
  return createHmac('sha256', key).update(JSON.stringify(value)).digest('base64url');
}
