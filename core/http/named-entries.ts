// Fields that name an entry of a resource, with the rights that the use of that entry needs: declared once on the field, read by the checks
// of requests, the API description and `policy/check`.
import { z } from 'zod';
import type { Effect, FieldAccess } from '../access/access-control.ts';
import type { PolicyOperation } from '../access/policy/patterns.ts';
import { fail } from '../base/errors.ts';
import { toKebab } from '../wire/schema.ts';

/** A right that the caller needs; in the path `{}` stands for the name of the entry. */
export type NeededRight = {
  readonly operation: PolicyOperation;
  readonly path: string;
  /** of a right that rules may give for certain values: those that the use amounts to */
  readonly effect?: () => Effect;
};

/** Entry named by a field. */
export type NamedEntry = {
  /** path of the list below its tree: `keystore/tls/ca`; for a target without a list, its description */
  readonly resource: string;
  /** rights, all of them needed unless the field keeps its present name */
  readonly needs: readonly NeededRight[];
  /** reason for which no right is needed, or name of the code that checks it instead of the pipeline */
  readonly because?: string;
  /** set if the token must have the policy that is named, or `root` */
  readonly isGiven?: true;
};

/** A policy that the request gives. */
export const givenPolicy: NamedEntry = {
  resource: 'policy/policies',
  needs: [],
  isGiven: true,
  because: 'Nobody gives a policy that the own token does not have.',
};

/** A field at any depth of a schema. */
export type NamedField = { readonly path: readonly string[]; readonly wire: string; readonly entry: NamedEntry };

const mark = 'x-names';

/** Declares the entry that a field names. On the element of a list, for all its elements. */
export function naming<Schema extends z.ZodType>(schema: Schema, entry: NamedEntry): Schema {
  return schema.meta({ [mark]: entry });
}

/** Fields of a schema that name entries; computed once per schema. */
export function namedFieldsOf(schema: z.ZodType): readonly NamedField[] {
  let fields = known.get(schema);
  if (fields === undefined) known.set(schema, (fields = collect(schema, [])));
  return fields;
}

const known = new WeakMap<z.ZodType, readonly NamedField[]>();

function collect(schema: z.ZodType, path: readonly string[]): readonly NamedField[] {
  const entry = schema.meta()?.[mark] as NamedEntry | undefined;
  if (entry !== undefined) return [{ path, wire: path.map(toKebab).join('/'), entry }];
  if (schema instanceof z.ZodObject)
    return Object.entries<z.ZodType>(schema.shape).flatMap(([name, inner]) => collect(inner, [...path, name]));
  return insidesOf(schema).flatMap((inner) => collect(inner, path));
}

/** The schemas that a schema wraps or is chosen from. */
function insidesOf(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodUnion) return schema.options as z.ZodType[];
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right] as z.ZodType[];
  if (schema instanceof z.ZodPipe) return [schema.in as z.ZodType];
  return 'unwrap' in schema && typeof schema.unwrap === 'function' ? [schema.unwrap() as z.ZodType] : [];
}

/**
 * Throws `policy-denied` unless the caller may use every entry that the document (camelCase) names. Names that the field had `before`, which
 * another caller has set, are not checked again. Called before it is known whether the entries exist.
 */
export function requireNamed(access: FieldAccess, fields: readonly NamedField[], document: unknown, before?: unknown): void {
  for (const field of fields) {
    const kept = textsAt(before, field.path);
    for (const name of textsAt(document, field.path)) if (!kept.includes(name)) requireUse(access, field, name);
  }
}

function requireUse(access: FieldAccess, { wire, entry }: NamedField, name: string): void {
  const lacking = entry.needs.find(({ operation, path, effect }) => !access.allowsAt(segmentsOf(path, name), operation, effect?.()));
  if (lacking === undefined) return;
  throw fail('policy-denied', {
    detail: `"${wire}" names an entry whose use needs "${lacking.operation}" of ${lacking.path.replace('{}', encodeURIComponent(name))}${lacking.effect === undefined ? '' : ', with any values'}.`,
    items: [{ message: 'names an entry that you may not use so', info: wire }],
  });
}

/** Segments of the path of a right, as policies see them. */
export function segmentsOf(path: string, name: string): readonly string[] {
  return path
    .slice(1)
    .split('/')
    .map((segment) => (segment === '{}' ? name : segment));
}

/** The texts at a path of names (camelCase); through a list, those of its elements. */
export function textsAt(value: unknown, path: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => textsAt(one, path));
  const [name, ...inner] = path;
  if (name === undefined) return typeof value === 'string' ? [value] : [];
  return typeof value === 'object' && value !== null ? textsAt((value as Readonly<Record<string, unknown>>)[name], inner) : [];
}
