// GET of a resource: its entries, their names, or their number, in either tree (api 6).
import { defined } from '../../../base/defined.ts';
import { Wire } from '../../../wire/schema.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../endpoint.ts';
import { listQuery, readFields, readListQuery } from '../list-query.ts';
import type { VerbContext } from './verb.ts';

/** The lists of a resource: of its configuration and of its state. */
export function listEndpoints(verb: VerbContext): AnyEndpoint[] {
  const { view, entries, schemas, noun } = verb;
  const shared = { ...verb.reading, query: listQuery, find: (call: EndpointCall) => entries.parentsOf(call) };
  return [
    defineEndpoint<undefined, Wire, string[]>({
      ...shared,
      path: `/v1/config/${verb.listPath}`,
      summary: `List every ${noun}`,
      documented: { output: schemas.config, resource: verb.described('list') },
      run: (call, _, parents) => listEntries(verb, call, parents, 'config', (name, record) => view.config(name, record)),
    }),
    defineEndpoint<undefined, Wire, string[]>({
      ...shared,
      path: `/v1/state/${verb.listPath}`,
      summary: `List the state of every ${noun}`,
      documented: { output: schemas.state, resource: verb.described('list', 'state') },
      run: (call, _, parents) => listEntries(verb, call, parents, 'state', (name, record) => view.state(name, record, call)),
    }),
  ];
}

/** Built-in entries are listed among those of the table, in the order of names. */
function listEntries(
  { view, entries }: VerbContext,
  call: EndpointCall,
  parents: readonly string[],
  tree: 'config' | 'state',
  format: (name: string, record: unknown) => unknown,
): Wire {
  const { keys, count, after, limit } = readListQuery(call.query);
  const select = readFields(call.query, view.answers[tree]);
  const { table, builtIn = new Map<string, unknown>() } = view.resource;
  const prefix = entries.keyOf(call, parents);
  if (count) return new Wire({ count: table.count(prefix) + builtIn.size });
  const range = defined({ after, limit });
  if (keys && builtIn.size === 0) return new Wire([...table.keys(prefix, range)].map((key) => key.at(-1)));
  const own = [...table.entries(prefix, range)].map(([key, record]) => [String(key.at(-1)), record] as const);
  const others = [...builtIn].filter(([name]) => after === undefined || name > after);
  const all = others.length === 0 ? own : [...own, ...others].sort(([left], [right]) => (left < right ? -1 : 1)).slice(0, limit);
  if (keys) return new Wire(all.map(([name]) => name));
  return new Wire(all.map(([name, record]) => select(format(name, record))));
}
