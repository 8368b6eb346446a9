// JSON schemas of the API description from zod schemas: names as on the wire, limits, marks, and an example for every field.
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { toKebab } from '../../wire/schema.ts';
import { fieldsOf, type JsonSchema } from './document.ts';

export type Direction = 'input' | 'output';

/** A schema in wire names. Its fields have `description`, limits and `examples`; inputs allow no other fields. */
export function wireSchema(schema: z.ZodType, direction: Direction): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' });
  return toWire(json, direction) as JsonSchema;
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

/** An example for a schema: its required fields, and those with an example of their own. */
export function exampleOf(schema: JsonSchema): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined || schema.allOf !== undefined || schema.type === 'object') return exampleObject(schema);
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return exampleOf(choice);
  return schema.type === 'array' ? [exampleOf(schema.items ?? {})] : undefined;
}

function exampleObject(schema: JsonSchema): Record<string, unknown> {
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.anyOf ?? []).slice(0, 1)];
  const required = parts.flatMap((part) => part.required ?? []);
  const fields = fieldsOf(schema);
  return Object.fromEntries(required.map((name) => [name, exampleOf(fields[name] ?? {})]));
}

type Found = { readonly holder: JsonSchema; readonly name: string; readonly field: JsonSchema };

function findField(schema: JsonSchema, [name = '', ...inner]: readonly string[]): Found | undefined {
  const field = schema.properties?.[name];
  if (field === undefined) return schema.allOf?.map((part) => findField(part, [name, ...inner])).find((found) => found !== undefined);
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
  return withExample(united(wire));
}

/** A field in both document and state is one field; the state adds to it. */
function united({ allOf: parts, ...schema }: JsonSchema): JsonSchema {
  if (parts === undefined) return schema;
  const holdsFields = parts.some(({ properties, allOf }) => properties !== undefined || allOf !== undefined);
  if (!holdsFields) return Object.assign({}, ...parts, schema) as JsonSchema;
  const description = schema.description ?? parts.findLast((part) => part.description !== undefined)?.description;
  return { ...schema, allOf: parts, ...defined({ description }) };
}

const literalKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

/** Removes what zod adds on its own: bounds of safe integers, names of maps, closed answers, and our own marks for merges. */
function saysNothing(keyword: string, value: unknown): boolean {
  if (keyword === 'minimum' || keyword === 'maximum') return Math.abs(value as number) === Number.MAX_SAFE_INTEGER;
  return keyword === 'ordered' || keyword === 'propertyNames' || (keyword === 'additionalProperties' && value === false);
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
  if (type === 'integer' || type === 'number') return schema.default ?? schema.minimum ?? 1;
  if (schema.enum !== undefined) return schema.default ?? schema.enum[0];
  if (schema.contentEncoding === 'base64') return 'aGVsbG8=';
  if (format === 'date-time') return '2026-11-21T10:39:44.123456Z';
  if (format === 'uuid') return 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
  return undefined;
}
