// JSON schemas of the API description from zod schemas: names as on the wire, limits, marks, and an example for every field.
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { toKebab } from '../../wire/schema.ts';
import { fieldsOf, mapValues, type JsonSchema } from './document.ts';

export type Direction = 'input' | 'output';

/** An inlined schema; `typeName` is its future name unless that is derived. */
export type InlineSchema = JsonSchema & { readonly typeName?: string };

/** A schema in wire names. Its fields have `description`, limits and `examples`; inputs allow no other fields. */
export function wireSchema(schema: z.ZodType, direction: Direction): InlineSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' });
  return toWire(json, direction) as InlineSchema;
}

/** Adds to the field at a dotted camelCase path. Returns whether the schema has that field. */
export function annotateField(schema: JsonSchema, path: string, facts: Partial<JsonSchema>): boolean {
  const found = findField(schema, path.split('.').map(toKebab));
  if (found !== undefined) Object.assign(found.field, facts);
  return found !== undefined;
}

/** Removes the field at a dotted camelCase path from the schema. */
export function removeField(schema: JsonSchema, path: string): void {
  const found = findField(schema, path.split('.').map(toKebab));
  if (found === undefined) return;
  const { holder, name } = found;
  delete holder.properties?.[name];
  if (holder.required !== undefined) holder.required = holder.required.filter((one) => one !== name);
}

/** The schema without these keywords, at any depth. Names of fields are left alone. */
export function withoutKeywords(schema: JsonSchema, ...keywords: readonly (keyof JsonSchema)[]): JsonSchema {
  return changed(schema, (one) => {
    const kept: JsonSchema = { ...one };
    for (const keyword of keywords) delete kept[keyword];
    return kept;
  });
}

/**
 * The schema with its defaults as a mark for people. The keyword makes generated clients act: some send every default, which then no
 * later version can change, and openapi-typescript makes such fields required.
 */
export function withMarkedDefaults(schema: JsonSchema): JsonSchema {
  return changed(schema, ({ default: preset, ...kept }) => ({ ...kept, ...(preset === undefined ? {} : { 'x-default': preset }) }));
}

/** Changes a schema at any depth, outermost first. */
function changed(schema: JsonSchema, change: (one: JsonSchema) => JsonSchema): JsonSchema {
  const inner = (one: JsonSchema): JsonSchema => changed(one, change);
  const kept = change(schema);
  if (kept.properties !== undefined) kept.properties = mapValues(kept.properties, inner);
  if (kept.items !== undefined) kept.items = inner(kept.items);
  if (typeof kept.additionalProperties === 'object') kept.additionalProperties = inner(kept.additionalProperties);
  return kept;
}

/**
 * Schema of the body of a merge: no field is required, and none has a default, which clients would send for fields that the caller left out.
 * `null` removes a field that may be absent, as RFC 7396 says, and empties a list, to which a merge only adds.
 */
export function mergeSchema(schema: JsonSchema, keptByMerge: readonly string[]): JsonSchema {
  const required = new Set([...(schema.required ?? []), ...keptByMerge.map(toKebab)]);
  const { required: _, default: __, ...merge } = schema;
  if (merge.properties !== undefined)
    merge.properties = mapValues(merge.properties, (field, name) => {
      const inner = mergeSchema(field, []);
      const isKept = required.has(name) || field['x-creation-only'] === true || (field.default !== undefined && isPlain(field));
      return isKept ? inner : nullable(inner);
    });
  // An element of a list is whole: only its defaults go.
  if (merge.items !== undefined) merge.items = withoutKeywords(merge.items, 'default');
  if (typeof merge.additionalProperties === 'object') merge.additionalProperties = withoutKeywords(merge.additionalProperties, 'default');
  return merge;
}

/** A field whose default can be given as its value. */
function isPlain({ type }: JsonSchema): boolean {
  return type !== 'array' && type !== 'object';
}

/** `null` as well: in the type of plain fields, beside fields that will be named schemas. */
function nullable(schema: InlineSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (typeof type !== 'string') return schema;
  if (values === undefined && schema.properties === undefined && schema.typeName === undefined) return { ...schema, type: [type, 'null'] };
  const { description, examples, ...choice } = schema;
  return { anyOf: [choice, { type: 'null' }], ...defined({ description, examples }) };
}

/** An example for a schema that is written out: its required fields, and those with an example of their own. */
export function exampleOf(schema: JsonSchema): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined || schema.type === 'object') return exampleObject(schema);
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return exampleOf(choice);
  return schema.type === 'array' ? [exampleOf(schema.items ?? {})].filter((one) => one !== undefined) : undefined;
}

function exampleObject(schema: JsonSchema): Record<string, unknown> {
  const fields = fieldsOf(schema);
  return Object.fromEntries((schema.required ?? []).map((name) => [name, exampleOf(fields[name] ?? {})]));
}

type Found = { readonly holder: JsonSchema; readonly name: string; readonly field: JsonSchema };

function findField(schema: JsonSchema, [name = '', ...inner]: readonly string[]): Found | undefined {
  const field = schema.properties?.[name];
  if (field === undefined) return undefined;
  return inner.length === 0 ? { holder: schema, name, field } : findField(field, inner);
}

/** Only names in `properties` and `required` are translated; names in maps are the caller's. */
function toWire(json: unknown, direction: Direction): unknown {
  if (Array.isArray(json)) return json.map((one) => toWire(one, direction));
  if (typeof json !== 'object' || json === null) return json;
  const wire: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(json)) {
    if (keyword === 'properties') {
      const fields = Object.entries(value as Record<string, unknown>);
      wire[keyword] = Object.fromEntries(fields.map(([name, field]) => [toKebab(name), toWire(field, direction)]));
    } else if (keyword === 'required') wire[keyword] = (value as string[]).map(toKebab);
    else if (keyword === 'example') wire['examples'] = [value];
    else if (literalKeywords.has(keyword)) wire[keyword] = value;
    else if (!saysNothing(keyword, value)) wire[keyword] = toWire(value, direction);
  }
  if (direction === 'input' && 'properties' in wire) wire['additionalProperties'] = false;
  // An absent field of an answer is absent: a reader must not substitute a default.
  if (direction === 'output') delete wire['default'];
  return withExample(sized(chosen(united(wire))));
}

/** A field in both document and state is one field; the state adds to it. */
function united({ allOf: parts, ...schema }: JsonSchema & { allOf?: readonly JsonSchema[] }): JsonSchema {
  if (parts === undefined) return schema;
  const description = schema.description ?? parts.findLast((part) => part.description !== undefined)?.description;
  return { ...parts.reduce(unite), ...schema, ...defined({ description }) };
}

function unite(left: JsonSchema, right: JsonSchema): JsonSchema {
  if (left.properties === undefined || right.properties === undefined) return { ...left, ...right };
  const properties = { ...left.properties };
  for (const [name, field] of Object.entries(right.properties)) {
    const known = properties[name];
    properties[name] = known === undefined ? field : unite(known, field);
  }
  return { ...left, ...right, properties, required: [...new Set([...(left.required ?? []), ...(right.required ?? [])])] };
}

/**
 * Simplifies choices of plain types. Generated clients have one type for a field: words besides a number are accepted but not described, and
 * a field that may be text, number or boolean is any value.
 */
function chosen(schema: JsonSchema): JsonSchema {
  const { anyOf: choices, ...rest } = schema;
  if (choices === undefined || choices.some(({ properties, items }) => properties !== undefined || items !== undefined)) return schema;
  const words = choices.flatMap(({ const: only }) => (typeof only === 'string' ? [only] : []));
  const others = choices.filter(({ const: only }) => typeof only !== 'string');
  const [single] = others;
  if (words.length > 0 && single !== undefined && others.length === 1) {
    const { default: preset, examples: _, ...plain } = rest;
    return {
      ...single,
      ...plain,
      ...(preset === undefined || words.includes(preset as string) ? {} : { default: preset }),
      'x-words': words,
    };
  }
  return rest;
}

/** Whole numbers that do not fit 32 bits say so: several generators take 32 bits otherwise. */
function sized(schema: JsonSchema): JsonSchema {
  const { type, enum: values, const: only, maximum = Infinity, format } = schema;
  const isWhole = type === 'number' && [...(values ?? []), ...(only === undefined ? [] : [only])].some(Number.isInteger);
  if (isWhole) return { ...schema, type: 'integer', format: 'int32' };
  if (type !== 'integer' || format !== undefined) return schema;
  return { ...schema, format: maximum > 2 ** 31 - 1 ? 'int64' : 'int32' };
}

const literalKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'typeName', 'x-names', 'x-default']);

/** Unicode classes are unknown to the regular expressions of several languages, whose clients fail on such a pattern. */
export function isPortable(pattern: string): boolean {
  return !/\\p\{/i.test(pattern);
}

/** Removes what zod adds on its own: bounds of safe integers, names of maps, closed answers; our own marks for merges; and patterns that few can read. */
function saysNothing(keyword: string, value: unknown): boolean {
  if (keyword === 'minimum' || keyword === 'maximum') return Math.abs(value as number) === Number.MAX_SAFE_INTEGER;
  if (keyword === 'pattern') return !isPortable(value as string);
  return (
    keyword === 'ordered' ||
    keyword === 'whenEmpty' ||
    keyword === 'propertyNames' ||
    (keyword === 'additionalProperties' && value === false)
  );
}

/** Examples of fields by type; other fields need one in their schema. */
function withExample(schema: JsonSchema): JsonSchema {
  if (schema.examples !== undefined || schema.const !== undefined) return schema;
  const example = plainExample(schema);
  return example === undefined ? schema : { ...schema, examples: [example] };
}

function plainExample(schema: JsonSchema): unknown {
  const { type, format } = schema;
  if (type === 'boolean') return schema.default ?? true;
  if (schema.enum !== undefined) return schema.default ?? schema.enum[0];
  if (type === 'integer' || type === 'number') return schema.default ?? schema.minimum ?? 1;
  if (schema.contentEncoding === 'base64' || schema['x-payload'] === true) return 'aGVsbG8=';
  if (format === 'date-time') return '2026-11-21T10:39:44.123456Z';
  if (format === 'uuid') return 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
  return undefined;
}
