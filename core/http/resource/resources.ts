// Turns a resource into its endpoints in both trees: list, entry, creation, replacement, merge, removal (api 2 to 10).
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { withArticle } from '../../wire/article.ts';
import { fail } from '../../base/errors.ts';
import type { JsonObject } from '../../wire/json.ts';
import type { Store, StoreKey } from '../../store/store.ts';
import { Wire } from '../../wire/schema.ts';
import { Reply, defineEndpoint, type AnyEndpoint, type EndpointCall } from '../endpoint.ts';
import { requirePreconditions } from '../response/entity-tag.ts';
import { changeQuery, entryQuery, listQuery, readFields, readFlag, readListQuery } from './list-query.ts';
import { createEntry, mergeEntry, preconditionsOf, removeEntry, replaceEntry, type Entry, type Outcome } from './change.ts';
import type { AnyResource } from './resource.ts';
import { ResourceView, describedSchemas, type Document } from './view.ts';

/** Bodies are read in several steps (translate, merge, check), so the pipeline only proves that they are JSON objects. */
const rawBody = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;

/** The endpoints of a resource. */
export function resourceEndpoints(resource: AnyResource, store: Store): AnyEndpoint[] {
  const view: ResourceView = new ResourceView(resource, store);
  const { noun, tag, path } = view.resource;
  const aNoun = withArticle(noun);
  const parameters = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
  const list = `/v1/config/${path}`;
  const one = `${list}/{${view.nameField}}`;
  const schemas = describedSchemas(resource);
  const errors = ['not-found', ...(view.resource.errors ?? [])];
  const inList = { form: 'list', tree: 'config', facts: view.resource } as const;
  const ofEntry = { ...inList, form: 'entry' } as const;
  const reserved = view.resource.scope === 'system' ? ({ reservedFor: 'system-tenant' } as const) : {};
  const changing = { ...reserved, tag, audit: 'required', query: changeQuery, input: rawBody } as const;

  /** The names in the path, parents first; everything that is not for this caller is not found. */
  function parentsOf(call: EndpointCall): string[] {
    const parents = parameters.map((parameter) => call.params[parameter] ?? '');
    if (parents.length > 0 && view.resource.parentExists?.(call, parents) === false) throw fail('not-found');
    return parents;
  }

  function keyOf(call: EndpointCall, names: readonly string[]): StoreKey {
    return view.resource.key?.(call, names) ?? (view.resource.scope === 'tenant' ? [call.caller.tenantId, ...names] : names);
  }

  function entryOf(call: EndpointCall, parents: readonly string[], name: string): Entry {
    const names = [...parents, name];
    const key = keyOf(call, names);
    const builtIn = view.resource.builtIn?.get(name);
    return { names, name, key, builtIn: builtIn !== undefined, record: builtIn ?? view.resource.table.get(key) };
  }

  function findEntry(call: EndpointCall): Entry {
    const entry = entryOf(call, parentsOf(call), call.params[view.nameField] ?? '');
    if (entry.record === undefined) throw fail('not-found', { detail: `There is no ${noun} of this name.` });
    return entry;
  }

  function findForChange(call: EndpointCall): Entry {
    const entry = findEntry(call);
    requirePreconditions(preconditionsOf(call), view.tag(entry.name, entry.record));
    return entry;
  }

  /** PUT also creates; then the caller needs `create` as well. */
  function findForReplacement(call: EndpointCall): Entry {
    const entry = entryOf(call, parentsOf(call), call.params[view.nameField] ?? '');
    if (entry.record === undefined && !call.access.allows('create')) throw fail('policy-denied');
    requirePreconditions(preconditionsOf(call), view.tag(entry.name, entry.record));
    return entry;
  }

  function listEntries(
    call: EndpointCall,
    parents: readonly string[],
    tree: 'config' | 'state',
    format: (name: string, record: unknown) => unknown,
  ): Wire {
    const { keys, count, after, limit } = readListQuery(call.query);
    const select = readFields(call.query, view.answers[tree]);
    const { table, builtIn = new Map<string, unknown>() } = view.resource;
    const prefix = keyOf(call, parents);
    if (count) return new Wire({ count: table.count(prefix) + builtIn.size });
    const range = defined({ after, limit });
    if (keys && builtIn.size === 0) return new Wire([...table.keys(prefix, range)].map((key) => key.at(-1)));
    const own = [...table.entries(prefix, range)].map(([key, record]) => [String(key.at(-1)), record] as const);
    const others = [...builtIn].filter(([name]) => after === undefined || name > after);
    const entries = others.length === 0 ? own : [...own, ...others].sort(([left], [right]) => (left < right ? -1 : 1)).slice(0, limit);
    if (keys) return new Wire(entries.map(([name]) => name));
    return new Wire(entries.map(([name, record]) => select(format(name, record))));
  }

  function readEntry(call: EndpointCall, entry: Entry, tree: 'config' | 'state', document: unknown): Reply {
    return new Reply(200, new Wire(readFields(call.query, view.answers[tree])(document)), tagHeader(view.tag(entry.name, entry.record)));
  }

  function created(call: EndpointCall, entry: Entry, { record, document }: Outcome): Reply {
    const location = `/v1/config/${[...path.split('/').map((part) => (part.startsWith('{') ? (call.params[part.slice(1, -1)] ?? '') : part)), entry.name].map(encodeURIComponent).join('/')}`;
    const shown = record === undefined ? view.configOf(entry.name, document) : view.config(entry.name, record);
    return new Reply(201, new Wire({ ...shown, ...warned(document) }), { location, ...tagHeader(view.tag(entry.name, record)) });
  }

  /** Without an answer, unless there is something to warn of. */
  function changed(entry: Entry, { record, document }: Outcome): Reply {
    const headers = tagHeader(view.tag(entry.name, record));
    const warnings = warned(document);
    if (warnings === undefined) return new Reply(204, undefined, headers);
    return new Reply(200, new Wire({ ...view.configOf(entry.name, document), ...warnings }), headers);
  }

  function warned(document: Document): { readonly warnings: readonly string[] } | undefined {
    const warnings = view.resource.warnings?.(document) ?? [];
    return warnings.length === 0 ? undefined : { warnings };
  }

  /** The fields of a change. The trail gets the body only once its names are known: a misspelt field could hold a secret. */
  function readBody(call: EndpointCall, entry: Entry, body: JsonObject): Document {
    readFlag(call.query, 'validate');
    const fields = view.readChange(entry.name, body);
    call.noteAudit({ requestParameters: view.auditParameters(body) });
    return fields;
  }

  const reads = {
    ...reserved,
    method: 'GET',
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    tag,
    errors: ['not-found'],
  } as const;
  return [
    defineEndpoint<undefined, Wire, string[]>({
      ...reads,
      path: list,
      summary: `List every ${noun}`,
      query: listQuery,
      documented: { output: schemas.config, resource: inList },
      find: parentsOf,
      run: (call, _, parents) => listEntries(call, parents, 'config', (name, record) => view.config(name, record)),
    }),
    defineEndpoint<undefined, Wire, string[]>({
      ...reads,
      path: `/v1/state/${path}`,
      summary: `List the state of every ${noun}`,
      query: listQuery,
      documented: { output: schemas.state, resource: { ...inList, tree: 'state' } },
      find: parentsOf,
      run: (call, _, parents) => listEntries(call, parents, 'state', (name, record) => view.state(name, record, call)),
    }),
    defineEndpoint<undefined, Reply, Entry>({
      ...reads,
      path: one,
      summary: `Read ${aNoun}`,
      query: entryQuery,
      documented: { output: schemas.config, resource: ofEntry },
      find: findEntry,
      run: (call, _, entry) => readEntry(call, entry, 'config', view.config(entry.name, entry.record)),
    }),
    defineEndpoint<undefined, Reply, Entry>({
      ...reads,
      path: `/v1/state/${path}/{${view.nameField}}`,
      summary: `Read the state of ${aNoun}`,
      query: entryQuery,
      documented: { output: schemas.state, resource: { ...ofEntry, tree: 'state' } },
      find: findEntry,
      run: (call, _, entry) => readEntry(call, entry, 'state', view.state(entry.name, entry.record, call)),
    }),
    defineEndpoint<JsonObject, Reply, string[]>({
      ...changing,
      method: 'POST',
      access: 'token',
      operation: 'create',
      path: list,
      summary: `Create ${aNoun}`,
      successStatus: 201,
      documented: { input: schemas.creation, output: schemas.changed, resource: inList },
      errors: ['already-exists', 'conflict', ...errors],
      find: parentsOf,
      async run(call, body, parents) {
        const { name, fields } = view.readCreation(body);
        const entry = entryOf(call, parents, name);
        readFlag(call.query, 'validate');
        call.noteAudit({ requestParameters: view.auditParameters(body) });
        return created(call, entry, await createEntry(view, store, call, entry, fields));
      },
    }),
    defineEndpoint<JsonObject, Reply, Entry>({
      ...changing,
      method: 'PUT',
      access: 'token',
      operation: 'update',
      path: one,
      summary: `Create or replace ${aNoun}`,
      successStatus: 204,
      documented: { input: schemas.change, output: schemas.changed, resource: ofEntry },
      errors: ['immutable-field', 'one-way-flag', 'precondition-failed', 'conflict', 'built-in', ...errors],
      find: findForReplacement,
      async run(call, body, entry) {
        view.requireName(entry.name);
        const outcome = await replaceEntry(view, store, call, entry, readBody(call, entry, body));
        return outcome.created ? created(call, entry, outcome) : changed(entry, outcome);
      },
    }),
    defineEndpoint<JsonObject, Reply, Entry>({
      ...changing,
      method: 'PATCH',
      access: 'token',
      operation: 'update',
      path: one,
      summary: `Merge into ${aNoun}`,
      successStatus: 204,
      documented: {
        input: schemas.change,
        merge: true,
        resource: ofEntry,
        ...(view.resource.warnings === undefined ? {} : { output: schemas.changed }),
      },
      errors: ['immutable-field', 'one-way-flag', 'precondition-failed', 'conflict', 'built-in', ...errors],
      find: findForChange,
      async run(call, body, entry) {
        return changed(entry, await mergeEntry(view, store, call, entry, readBody(call, entry, body)));
      },
    }),
    defineEndpoint<undefined, Reply, Entry>({
      ...reserved,
      method: 'DELETE',
      access: 'token',
      operation: 'delete',
      audit: 'required',
      tag,
      path: one,
      query: changeQuery,
      summary: `Delete ${aNoun}`,
      successStatus: 204,
      documented: { resource: ofEntry },
      errors: ['precondition-failed', 'in-use', 'conflict', 'built-in', ...errors],
      find: findForChange,
      async run(call, _, entry) {
        readFlag(call.query, 'validate');
        await removeEntry(view, store, call, entry);
        return new Reply(204);
      },
    }),
  ];
}

function tagHeader(tag: string | undefined): Record<string, string> {
  return defined({ etag: tag });
}
