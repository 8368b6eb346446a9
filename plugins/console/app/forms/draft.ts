// Input typed into a form, and the body that it makes: only touched fields, values of the right type, null for removed ones.
import type { JsonSchema } from '../../../../core/http/description/document.ts';
import { base64OfText } from '../api/base64.ts';
import { textOf } from '../description/schema.ts';
import type { Field } from './fields.ts';

export type Row = { readonly key: string; readonly value: string };
/** Encoding in which the text of a field with octets is typed. */
export type Octets = { readonly text: string; readonly as: 'text' | 'base64' };
/** null: the field is removed */
export type Typed = string | readonly Row[] | Octets | null;

/** Typed values by path; untouched fields are absent. */
export type Draft = ReadonlyMap<string, Typed>;

export type FieldProblem = { readonly path: string; readonly message: string };

/** Body without prototype: a field may have the name of a property that all objects have. */
export type Body = { [name: string]: unknown };

export type Read = { readonly body: Body; readonly problems: readonly FieldProblem[] };

/** The body of a draft. `needsAll`: required fields have to be there, as in a creation. */
export function readDraft(fields: readonly Field[], draft: Draft, needsAll: boolean): Read {
  const body = emptyBody();
  const problems: FieldProblem[] = [];
  for (const field of fields) {
    const typed = draft.get(field.path);
    const read = typed === undefined ? nothing : parse(field, typed);
    if ('problem' in read) problems.push({ path: field.path, message: read.problem });
    else if (read.value !== undefined) put(body, field.path.split('/'), read.value);
    else if (needsAll && field.required) problems.push({ path: field.path, message: 'is required' });
  }
  return { body, problems };
}

/**
 * Returns the text in which a field shows the value of a document; undefined for none, and for secrets, which are never shown in a field.
 */
export function typedOf({ kind, schema }: Field, value: unknown): Exclude<Typed, null> | undefined {
  if (value === undefined || value === null || kind === 'secret') return undefined;
  if (kind === 'lines' && Array.isArray(value)) return value.map(String).join('\n');
  if (kind === 'map' && typeof value === 'object') return Object.entries(value).map(([key, one]) => ({ key, value: String(one) }));
  if (kind === 'octets') return { text: textOf(value), as: schema['x-text-or-base64'] === true ? 'text' : 'base64' };
  if (kind === 'json' || typeof value === 'object') return JSON.stringify(value, null, 2);
  return textOf(value);
}

/** The value of a document at a path. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const name of path.split('/')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** Tells whether two drafts of a field are the same. */
export function isSame(left: Typed | undefined, right: Typed | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

type Parsed = { readonly value: unknown } | { readonly problem: string };
const nothing: Parsed = { value: undefined };

function parse(field: Field, typed: Typed): Parsed {
  if (typed === null) return { value: null };
  if (typeof typed === 'object') return 'as' in typed ? parseOctets(field, typed) : parseRows(field, typed);
  return parsers[field.kind]?.(typed, field) ?? (typed === '' ? nothing : { value: typed });
}

const parsers: Readonly<Partial<Record<Field['kind'], (text: string, field: Field) => Parsed>>> = {
  boolean: (text) => (text === '' ? nothing : { value: text === 'true' }),
  choice: (text, { schema }) => (text === '' ? nothing : { value: schema.enum?.find((one) => String(one) === text) ?? text }),
  number: (text, { schema }) => (text.trim() === '' ? nothing : parseNumber(text.trim(), schema)),
  lines: parseLines,
  json: parseJson,
};

/** Numbers beyond 2^53 would lose digits without a word. */
function parseNumber(text: string, { type, 'x-words': words = [] }: JsonSchema): Parsed {
  if (words.includes(text)) return { value: text };
  const digits = text.replaceAll(/[\s_']/g, '');
  if (type === 'integer') {
    if (!/^-?\d+$/.test(digits)) return { problem: 'must be a whole number' };
    return Number.isSafeInteger(Number(digits)) ? { value: Number(digits) } : { problem: 'has more digits than can be sent exactly' };
  }
  return /^-?\d+(?:\.\d+)?$/.test(digits) ? { value: Number(digits) } : { problem: 'must be a number' };
}

function parseLines(text: string, { schema }: Field): Parsed {
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const { items = {} } = schema;
  if (items.type !== 'integer' && items.type !== 'number') return { value: lines };
  const numbers = lines.map((line) => parseNumber(line, items));
  const wrong = numbers.find((one) => 'problem' in one);
  return wrong ?? { value: numbers.map((one) => ('value' in one ? one.value : undefined)) };
}

function parseJson(text: string): Parsed {
  if (text.trim() === '') return nothing;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: 'must be JSON' };
  }
}

/** The same key twice would lose a value. */
function parseRows({ schema }: Field, rows: readonly Row[]): Parsed {
  const filled = rows.filter(({ key, value }) => key !== '' || value !== '');
  const value = emptyBody();
  const { additionalProperties: values } = schema;
  for (const { key, value: text } of filled) {
    if (key === '') return { problem: 'has a value without a name' };
    if (Object.hasOwn(value, key)) return { problem: `has "${key}" twice` };
    const one =
      typeof values === 'object' && (values.type === 'integer' || values.type === 'number') ? parseNumber(text, values) : { value: text };
    if ('problem' in one) return { problem: `${key} ${one.problem}` };
    value[key] = one.value;
  }
  return { value };
}

function parseOctets({ schema }: Field, { text, as }: Octets): Parsed {
  if (text === '') return nothing;
  // Such fields take text as it is, too.
  if (as === 'base64' || schema['x-text-or-base64'] === true) return { value: as === 'base64' ? text.replaceAll(/\s/g, '') : text };
  return { value: base64OfText(text) };
}

function put(body: Body, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = Object.hasOwn(body, name) ? (body[name] as Body) : emptyBody();
  body[name] = inner;
  put(inner, rest, value);
}

function emptyBody(): Body {
  return Object.create(null) as Body;
}
