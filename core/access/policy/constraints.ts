// Restrictions on allowed requests: values that fields may have, and fields that answers leave out.
import { fail } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Field, Shape } from '../../wire/schema.ts';
import type { Grants } from './engine.ts';
import { containersOf, hiddenBy, restrictionsOf, type Limit, type Restrictions } from './limits.ts';

/** Limit of items of a batch times rules that allow it: a tenth of a second. */
const mostTries = 2_500_000;

/** A text that no rule has as a value, which has at most 1,024 characters: for a field whose value is large, or may be any. */
export const anyValue = ' '.repeat(2_048);

/** A change of an existing document (fields in wire form, `a/b` in containers). */
export type JudgedChange = {
  /** tells whether a field changes; rules that limit no changed field do not apply */
  readonly isChanged: (field: string) => boolean;
  /** false: the value would reveal a hidden field to the caller, and counts as not allowed */
  readonly isKnown: (field: string) => boolean;
};

/** The value of a field of a document (wire form), as rules judge it; undefined if the document cannot have one. */
export function valueOfField(document: unknown, field: string, shape: Shape | undefined): unknown {
  return valueAt(document, field.split('/'), shape);
}

/**
 * Throws `policy-denied` unless one of the rules accepts every field of the document (wire form) that it lists. A list is accepted
 * when each of its elements is. With the shape of the document, a field that it could have and has not counts with what that means, or as
 * null, and so does an empty list; other fields are accepted. Each request of a batch is checked as if it were sent alone.
 * A change is accepted, too, that leaves every field as it is which one of the rules limits.
 */
export function requireAllowedValues(grants: readonly Grants[], document: unknown, shape?: Shape, change?: JudgedChange): void {
  const rules = grants.flatMap((one) => restrictionsOf(one).limits);
  if (change !== undefined) {
    const limited = new Set(rules.flatMap((limits) => limits.map(({ field }) => field)));
    if (![...limited].some((field) => change.isChanged(field))) return;
  }
  const items = itemsOf(document, 'batch-input');
  if (items.length * rules.length > mostTries)
    throw fail('invalid-value', {
      detail: `Under the ${rules.length} rules that allow this, a batch has ${Math.floor(mostTries / rules.length)} items at most: send it in parts.`,
    });
  const judged = [{ one: document, known: items.length === 0 ? shape : undefined }, ...items.map((one) => ({ one, known: shape }))];
  for (const { one, known } of judged) {
    const refused = refusedField(rules, one, known, change?.isKnown);
    if (refused === undefined) continue;
    if (change?.isKnown(refused) === false) throw unknownField(refused);
    throw fail('policy-denied', {
      detail: `The policy does not allow this value of "${refused}".`,
      items: [{ message: 'value not allowed by policy', info: refused }],
    });
  }
}

/** Error about a field, independent of its value. */
function unknownField(field: string): Error {
  const message = `The policy limits "${field}" together with what this changes, and hides it from you: state it as well, or ask for the right to read it.`;
  return fail('policy-denied', { detail: message, items: [{ message, info: field }] });
}

/** The field that the first of the rules refuses; undefined if one of them accepts the document. */
function refusedField(
  rules: Restrictions['limits'],
  document: unknown,
  shape: Shape | undefined,
  isKnown: (field: string) => boolean = () => true,
): string | undefined {
  const found = new Map<string, unknown>();
  const valueOf = ({ field, path }: Limit): unknown => {
    if (!found.has(field)) found.set(field, valueAt(document, path, shape));
    return found.get(field);
  };
  let refused: string | undefined;
  for (const limits of rules) {
    const one = limits.find((limit) => !isKnown(limit.field) || !accepts(limit.values, valueOf(limit)));
    if (one === undefined) return undefined;
    refused ??= one.field;
  }
  return refused;
}

/** Tells whether a value is allowed: values in policies are neither lists nor objects. */
function accepts(allowed: ReadonlySet<unknown>, value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) ? value.every((one) => accepts(allowed, one)) : allowed.has(value);
}

/**
 * The answer (a document or a list of documents, wire form) without the fields that all of the rules hide. Each answer of a batch is
 * treated as if it were sent alone. `nameField` stays: it is in the path of the entry and in what `keys=true` answers, so that leaving it
 * out would keep nothing secret, and programs rely on it.
 */
export function withoutHidden(grants: readonly Grants[], answer: unknown, nameField?: string): unknown {
  const hidden = hiddenFields(grants, nameField);
  if (hidden.length === 0) return answer;
  const strip = (document: unknown): unknown => withoutFields(document, hidden);
  const items = itemsOf(answer, 'batch-results');
  return strip(items.length === 0 ? answer : { ...(answer as JsonObject), 'batch-results': items.map(strip) });
}

/** The document (wire form) without these fields, inside containers `a/b`. */
export function withoutFields(document: unknown, fields: readonly string[]): unknown {
  return fields.reduce((shown, field) => without(shown, field.split('/')), document);
}

/** The fields that all of the rules hide, but for the one that names entries. */
export function hiddenFields(grants: readonly Grants[], nameField?: string): readonly string[] {
  return [...hiddenBy(grants).fields].filter((field) => field !== nameField);
}

/** Tells whether all of the rules hide a field, a part of it, or a container around it. */
export function hidesOf(grants: readonly Grants[], field: string): boolean {
  const { fields, around } = hiddenBy(grants);
  return fields.size > 0 && (around.has(field) || containersOf(field).some((container) => fields.has(container)));
}

/** The requests of a batch; empty unless the document is a batch. */
export function itemsOf(document: unknown, field: string): readonly unknown[] {
  const items = isJsonObject(document) && Object.hasOwn(document, field) ? document[field] : undefined;
  return Array.isArray(items) ? items : [];
}

/** The value at a path; through a list, the list of the values in its elements. Undefined if the path cannot have one. */
function valueAt(value: unknown, path: readonly string[], shape: Shape | undefined): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 && shape?.kind === 'list') return shape.whenEmpty ?? null;
    const element = shape?.kind === 'list' ? shape.element : undefined;
    return path.length === 0 ? value : value.map((one) => valueAt(one, path, element));
  }
  const [name, ...inner] = path;
  if (name === undefined) return value;
  const field = fieldOf(shape, name);
  if (isJsonObject(value) && Object.hasOwn(value, name)) return valueAt(value[name], inner, field?.shape);
  return field === undefined ? undefined : leftOut(inner, field, isJsonObject(value));
}

/** Value that an absent field stands for; fields of an absent container have no default. */
function leftOut([name, ...inner]: readonly string[], { shape, absent }: KnownField, isHere: boolean): unknown {
  if (name === undefined) return isHere && absent !== undefined ? valueAt(absent, [], shape) : null;
  const field = fieldOf(shape.kind === 'list' ? shape.element : shape, name);
  return field === undefined ? undefined : leftOut(inner, field, false);
}

type KnownField = Pick<Field, 'shape' | 'absent'>;

/** A field that requests may have. */
function fieldOf(shape: Shape | undefined, name: string): KnownField | undefined {
  if (shape?.kind === 'map') return { shape: shape.value };
  const field = shape?.kind === 'object' ? shape.byWire.get(name) : undefined;
  return field?.readOnly === true ? undefined : field;
}

function without(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, path));
  const [name = '', ...inner] = path;
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: member, ...rest } = value;
  return inner.length === 0 ? rest : { ...rest, [name]: without(member, inner) };
}
