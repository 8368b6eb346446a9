// GET of a resource: its entries, their names, or their number, in either tree (api 6).
import { defined } from '../../../base/defined.ts';
import type { StoreKey, Table } from '../../../store/store.ts';
import { isJsonObject } from '../../../wire/json.ts';
import { Wire } from '../../../wire/schema.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall } from '../../endpoint.ts';
import { listHeadersOf, pageOf, type Page } from '../list-headers.ts';
import { labelsOf } from '../labels.ts';
import { labelledListQuery, readFields, readListQuery, readSelector } from '../list-query.ts';
import type { VerbContext } from './verb.ts';

/** The lists of a resource: of its configuration and of its state. */
export function listEndpoints(verb: VerbContext): AnyEndpoint[] {
  const { view, entries, schemas, noun } = verb;
  const shared = { ...verb.reading, query: labelledListQuery, find: (call: EndpointCall) => entries.parentsOf(call) };
  return [
    defineEndpoint<undefined, Reply, string[]>({
      ...shared,
      path: `/v1/config/${verb.listPath}`,
      summary: `List every ${noun}`,
      description: `What was configured, in the order of names. ${partText}`,
      documented: { output: schemas.config, resource: verb.described('list') },
      run: (call, _, parents) => listEntries(verb, call, parents, 'config', (name, record) => view.config(name, record)),
    }),
    defineEndpoint<undefined, Reply, string[]>({
      ...shared,
      path: `/v1/state/${verb.listPath}`,
      summary: `List the state of every ${noun}`,
      description: `What was configured and what came of it, in the order of names. ${partText}`,
      documented: { output: schemas.state, resource: verb.described('list', 'state') },
      run: (call, _, parents) => listEntries(verb, call, parents, 'state', (name, record) => view.state(name, record, call)),
    }),
  ];
}

const partText =
  '`selector` picks entries by their labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. ' +
  'What policies hide is absent.';

/** Built-in entries are listed among those of the table, in the order of names. */
function listEntries(
  { view, entries, listPath }: VerbContext,
  call: EndpointCall,
  parents: readonly string[],
  tree: 'config' | 'state',
  format: (name: string, record: unknown) => unknown,
): Reply {
  const { keys, count, after, limit } = readListQuery(call.query);
  const selector = readSelector(call.query);
  const select = readFields(call.query, view.answers[tree]);
  const { table, builtIn = new Map<string, unknown>() } = view.resource;
  const prefix = entries.keyOf(call, parents);
  // What the caller cannot see cannot be asked for either.
  const isSelected = (record: unknown): boolean => selector?.matches(shownLabels(call, record)) ?? true;
  const total = selector === undefined ? table.count(prefix) + builtIn.size : countSelected(table, prefix, isSelected);
  if (count) return new Reply(200, new Wire({ count: total }));
  const range = defined({ after, limit: limit === undefined || selector !== undefined ? undefined : limit + 1 });
  const reply = ({ entries: named, hasMore }: Page<readonly [name: string, shown: unknown]>): Reply => {
    const body = new Wire(named.map(([, shown]) => shown));
    const names = { entries: named.map(([name]) => name), hasMore };
    return new Reply(200, body, listHeadersOf(call, `/v1/${tree}/${listPath}`, total, names));
  };
  const nameOf = (key: StoreKey): string => String(key.at(-1));
  if (keys && builtIn.size === 0 && selector === undefined)
    return reply(
      pageOf(
        Iterator.from(table.keys(prefix, range)).map((key) => twice(nameOf(key))),
        limit,
      ),
    );
  const own = [...table.entries(prefix, range)].map(([key, record]) => [nameOf(key), record] as const);
  const others = [...builtIn].filter(([name]) => after === undefined || name > after);
  const all = others.length === 0 ? own : [...own, ...others].sort(([left], [right]) => (left < right ? -1 : 1));
  const page = pageOf(
    Iterator.from(all).filter(([, record]) => isSelected(record)),
    limit,
  );
  return reply({ ...page, entries: page.entries.map(([name, record]) => (keys ? twice(name) : [name, select(format(name, record))])) });
}

/** Built-in entries have no labels. */
function countSelected(table: Table<unknown>, prefix: StoreKey, isSelected: (record: unknown) => boolean): number {
  return Iterator.from(table.entries(prefix)).reduce((count, [, record]) => count + (isSelected(record) ? 1 : 0), 0);
}

/** As they are in the answer. */
function shownLabels({ access }: EndpointCall, record: unknown): unknown {
  const shown = access.withoutHidden({ labels: labelsOf(record) });
  return isJsonObject(shown) ? shown['labels'] : undefined;
}

function twice(name: string): readonly [string, string] {
  return [name, name];
}
