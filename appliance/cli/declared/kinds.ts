// The resources that documents can declare, with their operations, in the order in which entries depend on each other: an entry follows its
// parents, and those that its fields name.
import type { Catalog, CatalogEntry } from '../catalog.ts';
import { fieldsIn, type Field } from '../operations/fields.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Declared } from './load.ts';

/** A resource and its operations in the configuration tree. */
export type Kind = {
  readonly resource: string;
  readonly create: CatalogEntry;
  /** creates many at once; undefined where the appliance has no such operation */
  readonly createBatch: CatalogEntry | undefined;
  readonly merge: CatalogEntry;
  readonly replace: CatalogEntry;
  readonly show: CatalogEntry;
  readonly list: CatalogEntry;
  readonly remove: CatalogEntry;
  /** every field that can be written, containers included */
  readonly fields: readonly Field[];
};

/** An entry and its kind. */
export type Placed = { readonly declared: Declared; readonly kind: Kind };

/** Every kind, in order. Throws CommandFailed for an appliance that cannot say whether a change would change anything. */
export function kindsOf({ entries }: Catalog): readonly Kind[] {
  const find = (resource: string, verb: string): CatalogEntry | undefined =>
    entries.find(({ command }) => command.resource === resource && command.verb === verb && command.tree === 'config');
  const kinds = new Set(entries.flatMap(({ command }) => (command.verb === 'replace' ? (command.resource ?? []) : [])));
  const found = [...kinds].flatMap((resource): readonly Kind[] => {
    const [create, merge, replace] = [find(resource, 'create'), find(resource, 'merge'), find(resource, 'replace')];
    const [show, list, remove] = [find(resource, 'show'), find(resource, 'list'), find(resource, 'delete')];
    if (!create || !merge || !replace || !show || !list || !remove) return [];
    if (!merge.operation.parameters.some(({ name }) => name === 'lists'))
      throw new CommandFailed(exitCodes.usage, 'this appliance is too old: it cannot compare documents');
    const createBatch = entries.find(({ method, path }) => method === 'POST' && path === `${create.path}-batch`);
    return [{ resource, create, createBatch, merge, replace, show, list, remove, fields: fieldsIn(create.input) }];
  });
  return found.toSorted((left, right) => rankOf(left, found) - rankOf(right, found));
}

/** Length of the longest way down to kinds that need none. So identities, which name policies, follow the keys that they are for. */
function rankOf(kind: Kind, kinds: readonly Kind[], above: readonly Kind[] = []): number {
  const needed = kinds.filter((other) => needs(kind, other) && !above.includes(other));
  return Math.max(0, ...needed.map((other) => 1 + rankOf(other, kinds, [...above, kind])));
}

/** Tells whether entries of a kind are below those of the other, or name them. */
function needs(kind: Kind, other: Kind): boolean {
  if (kind === other) return false;
  if (kind.create.path.startsWith(`${other.show.path}/`)) return true;
  return kind.fields.some((field) => names(field, other));
}

/** Tells whether a field names entries of a kind. */
function names({ schema }: Field, { create }: Kind): boolean {
  return [schema, schema.items].some((one) => create.path === `/v1/config/${one?.['x-names']?.resource}`);
}

/**
 * The fields by which an entry names another of its own kind, without which it cannot be made: an issuing CA, an OpenPGP primary key. Those in
 * containers are settings, which may name each other in a circle.
 */
function referencesOf(kind: Kind): readonly string[] {
  return kind.fields.filter((field) => !field.path.includes('/') && names(field, kind)).map(({ path }) => path);
}

/** The declared entries in the order in which they can be made. Throws a usage error for an unknown resource, wrong parents, or a cycle. */
export function inOrder(declared: readonly Declared[], kinds: readonly Kind[]): readonly Placed[] {
  const placed = declared.map((one): Placed => {
    const kind = kinds.find(({ resource }) => resource === one.resource);
    if (kind === undefined)
      throw usageError(
        `${one.where}: there is no resource "${one.resource}"; there are: ${kinds.map(({ resource }) => resource).join(', ')}`,
      );
    const parents = kind.show.names.slice(0, -1);
    if (parents.length !== one.names.length - 1)
      throw usageError(
        `${one.where}: "parents" of ${one.resource} must have ${parents.length} names${parents.map((name) => `, ${name}`).join('')}`,
      );
    return { declared: one, kind };
  });
  return kinds.flatMap(({ resource }) => byReference(placed.filter(({ kind }) => kind.resource === resource)));
}

/** Depth first, so that an entry follows those it names. */
function byReference(placed: readonly Placed[]): readonly Placed[] {
  const sorted: Placed[] = [];
  const visit = (one: Placed, above: readonly Placed[]): void => {
    if (sorted.includes(one)) return;
    if (above.includes(one)) throw usageError(`${one.declared.where}: refers to itself, by ${above.map(nameOf).join(', ')}`);
    for (const field of referencesOf(one.kind)) {
      const other = placed.find((candidate) => nameOf(candidate) === one.declared.config[field]);
      if (other !== undefined) visit(other, [...above, one]);
    }
    sorted.push(one);
  };
  for (const one of placed) visit(one, []);
  return sorted;
}

/** Tells whether an entry may name another one of its own resource, and has to follow it. */
export function mayFollow({ kind, declared }: Placed): boolean {
  return referencesOf(kind).some((field) => field in declared.config);
}

function nameOf({ declared }: Placed): string | undefined {
  return declared.names.at(-1);
}

/** The path of an operation for an entry of these names. */
export function pathFor({ path, names }: CatalogEntry, values: readonly string[]): string {
  return names.reduce((whole, name, index) => whole.replace(`{${name}}`, encodeURIComponent(values[index] ?? '')), path);
}
