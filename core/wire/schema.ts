// The only translation between code and wire: schemas are zod objects in camelCase, JSON on the wire is in kebab-case.
import { z } from 'zod';
import { encodeBase64 } from '../base/bytes.ts';
import { fail, type ServiceError } from '../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { formatTimestamp, isDuration } from '../base/time.ts';
import { defined } from '../base/defined.ts';
import { describeIssue, elementsLong, integerRule, shownName } from './issues.ts';
import type { Field, Finding, IntegerBounds, Shape } from './shape.ts';

export type { Field, Shape } from './shape.ts';

/** A value already in wire form: kebab-case, plain JSON. The pipeline sends it unchanged. */
export class Wire {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * Parses a body with a schema. Throws `unknown-field`, `read-only-field`, `missing-field`, `invalid-base64` or `invalid-value`, with one
 * item for each problem that names field, rule and fix and never the value. The names in maps (`z.record`) are kept.
 */
export function parseInput<T>(schema: z.ZodType<T>, body: JsonObject): T {
  const shape = shapeOf(schema);
  return parseTranslated(schema, shape, translateInput(shape, body));
}

/** Renames fields to camelCase by the shape, without checking values. Throws `unknown-field`, `read-only-field`, `invalid-value`. */
export function translateInput(shape: Shape, body: JsonObject): Record<string, unknown> {
  const findings: Finding[] = [];
  const translated = translate(shape, body, '', findings);
  if (findings.length > 0) throw refusal(findings);
  return translated as Record<string, unknown>;
}

/** Checks a translated (or merged) value with the schema; throws as parseInput does. */
export function parseTranslated<T>(schema: z.ZodType<T>, shape: Shape, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal(result.error.issues.map((issue) => describeIssue(issue, shape, value)));
}

/**
 * A value in wire form: names in kebab-case, octets in base64, instants as timestamps, undefined fields left out. With a schema, only its
 * fields are sent; without one, every name is taken for a field (a value that contains a map needs a schema).
 */
export function formatOutput(value: unknown, schema?: z.ZodType): unknown {
  return formatValue(schema === undefined ? undefined : shapeOf(schema), value);
}

/** As formatOutput, for a shape. */
export function formatValue(shape: Shape | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return encodeBase64(value);
  if (value instanceof Temporal.Instant) return formatTimestamp(value);
  if (Array.isArray(value)) {
    const element = shape?.kind === 'list' ? shape.element : shape;
    return value.map((one) => formatValue(element, one));
  }
  if (shape?.kind === 'value') return isDuration(value) ? value.text : value;
  const formatted: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const one = (value as Readonly<Record<string, unknown>>)[name];
    if (one === undefined) continue;
    if (shape === undefined) formatted[toKebab(name)] = formatValue(undefined, one);
    else if (shape.kind === 'map') formatted[name] = formatValue(shape.value, one);
    else if (shape.kind === 'object') {
      const field = shape.byCamel.get(name);
      if (field !== undefined) formatted[field.wire] = formatValue(field.shape, one);
    }
  }
  return formatted;
}

/** `openpgpUserId` → `openpgp-user-id`. */
export function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The shape of a schema, computed once per schema. */
export function shapeOf(schema: z.ZodType): Shape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = buildShape(schema);
    shapes.set(schema, shape);
  }
  return shape;
}

const shapes = new WeakMap<z.ZodType, Shape>();

/** A document's shape with the fields that only the service writes: a body that has one is refused with `read-only-field`. */
export function withReadOnly(document: Shape, readOnly: Shape): Shape {
  if (document.kind !== 'object' || readOnly.kind !== 'object') return document;
  const fields = [...document.byCamel.values()].map((field) => {
    const other = readOnly.byCamel.get(field.camel);
    return other === undefined ? field : { ...field, shape: withReadOnly(field.shape, other.shape) };
  });
  for (const field of readOnly.byCamel.values()) {
    if (!document.byCamel.has(field.camel)) fields.push({ ...field, readOnly: true });
  }
  return objectShape(fields);
}

/** An object's shape with another field in front, such as the name that is also in the path. */
export function withField(shape: Shape, camel: string): Shape {
  const first: Field = { wire: toKebab(camel), camel, shape: { kind: 'value' }, readOnly: false };
  return objectShape([first, ...(shape.kind === 'object' ? [...shape.byCamel.values()].filter((field) => field.camel !== camel) : [])]);
}

/** The shape with the field at a path of camelCase names replaced or removed. */
export function withChangedField(
  shape: Shape,
  [camel = '', ...inner]: readonly string[],
  change: (field: Field) => Field | undefined,
): Shape {
  if (shape.kind !== 'object') return shape;
  const changed = (field: Field): Field | undefined => {
    if (field.camel !== camel) return field;
    return inner.length === 0 ? change(field) : { ...field, shape: withChangedField(field.shape, inner, change) };
  };
  return objectShape([...shape.byCamel.values()].map(changed).filter((field) => field !== undefined));
}

function objectShape(fields: readonly Field[]): Shape {
  return {
    kind: 'object',
    byWire: new Map(fields.map((field) => [field.wire, field])),
    byCamel: new Map(fields.map((field) => [field.camel, field])),
  };
}

function buildShape(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.ZodType>(schema.shape);
    return objectShape(
      fields.map(([camel, inner]) => ({ camel, wire: toKebab(camel), shape: shapeOf(inner), readOnly: false, absent: absentOf(inner) })),
    );
  }
  if (schema instanceof z.ZodArray) {
    const { ordered, whenEmpty } = schema.meta() ?? {};
    return {
      kind: 'list',
      element: shapeOf(schema.element as z.ZodType),
      ordered: ordered === true,
      whenEmpty: whenEmpty as readonly JsonValue[] | undefined,
      most: (schema._zod.bag['maximum'] as number | undefined) ?? Infinity,
    };
  }
  if (schema instanceof z.ZodRecord) return { kind: 'map', value: shapeOf(schema.valueType as z.ZodType) };
  if (schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodType[]).map(shapeOf).reduce(unite, { kind: 'value' });
  }
  if (schema instanceof z.ZodIntersection)
    return [schema.def.left, schema.def.right].map((side) => shapeOf(side as z.ZodType)).reduce(unite);
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in as z.ZodType);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return shapeOf(schema.unwrap() as z.ZodType);
  }
  return { kind: 'value', ...defined({ integer: schema instanceof z.ZodNumber && schema.isInt ? boundsOf(schema) : undefined }) };
}

function boundsOf({ minValue, maxValue }: z.ZodNumber): IntegerBounds {
  const own = (bound: number | null): number | undefined =>
    bound !== null && Number.isSafeInteger(bound + Math.sign(bound)) ? bound : undefined;
  return defined({ least: own(minValue), most: own(maxValue) });
}

/** The default of a field: of its schema, or from its description. */
function absentOf(schema: z.ZodType): JsonValue | undefined {
  const said = schema.meta()?.['x-default'] as JsonValue | undefined;
  if (said !== undefined) return said;
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue as JsonValue;
  return 'unwrap' in schema && typeof schema.unwrap === 'function' ? absentOf(schema.unwrap() as z.ZodType) : undefined;
}

/** Shape of a union or an intersection: the fields of all its objects, or its first member with names. */
export function unite(left: Shape, right: Shape): Shape {
  if (left.kind === 'list' && right.kind === 'list') return { ...left, most: Math.max(left.most, right.most) };
  if (left.kind === 'value' && right.kind === 'value') return { ...left, ...right };
  if (left.kind !== 'object' || right.kind !== 'object') return left.kind === 'value' ? right : left;
  const both = [...left.byCamel.values()].map((field) => {
    const other = right.byCamel.get(field.camel);
    return other === undefined ? field : { ...field, shape: unite(field.shape, other.shape) };
  });
  return objectShape([...both, ...[...right.byCamel.values()].filter((field) => !left.byCamel.has(field.camel))]);
}

function translate(shape: Shape, value: unknown, path: string, findings: Finding[]): unknown {
  if (isSoundScalar(value)) return value;
  if (typeof value === 'string') {
    // A lone surrogate has no UTF-8 form and would be replaced silently on its way to the token.
    add(findings, 'invalid-value', path, 'must be well-formed Unicode');
    return value;
  }
  if (typeof value === 'number') {
    const bounds = shape.kind === 'value' ? shape.integer : undefined;
    add(
      findings,
      'invalid-value',
      path,
      bounds === undefined ? 'must be within -9007199254740991 and 9007199254740991' : integerRule(bounds),
    );
    return value;
  }
  if (Array.isArray(value)) {
    if (shape.kind !== 'list') return value;
    const { element, most } = shape;
    if (value.length > most) {
      // Otherwise each element would be examined and merged before the schema counts them.
      add(findings, 'invalid-value', path, `must be at most ${elementsLong(most)}`);
      return [];
    }
    return value.map((one: unknown, index) =>
      isSoundScalar(one) || (element.kind === 'value' && typeof one === 'object')
        ? one
        : translate(element, one, `${path}/${index}`, findings),
    );
  }
  if (!isJsonObject(value) || shape.kind === 'value' || shape.kind === 'list') return value;
  const translated: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = shape.kind === 'object' ? shape.byWire.get(name) : undefined;
    const inner = value[name];
    if (field?.readOnly === false && isSoundScalar(inner)) {
      translated[field.camel] = inner;
      continue;
    }
    const where = path === '' ? shownName(name) : `${path}/${shownName(name)}`;
    if (shape.kind === 'map') {
      if (name === '__proto__' || !name.isWellFormed()) add(findings, 'invalid-value', where, 'cannot be a name');
      else translated[name] = translate(shape.value, inner, where, findings);
      continue;
    }
    if (field === undefined) add(findings, 'unknown-field', where, `is unknown; the fields here are ${listFields(shape.byWire)}`);
    else if (field.readOnly) add(findings, 'read-only-field', where, 'is set by the service; leave it out');
    else translated[field.camel] = translate(field.shape, inner, where, findings);
  }
  return translated;
}

/** Tells whether a value is a sound scalar for any field: most are, and need no path for a message. */
function isSoundScalar(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return typeof value !== 'object' || value === null;
}

function add(findings: Finding[], code: Finding['code'], path: string, rule: string): void {
  if (findings.length < maxFindings) findings.push({ code, message: `"${path}" ${rule}.`, info: path });
}

const maxFindings = 20;

function listFields(byWire: ReadonlyMap<string, Field>): string {
  const names = [...byWire.values()].filter((field) => !field.readOnly).map((field) => field.wire);
  return names.length === 0 ? 'none' : names.join(', ');
}

/** The most specific problem gives the code: a misspelt field is also a missing one. */
function refusal(findings: readonly Finding[]): ServiceError {
  const first = codesByWeight.map((code) => findings.find((finding) => finding.code === code)).find((finding) => finding !== undefined);
  const items = findings.slice(0, maxFindings).map(({ message, info }) => (info === undefined ? { message } : { message, info }));
  return fail(first?.code ?? 'invalid-value', { detail: first?.message ?? 'The body is not valid.', items });
}

const codesByWeight = ['unknown-field', 'read-only-field', 'missing-field', 'invalid-base64', 'invalid-value'] as const;
