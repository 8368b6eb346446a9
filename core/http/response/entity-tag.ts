// Entity tags of documents and the preconditions on them (RFC 9110 section 13, api 7).
import { createHmac } from 'node:crypto';
import { fail } from '../../base/errors.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';

const keyTable = (store: Store): Table<Uint8Array> => store.table<Uint8Array>('entity-tag-key');

/** First start: keeps the key of all entity tags (32 random octets). */
export function makeEntityTagKey(transaction: WriteTransaction, store: Store, key: Uint8Array): void {
  transaction.put(keyTable(store), ['key'], key);
}

/**
 * The tag of a document, a strong one: an HMAC, because the document holds its secrets here and a plain hash of a short secret
 * could be guessed by whoever may read the tag.
 */
export function entityTag(store: Store, document: unknown): string {
  return `"${keyedDigest(store, document).slice(0, 22)}"`;
}

/** A digest, base64url, that nobody outside can foresee or look for. */
export function keyedDigest(store: Store, value: unknown): string {
  const key = keyTable(store).get(['key']);
  if (key === undefined) throw new Error('the store has no entity tag key: the first start was not finished');
  return createHmac('sha256', key).update(JSON.stringify(value)).digest('base64url');
}

export type Preconditions = { readonly ifMatch?: string | undefined; readonly ifNoneMatch?: string | undefined };

/** Throws `precondition-failed` unless the headers fit the present state; `tag` is undefined when nothing is there. */
export function requirePreconditions({ ifMatch, ifNoneMatch }: Preconditions, tag: string | undefined): void {
  if (ifMatch !== undefined && !lists(ifMatch, tag)) {
    throw fail('precondition-failed', { detail: 'If-Match does not name the present state; read it again and repeat the change.' });
  }
  if (ifNoneMatch !== undefined && lists(ifNoneMatch, tag)) {
    throw fail('precondition-failed', { detail: 'If-None-Match names what is there already.' });
  }
}

/** Strong comparison (section 8.8.3.2); `*` stands for anything that exists. */
function lists(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim() === tag);
}
