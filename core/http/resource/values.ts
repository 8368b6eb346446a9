// Values that policies judge when an entry is made or changed. Hidden fields are never judged by their present value.
import { isDeepStrictEqual } from 'node:util';
import { valueOfField } from '../../access/policy/constraints.ts';
import { isJsonObject } from '../../wire/json.ts';
import type { Shape } from '../../wire/schema.ts';
import type { EndpointCall } from '../endpoint.ts';
import { type Entry, fieldsSeen, isSecret, sightOf, statementOf } from './sight.ts';
import type { Document, ResourceView } from './view.ts';

/** A change of an existing entry. */
export type ValueChange = {
  readonly before: Document;
  readonly after: Document;
  /** the fields of the request */
  readonly stated: Document;
  /** true for PUT, where absent fields are stated too */
  readonly replaces: boolean;
  /** Returns the result of the request for another present document. */
  readonly documentOf: (before: Document) => Document;
};

/** Throws policy-denied for values that a creation must not have: at the path of the list and at that of the entry, whichever is that of the request. */
export function requireValuesOfNew(
  view: ResourceView,
  { access }: EndpointCall,
  { names }: Entry,
  stands: Document,
  creates: 'by-replacing' | undefined,
): void {
  access.requireAllowedValues(stands, view.judged);
  if (creates === 'by-replacing') {
    access.requireHere('create', stands, view.judged);
    access.requireMadeInList(view.pathOf('config', names), stands, view.judged);
  } else access.requireNotRefusedAt(view.pathOf('config', names), 'create', stands, view.judged);
}

/**
 * Throws policy-denied for values that a change must not make. A change that leaves all limited fields as they are is accepted, whatever they are; any other is
 * judged by the whole document, since rules may allow a value of one field only beside that of another. Where one of these is hidden and not stated, it is
 * refused: its value would decide.
 */
export function requireValuesOfChange(view: ResourceView, call: EndpointCall, entry: Entry, change: ValueChange): void {
  const { access } = call;
  if (!access.isConstrained) return;
  const { before, after, stated, replaces } = change;
  const sees = fieldsSeen(view, call, entry);
  const pathOf = (field: string): readonly string[] => camelPath(view.judged, field.split('/'));
  const isRead = (field: string): boolean => field === view.nameField || (sees(field) && !isSecret(view, pathOf(field)));
  const isStated = (field: string): boolean => statementOf(view, stated, replaces, pathOf(field)) !== undefined;
  const [was, is] = [before, after].map((document) => view.judgedOf(entry.name, document, {}));
  const differs = (field: string): boolean =>
    !isDeepStrictEqual(valueOfField(was, field, view.judged), valueOfField(is, field, view.judged));
  access.requireAllowedValues(judgedDocument(view, call, entry, change), view.judged, {
    // The path of the request always states the name.
    isChanged: (field) => field === view.nameField || differs(field) || (!isRead(field) && isStated(field)),
    isKnown: (field) => isRead(field) || isStated(field) || isSecret(view, pathOf(field)),
  });
}

/** The document after the change; for a list united with a hidden one, only the stated elements. */
function judgedDocument(view: ResourceView, call: EndpointCall, entry: Entry, change: ValueChange): Document {
  const isSeen = sightOf(view, call, entry);
  const base = withoutUnseenLists(change.before, change.stated, [], isSeen);
  const document = base === change.before ? change.after : change.documentOf(base);
  return view.judgedOf(entry.name, document, change.stated);
}

function withoutUnseenLists(
  before: Document,
  stated: Document,
  path: readonly string[],
  isSeen: (path: readonly string[]) => boolean,
): Document {
  let left = before;
  for (const [name, value] of Object.entries(stated)) {
    const here = [...path, name];
    const present = before[name];
    if (Array.isArray(value) && Array.isArray(present) && !isSeen(here)) {
      const { [name]: _, ...others } = left;
      left = others;
    } else if (isJsonObject(value) && isJsonObject(present)) {
      const inner = withoutUnseenLists(present, value, here, isSeen);
      if (inner !== present) left = { ...left, [name]: inner };
    }
  }
  return left;
}

/** The path in code of a field in wire form; names in maps stay as they are. */
function camelPath(shape: Shape | undefined, [name, ...inner]: readonly string[]): readonly string[] {
  if (name === undefined) return [];
  if (shape?.kind === 'list') return camelPath(shape.element, [name, ...inner]);
  if (shape?.kind === 'map') return [name, ...camelPath(shape.value, inner)];
  const field = shape?.kind === 'object' ? shape.byWire.get(name) : undefined;
  return [field?.camel ?? name, ...camelPath(field?.shape, inner)];
}
