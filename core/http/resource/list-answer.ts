// Lists outside of resources, with the same query parameters (api 6).
import type { z } from 'zod';
import { formatValue, shapeOf, Wire } from '../../wire/schema.ts';
import { Reply, type EndpointCall } from '../endpoint.ts';
import { listHeadersOf, pageOf } from './list-headers.ts';
import { readFields, readListQuery } from './list-query.ts';

/** The source of the entries. A name is what `keys=true` answers and `after` takes. */
export type Listed<Entry> = {
  /** in the order of their names, starting after `after` */
  entries(after: string | undefined): Iterable<readonly [name: string, entry: Entry]>;
  count(): number;
  /** default and maximum number of entries in an answer */
  readonly limits?: { readonly usual: number; readonly most: number };
};

/** A list of entries in memory, in the order of their names. */
export function listOf<Entry>(all: readonly (readonly [name: string, entry: Entry])[]): Listed<Entry> {
  return { entries: (after = '') => all.filter(([name]) => name > after), count: () => all.length };
}

/** The entries, their names or their number, by the query. Throws `invalid-value`. */
export function answerList<Entry, Element>(
  call: EndpointCall,
  path: string,
  element: z.ZodType<Element>,
  listed: Listed<Entry>,
  format: (name: string, entry: Entry) => Element,
): Reply {
  const { keys, count, after, limit = listed.limits?.usual } = readListQuery(call.query, listed.limits?.most);
  const shape = shapeOf(element);
  const select = readFields(call.query, shape);
  if (count) return new Reply(200, new Wire({ count: listed.count() }));
  const { entries, hasMore } = pageOf(listed.entries(after), limit);
  const total = after === undefined && !hasMore ? entries.length : listed.count();
  const headers = listHeadersOf(call, path, total, { entries: entries.map(([name]) => name), hasMore });
  const shown = entries.map(([name, entry]) => (keys ? name : select(formatValue(shape, format(name, entry)))));
  return new Reply(200, new Wire(shown), headers);
}
