// Fields of an entry that a caller sees, and those stated without being seen.
import type { StoreKey } from '../../store/store.ts';
import { isJsonObject } from '../../wire/json.ts';
import { toKebab, type Shape } from '../../wire/schema.ts';
import type { EndpointCall } from '../endpoint.ts';
import type { Document, ResourceView } from './view.ts';

/** An entry of a resource as a request finds it. */
export type Entry = {
  readonly names: readonly string[];
  readonly name: string;
  readonly key: StoreKey;
  readonly record: unknown;
  readonly builtIn: boolean;
};

/** The value at a path of names that a request states and whose present value its caller cannot read; undefined for any other. */
export type BlindStatements = (...path: readonly string[]) => unknown;

/**
 * Makes the blind statements of a request. A replacement states the default of absent fields, as null: a decision by the present value would
 * reveal it.
 */
export function blindStatements(
  view: ResourceView,
  call: EndpointCall,
  entry: Entry,
  stated: Document,
  replaces: boolean,
): BlindStatements {
  const isSeen = sightOf(view, call, entry);
  return (...path) => {
    const value = statementOf(view, stated, replaces, path);
    // A secret is never readable: an accepted value would reveal it.
    if (statedAt(stated, path) !== undefined && isSecret(view, path)) return value;
    return value === undefined || isSeen(path) ? undefined : value;
  };
}

/** Value that a request states at a path of names (camelCase); null: stated as absent; undefined: not stated. */
export function statementOf(view: ResourceView, stated: Document, replaces: boolean, path: readonly string[]): unknown {
  const value = statedAt(stated, path);
  return value === undefined && replaces && !staysByReplacing(view, path) ? null : value;
}

/** Finds the stated value: a removed container removes its fields, and a list is stated as a whole. */
function statedAt(stated: unknown, path: readonly string[]): unknown {
  const [name, ...inner] = path;
  if (name === undefined || stated === null || stated === undefined || Array.isArray(stated)) return stated;
  return typeof stated === 'object' && Object.hasOwn(stated, name) ? statedAt((stated as Document)[name], inner) : undefined;
}

export function isSecret({ resource }: ResourceView, path: readonly string[]): boolean {
  return resource.secretFields?.includes(path.join('.')) === true;
}

/** Returns a function that tells whether the caller can read a field of an entry (path of names in camelCase) in one of the trees. */
export function sightOf(view: ResourceView, call: EndpointCall, entry: Entry): (path: readonly string[]) => boolean {
  const sees = fieldsSeen(view, call, entry);
  return (path) => sees(path.map(toKebab).join('/'));
}

/** As sightOf, for fields in wire form, `a/b` in containers. */
export function fieldsSeen(view: ResourceView, { access }: EndpointCall, { names }: Entry): (field: string) => boolean {
  let trees: readonly ((field: string) => boolean)[] | undefined;
  return (field) => {
    trees ??= (['config', 'state'] as const).map((tree) => access.shownAt(view.pathOf(tree, names)));
    return trees.some((shows) => shows(field));
  };
}

/**
 * The document without the fields of stated containers that the caller cannot see, and without a container of which it sees none; the same
 * document if there are no such fields. A container without which no document is valid stays: everybody knows that it is there.
 */
export function withoutUnseenContainers(
  view: ResourceView,
  before: Document,
  stated: Document,
  isSeen: (path: readonly string[]) => boolean,
): Document {
  let left = before;
  for (const [name, value] of Object.entries(stated)) {
    const present = before[name];
    if (!isJsonObject(value) || !isJsonObject(present) || isSeen([name])) continue;
    const { [name]: _, ...others } = left;
    const shown = Object.entries(present).filter(([inner]) => isSeen([name, inner]));
    if (shown.length === Object.keys(present).length || !isValid(view, others)) continue;
    left = shown.length === 0 ? others : { ...others, [name]: Object.fromEntries(shown) };
  }
  return left;
}

function isValid({ resource }: ResourceView, document: Document): boolean {
  return resource.document.safeParse(document).success;
}

/** Tells whether a replacement that leaves a field out keeps it, or cannot state it. */
export function staysByReplacing({ resource, judged }: ResourceView, path: readonly string[]): boolean {
  const { creationFields = [], oneWayFields = [] } = resource;
  return [...creationFields, ...oneWayFields].includes(path[0] ?? '') || !isWritable(judged, path);
}

/** Tells whether a field is writable: containers may have fields of the document and of the state. */
function isWritable(shape: Shape, [name, ...inner]: readonly string[]): boolean {
  if (name === undefined || shape.kind !== 'object') return true;
  const field = shape.byCamel.get(name);
  return field !== undefined && isWritable(field.shape, inner);
}
