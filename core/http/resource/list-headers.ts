// Headers of a list: the number of entries, and the link to the next ones.
import type { EndpointCall } from '../endpoint.ts';

/** For the API description. */
export const listHeaders = {
  'Total-Count': {
    description: 'Entries of the whole list, whatever `after` and `limit` leave out.',
    schema: { type: 'integer', format: 'int64', minimum: 0, examples: [1] },
  },
  Link: {
    description: 'Where the next entries are, as `<...>; rel="next"` (RFC 8288); absent when these were the last.',
    schema: { type: 'string', examples: ['</v1/state/keystore/tokens?limit=100&after=f81d4fae>; rel="next"'] },
  },
} as const;

/** Requested part of a list; `hasMore`: entries follow. */
export type Page<Entry> = { readonly entries: readonly Entry[]; readonly hasMore: boolean };

/** Takes at most `limit` entries; one more is read, to know whether entries follow. */
export function pageOf<Entry>(entries: Iterable<Entry>, limit = Infinity): Page<Entry> {
  const read = Iterator.from(entries)
    .take(limit + 1)
    .toArray();
  return { entries: read.slice(0, limit), hasMore: read.length > limit };
}

/** `names`: those of a page. */
export function listHeadersOf(
  call: EndpointCall,
  path: string,
  total: number,
  { entries: names, hasMore }: Page<string>,
): Record<string, string> {
  return { 'total-count': String(total), ...(hasMore ? { link: nextLink(call, path, names.at(-1) ?? '') } : {}) };
}

/** Fills the names of the request into a path, percent-encoded. */
export function filledPath({ params }: EndpointCall, path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Link to the same request, after the last name. */
function nextLink(call: EndpointCall, path: string, last: string): string {
  const { query } = call;
  const target = filledPath(call, path);
  const next = new URLSearchParams([...query].filter(([name]) => name !== 'after'));
  next.set('after', last);
  return `<${target}?${next.toString()}>; rel="next"`;
}
