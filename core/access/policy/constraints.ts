// Restrictions on requests that are allowed: which values fields may be given, and which fields answers leave out (api 53).
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Field, Shape } from '../../wire/schema.ts';
import type { PolicyRule } from './policy.ts';

/** Whether these rules restrict anything. Most do not, and the other two functions are not called then. */
export function hasConstraints(grants: readonly PolicyRule[]): boolean {
  return grants.every((rule) => rule.hideFields.length > 0 || Object.keys(rule.allowedValues).length > 0);
}

/**
 * Throws `policy-denied` unless one of the rules accepts every field of the document (wire form) that it lists. A list is accepted
 * when each of its elements is. With the shape of the document, a field that it could have and has not counts with what that means, or as
 * null, and so does an empty list; other fields are accepted. Each request of a batch is checked as if it were sent alone.
 */
export function requireAllowedValues(grants: readonly PolicyRule[], document: unknown, shape?: Shape): void {
  const items = itemsOf(document, 'batch-input');
  const judged = [{ one: document, known: items.length === 0 ? shape : undefined }, ...items.map((one) => ({ one, known: shape }))];
  for (const { one, known } of judged) {
    const refusals = grants.map((rule) =>
      Object.entries(rule.allowedValues).find(([field, values]) => !accepts(values, valueAt(one, field.split('/'), known))),
    );
    const refusal = refusals[0];
    if (refusal === undefined || refusals.includes(undefined)) continue;
    throw fail('policy-denied', {
      detail: `The policy does not allow this value of "${refusal[0]}".`,
      items: [{ message: 'value not allowed by policy', info: refusal[0] }],
    });
  }
}

function accepts(allowed: readonly unknown[], value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every((one) => accepts(allowed, one));
  return allowed.some((one) => isDeepStrictEqual(one, value));
}

/**
 * The answer (a document or a list of documents, wire form) without the fields that all of the rules hide. Each answer of a batch is
 * treated as if it were sent alone. `nameField` stays: it is in the path of the entry and in what `keys=true` answers, so that leaving it
 * out would keep nothing secret, and programs rely on it.
 */
export function withoutHidden(grants: readonly PolicyRule[], answer: unknown, nameField?: string): unknown {
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
export function hiddenFields(grants: readonly PolicyRule[], nameField?: string): readonly string[] {
  const [first, ...others] = grants;
  return (first?.hideFields ?? []).filter((field) => field !== nameField && others.every((rule) => rule.hideFields.includes(field)));
}

function itemsOf(document: unknown, field: string): readonly unknown[] {
  const items = isJsonObject(document) && Object.hasOwn(document, field) ? document[field] : undefined;
  return Array.isArray(items) ? items : [];
}

/** The value at a path; through a list, the list of the values in its elements. Undefined where there can be none. */
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

/** What it means that a field is left out; what is in a container that is left out has no default. */
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
