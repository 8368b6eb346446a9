// Rules that values of fields narrow: which requests such a rule is not about.
import { isDeepStrictEqual } from 'node:util';
import { itemsOf, valueOfField } from '../access/policy/constraints.ts';
import { decodeDuration, decodeTimestamp } from '../base/time.ts';
import type { Shape } from '../wire/schema.ts';

/** By field, inside containers `a/b`, the values with which a rule is about a request. */
export type Values = Readonly<Record<string, readonly (string | number | boolean | null)[]>>;

/** Part of a rule. */
type Narrowed = { readonly name: string; readonly values?: Values };

/**
 * Content of a request, as these rules judge it: documents in wire form without secrets, and the fields that they can have. Of a change the document before
 * and after it, of a batch each item.
 */
export type Judged = { readonly documents: readonly unknown[]; readonly shape: Shape | undefined };

/** A rule that is not about a request, the values that it had then, and those of the request by which it is not. */
export type Outside = Required<Narrowed> & { readonly by: readonly { readonly field: string; readonly values: readonly unknown[] }[] };

/** The rules among these that are not about a request because of its values. What nobody can know, as a secret or a field that it cannot have, narrows nothing. */
export function outsideOf(rules: readonly Narrowed[], judged: Judged | undefined): readonly Outside[] {
  if (judged === undefined) return [];
  const documents = judged.documents.flatMap((one) => {
    const items = itemsOf(one, 'batch-input');
    return items.length === 0 ? [one] : items;
  });
  return rules.flatMap(({ name, values = {} }) => {
    const sparing = documents.map((one) => sparingField(values, one, judged.shape));
    const known = sparing.filter((one) => one !== undefined);
    if (documents.length === 0 || known.length < documents.length) return [];
    const fields = [...new Set(known.map(({ field }) => field))];
    const valuesOf = (field: string): readonly unknown[] => [
      ...new Set(known.filter((one) => one.field === field).flatMap((one) => one.values)),
    ];
    return [{ name, values, by: fields.map((field) => ({ field, values: valuesOf(field) })) }];
  });
}

/** Tells whether a rule, as it is now, was not about a request. */
export function isOutside({ name, values }: Narrowed, outside: readonly Narrowed[] = []): boolean {
  return outside.some((one) => one.name === name && isDeepStrictEqual(one.values, values));
}

/** The first field of a rule that has another value in a document. */
function sparingField(values: Values, document: unknown, shape: Shape | undefined) {
  for (const [field, some] of Object.entries(values)) {
    const here = scalarsOf(valueOfField(document, field, shape));
    if (here?.every((one) => isAnother(one, some)) === true) return { field, values: here };
  }
  return undefined;
}

/**
 * Tells whether a value differs from each of these, however both are written. Beside a number only another number is: a text such as `latest` may stand for it, and a
 * request without may mean all.
 */
function isAnother(value: unknown, some: readonly unknown[]): boolean {
  if (typeof value !== 'number' && some.some((one) => typeof one === 'number')) return false;
  return !some.some((one) => meaningOf(one) === meaningOf(value));
}

/** A duration and a time as a text that all their spellings share; anything else as it is. */
function meaningOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const duration = decodeDuration(value);
  return duration === undefined ? (decodeTimestamp(value)?.toString() ?? value) : `${duration.seconds}s`;
}

/** The single values of a field, an empty list as null; undefined for what has none. */
function scalarsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) {
    const all = value.map(scalarsOf);
    if (all.length === 0) return [null];
    return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
  }
  return value === undefined || (typeof value === 'object' && value !== null) ? undefined : [value];
}

/** Tells whether values of a request, by field, keep it out of a rule: for an auditor who has its record alone. */
export function areOutside({ values = {} }: Omit<Narrowed, 'name'>, by: Outside['by']): boolean {
  return (
    by.length > 0 &&
    by.every(({ field, values: here }) => {
      const some: readonly unknown[] | undefined = Object.hasOwn(values, field) ? values[field] : undefined;
      return some !== undefined && here.length > 0 && here.every((one) => isAnother(one, some));
    })
  );
}
