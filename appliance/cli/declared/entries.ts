// The entries of an appliance that a token may see, resource by resource.
import { fieldsOf } from '../../../core/http/description/document.ts';
import type { Selector } from '../../../core/wire/labels.ts';
import type { Catalog } from '../catalog.ts';
import type { Client } from '../client.ts';
import type { Document } from '../field-path.ts';
import { pathFor, type Kind } from './kinds.ts';

/** An entry with its parents' names before its own, and without secrets. */
export type Entry = { readonly kind: Kind; readonly names: readonly string[]; readonly config: Document };

/** The kinds and operations of an appliance, and the connection to it. */
export type Source = { readonly kinds: readonly Kind[]; readonly catalog: Catalog; readonly client: Client };

/** Every entry of a kind below all of its parents, or those alone that a selector picks. Built-in entries are left out. */
export async function everyEntry(kind: Kind, source: Source, selector?: Selector): Promise<readonly Entry[]> {
  if (kind.list.names.length === 0) return entriesBelow(kind, [], source, selector);
  const parent = source.kinds.find((other) => isParent(other, kind));
  if (parent === undefined) return [];
  const found: Entry[] = [];
  for (const { names } of await everyEntry(parent, source)) found.push(...(await entriesBelow(kind, names, source, selector)));
  return found;
}

/** The entries of a kind below these parents. */
export async function entriesBelow(kind: Kind, parents: readonly string[], source: Source, selector?: Selector): Promise<readonly Entry[]> {
  const query = new URLSearchParams(selector === undefined ? {} : { selector: selector.toString() });
  const documents = (await source.client.json({ method: 'GET', path: pathFor(kind.list, parents), query })) as readonly Document[];
  const builtIn = await builtInNames(kind, parents, source);
  return documents
    .map((config) => ({ kind, names: [...parents, String(config['name'])], config }))
    .filter(({ names }) => !builtIn.has(names.at(-1)));
}

/** Tells whether entries of one kind contain entries of the other, which are deleted with them. */
export function isParent({ show }: Kind, { list }: Kind): boolean {
  return show.names.length === list.names.length && unnamed(list.path).startsWith(`${unnamed(show.path)}/`);
}

/** A path without the names of its parameters: a parent and its children call the same name differently. */
function unnamed(path: string): string {
  return path.replaceAll(/\{[^}]+\}/g, '{}');
}

/** Names of the entries that the appliance brings, where the state says which these are. */
async function builtInNames(kind: Kind, parents: readonly string[], { catalog, client }: Source): Promise<ReadonlySet<unknown>> {
  const isState = ({ command: { verb, tree, resource } }: Catalog['entries'][number]): boolean =>
    verb === 'list' && tree === 'state' && resource === kind.resource;
  const state = catalog.entries.find(isState);
  if (state === undefined || fieldsOf(state.output ?? {})['built-in'] === undefined) return new Set();
  const query = new URLSearchParams({ fields: 'name,built-in' });
  const shown = (await client.json({ method: 'GET', path: pathFor(state, parents), query })) as readonly Document[];
  return new Set(shown.filter((one) => one['built-in'] === true).map(({ name }) => name));
}
