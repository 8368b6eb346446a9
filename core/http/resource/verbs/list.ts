// GET of a resource: its entries, their names, or their number, in either tree.
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../../base/defined.ts';
import { reasonOf } from '../../../base/errors.ts';
import { isRecordUnreadable, type StoreKey, Unreadable } from '../../../store/store.ts';
import { isJsonObject } from '../../../wire/json.ts';
import { Wire } from '../../../wire/schema.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall } from '../../endpoint.ts';
import { readFilters, sightOf, type Picker, type Sight } from '../list-filter.ts';
import { listHeadersOf, pageOf, type Page } from '../list-headers.ts';
import { labelsOf } from '../labels.ts';
import { labelledListQuery, readFields, readListQuery, readSelector, type ListOptions } from '../list-query.ts';
import type { VerbContext } from './verb.ts';

/** The lists of a resource: of its configuration and of its state. */
export function listEndpoints(verb: VerbContext): AnyEndpoint[] {
  const { view, entries, schemas, noun } = verb;
  const filters = view.resource.filters ?? {};
  const query = {
    ...labelledListQuery,
    ...Object.fromEntries(Object.entries(filters).map(([name, { description, schema }]) => [name, { description, schema }])),
  };
  const shared = { ...verb.reading, query, find: (call: EndpointCall) => entries.parentsOf(call) };
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
      run: (call, _, parents) => listEntries(verb, call, parents, 'state', (name, record, shows) => view.state(name, record, call, shows)),
    }),
  ];
}

const partText =
  '`selector` picks entries by their labels, `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are. ' +
  'What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and `unreadable`, the reason.';

type Named = readonly [name: string, record: unknown];

/** A page of entries, and the total number of entries. */
type Found = { readonly page: Page<Named>; readonly total: number };

function listEntries(
  verb: VerbContext,
  call: EndpointCall,
  parents: readonly string[],
  tree: 'config' | 'state',
  format: (name: string, record: unknown, shows: (field: string) => boolean) => unknown,
): Reply | Promise<Reply> {
  const options = readListQuery(call.query);
  const { keys, count } = options;
  const select = readFields(call.query, verb.view.answers[tree]);
  const sight = sightOf(verb.view, call, tree, parents);
  const picker = readPicker(verb, call, sight);
  const prefix = verb.entries.keyOf(call, parents);
  const reply = ({ page: { entries, hasMore }, total }: Found): Reply => {
    if (count) return new Reply(200, new Wire({ count: total }));
    const shown = (name: string, record: unknown): unknown => {
      const entry = shownOrReason(verb, name, record, (readable) => select(format(name, readable, sight(name))));
      return call.access.asListed(entry, verb.view.nameField, verb.view.pathOf(tree, [...parents, name]));
    };
    const body = new Wire(entries.map(([name, record]) => (keys ? name : shown(name, record))));
    const names = { entries: entries.map(([name]) => name), hasMore };
    return new Reply(200, body, listHeadersOf(call, `/v1/${tree}/${verb.listPath}`, total, names));
  };
  const isWhole = picker.byName === undefined && picker.byRecord === undefined;
  return isWhole ? reply(findAll(verb, prefix, options)) : findPicked(verb, prefix, options, picker).then(reply);
}

/** Formats an entry; if its record or a record it depends on does not open, its name and the reason. */
function shownOrReason({ view }: VerbContext, name: string, record: unknown, format: (record: unknown) => unknown): unknown {
  const unreadable = (reason: string) => ({ [view.nameField]: name, unreadable: reason });
  if (record instanceof Unreadable) return unreadable(record.reason);
  try {
    return format(record);
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
    return unreadable(reasonOf(error));
  }
}

/** Built-in entries are listed among those of the table, in the order of names. */
function findAll({ view: { resource } }: VerbContext, prefix: StoreKey, { keys, count, after, limit }: ListOptions): Found {
  const { table, builtIn = new Map<string, unknown>() } = resource;
  const total = table.count(prefix) + builtIn.size;
  if (count) return { page: { entries: [], hasMore: false }, total };
  const range = defined({ after, limit: limit === undefined ? undefined : limit + 1 });
  if (keys && builtIn.size === 0) {
    const names = Iterator.from(table.keys(prefix, range)).map((key): Named => [nameOf(key), undefined]);
    return { page: pageOf(names, limit), total };
  }
  const own = Array.from(table.entriesFound(prefix, range), named);
  const others = [...builtIn].filter(([name]) => after === undefined || name > after);
  return { page: pageOf(others.length === 0 ? own : inOrder([...own, ...others]), limit), total };
}

/** Records opened, and names compared, before other requests get their turn. */
const [openedAtOnce, namesAtOnce] = [500, 5_000];

/**
 * Examines all entries, in pieces, so that other requests run in between: an entry made or deleted meanwhile may be missed, as between
 * two pages. Opens only the records of entries whose names fit, and of these only those that are compared or shown.
 */
async function findPicked(
  { view: { resource } }: VerbContext,
  prefix: StoreKey,
  { keys, count, after, limit = Infinity }: ListOptions,
  { byName, byRecord }: Picker<unknown>,
): Promise<Found> {
  const { table, builtIn = new Map<string, unknown>() } = resource;
  const found: Named[] = [];
  let total = 0;
  /** Tells whether the record was opened. */
  const look = (name: string, open: () => unknown): boolean => {
    if (byName?.(name) === false) return false;
    // Entries of the table come in order, so one more than the page holds is enough.
    const isWanted = (after === undefined || name > after) && found.length <= limit + builtIn.size;
    const isOpened = byRecord !== undefined || (isWanted && !keys && !count);
    const record = isOpened ? open() : undefined;
    // An unreadable entry has a name to compare, and nothing else.
    if (byRecord !== undefined && (record instanceof Unreadable || !byRecord({ name, record }))) return true;
    total += 1;
    if (isWanted) found.push([name, record]);
    return isOpened;
  };
  for (const [name, record] of builtIn) look(name, () => record);
  for (let behind: string | undefined; ; await setImmediate()) {
    let [names, opened] = [0, 0];
    for (const key of table.keys(prefix, { limit: namesAtOnce, ...defined({ after: behind }) })) {
      behind = nameOf(key);
      names += 1;
      if (look(behind, () => table.getFound(key))) opened += 1;
      if (opened === openedAtOnce) break;
    }
    if (names < namesAtOnce && opened < openedAtOnce) {
      return { page: pageOf(builtIn.size === 0 ? found : inOrder(found), limit), total };
    }
  }
}

/** Reads the selection of the query: labels, and the filters of the resource. */
function readPicker({ view: { resource } }: VerbContext, call: EndpointCall, sight: Sight): Picker<unknown> {
  const selector = readSelector(call.query);
  const filters = readFilters(resource.filters ?? {}, call, sight);
  if (selector === undefined) return filters;
  // Built-in entries have no labels, and hidden labels cannot be selected.
  const byRecord: Picker<unknown>['byRecord'] = (entry) =>
    selector.matches(shownLabels(sight(entry.name), entry.record)) && filters.byRecord?.(entry) !== false;
  return { ...filters, byRecord };
}

/** Labels of an entry as in the answer. */
function shownLabels(sees: (field: string) => boolean, record: unknown): unknown {
  const labels = labelsOf(record);
  if (!isJsonObject(labels)) return undefined;
  return Object.fromEntries(Object.entries(labels).filter(([label]) => sees(`labels/${label}`)));
}

function named([key, record]: readonly [StoreKey, unknown]): Named {
  return [nameOf(key), record];
}

function nameOf(key: StoreKey): string {
  return String(key.at(-1));
}

function inOrder(entries: readonly Named[]): readonly Named[] {
  return entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
}
