// Lists outside resources, with the same query parameters.
import type { z } from 'zod';
import { formatValue, shapeOf, Wire } from '../../wire/schema.ts';
import { Reply, type EndpointCall } from '../endpoint.ts';
import { filledPath, listHeadersOf, pageOf } from './list-headers.ts';
import { readFields, readListQuery } from './list-query.ts';

/** Source of the entries. `keys=true` answers the names, and `after` takes one. */
export type Listed<Entry> = {
  /** in the order of their names, starting after `after` */
  entries(after: string | undefined): Iterable<Named<Entry>>;
  count(): number;
  /** default and maximum number of entries in an answer */
  readonly limits?: { readonly usual: number; readonly most: number };
  /** leaves out entries; absent: none */
  readonly search?: Search<Entry> | undefined;
};

/** A search examines `mostExamined` entries per answer, so that it delays no other request; the `Link` continues after the last of them. */
export type Search<Entry> = { readonly finds: (name: string, entry: Entry) => boolean; readonly mostExamined: number };

type Named<Entry> = readonly [name: string, entry: Entry];

/** A list of entries in memory, in the order of their names. */
export function listOf<Entry>(all: readonly (readonly [name: string, entry: Entry])[]): Listed<Entry> {
  return { entries: (after = '') => all.filter(([name]) => name > after), count: () => all.length };
}

/** `path`: of the list, with that of an entry below it. `nameField`: of its entries (wire form). */
type Place = { readonly path: string; readonly nameField: string };

/** The entries, their names or their number, by the query. Throws `invalid-value`. */
export function answerList<Entry, Element>(
  call: EndpointCall,
  { path, nameField }: Place,
  element: z.ZodType<Element>,
  listed: Listed<Entry>,
  format: (name: string, entry: Entry) => Element,
): Reply {
  const { keys, count, after, limit = listed.limits?.usual } = readListQuery(call.query, listed.limits?.most);
  const shape = shapeOf(element);
  const select = readFields(call.query, shape);
  if (count) return new Reply(200, new Wire({ count: listed.count() }));
  const { search } = listed;
  const { entries, hasMore, last } = search === undefined ? firstOf(listed, after, limit) : foundIn(listed.entries(after), search, limit);
  const total = after === undefined && !hasMore && search === undefined ? entries.length : listed.count();
  const headers = listHeadersOf(call, path, total, { entries: [last], hasMore });
  const segments = filledPath(call, path).slice(1).split('/').map(decodeURIComponent);
  const asListed = (name: string, wire: unknown): unknown => call.access.asListed(wire, nameField, [...segments, name]);
  const shown = entries.map(([name, entry]) => (keys ? name : asListed(name, select(formatValue(shape, format(name, entry))))));
  return new Reply(200, new Wire(shown), headers);
}

/** `last`: the name behind which the next page begins. */
type Part<Entry> = { readonly entries: readonly Named<Entry>[]; readonly hasMore: boolean; readonly last: string };

function firstOf<Entry>(listed: Listed<Entry>, after: string | undefined, limit: number | undefined): Part<Entry> {
  const page = pageOf(listed.entries(after), limit);
  return { ...page, last: page.entries.at(-1)?.[0] ?? '' };
}

function foundIn<Entry>(all: Iterable<Named<Entry>>, { finds, mostExamined }: Search<Entry>, limit = Infinity): Part<Entry> {
  const entries: Named<Entry>[] = [];
  let [examined, last] = [0, ''];
  for (const named of all) {
    if (examined === mostExamined || entries.length === limit) return { entries, hasMore: true, last };
    [examined, last] = [examined + 1, named[0]];
    if (finds(...named)) entries.push(named);
  }
  return { entries, hasMore: false, last };
}
