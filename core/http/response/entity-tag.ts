// Entity tags of documents and the preconditions on them (RFC 9110 section 13).
import { fail } from '../../base/errors.ts';
import { keyedDigest } from '../../store/records/keyed-digest.ts';
import type { Store } from '../../store/store.ts';

/**
 * The strong tag of a document. It is a keyed digest because the document includes its secrets: from a plain hash, a reader of the tag
 * could guess a short secret.
 */
export function entityTag(store: Store, document: unknown): string {
  return `"${keyedDigest(store, document).slice(0, 22)}"`;
}

export type Preconditions = { readonly ifMatch?: string | undefined; readonly ifNoneMatch?: string | undefined };

/** Throws `precondition-failed` unless the headers fit the present state; `tag` is undefined if the entry does not exist. */
export function requirePreconditions({ ifMatch, ifNoneMatch }: Preconditions, tag: string | undefined): void {
  if (ifMatch !== undefined && !lists(ifMatch, tag)) {
    throw fail('precondition-failed', { detail: 'If-Match does not name the present state; read it again and repeat the change.' });
  }
  if (ifNoneMatch !== undefined && lists(ifNoneMatch, tag)) {
    throw fail('precondition-failed', { detail: 'If-None-Match names what is there already.' });
  }
}

/**
 * Tells whether If-None-Match of a GET has one of the tags, or `*`: then the client's copy is current. Weak comparison (section 13.1.2).
 */
export function hasPresentCopy(ifNoneMatch: string | undefined, ...tags: readonly string[]): boolean {
  const present = new Set(['*', ...tags]);
  return ifNoneMatch?.split(',').some((one) => present.has(one.trim().replace(/^W\//, ''))) ?? false;
}

/** Strong comparison (section 8.8.3.2); `*` matches anything that exists. */
function lists(header: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim() === tag);
}
