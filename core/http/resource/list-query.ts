// Query parameters of reads and changes: selection of entries, of fields, or a dry run.
import { invalidParameter } from '../../base/texts/invalid.ts';
import { isJsonObject } from '../../wire/json.ts';
import type { EndpointCall } from '../endpoint.ts';
import { isMergePatch } from '../request/input.ts';
import { Selector, selectorRule } from '../../wire/labels.ts';
import type { Shape } from '../../wire/schema.ts';
import type { ListRule } from './merge.ts';

type Query = ReadonlyMap<string, string>;

const flag = { type: 'boolean', default: false, examples: [true] } as const;

export const changeQuery = {
  validate: { description: 'Do every check and store nothing. An answer with an `ETag` says that the entry is so already.', schema: flag },
} as const;
export const mergeQuery = {
  ...changeQuery,
  lists: {
    description:
      '`unite`: a list keeps what it has and gets what is new. `replace`: it becomes the list in the body (RFC 7396), which is the default for ' +
      'bodies of application/merge-patch+json.',
    schema: { type: 'string', enum: ['unite', 'replace'], default: 'unite', examples: ['replace'] },
  },
} as const;
export const entryQuery = {
  fields: {
    description:
      'Answer with these fields alone: names separated by commas, inside containers `a/b`. Clients that check required fields need the name among them.',
    schema: { type: 'string', examples: ['name'] },
  },
} as const;
export const listQuery = {
  ...entryQuery,
  // Another answer for the same operation has no type: `fields` and the header Total-Count say the same.
  keys: { description: 'Answer with the names alone.', schema: flag, undescribed: true },
  count: { description: 'Answer with the number of entries alone.', schema: flag, undescribed: true },
  after: { description: 'Start behind this name.', schema: { type: 'string', examples: ['m'] } },
  limit: {
    description: 'Answer with at most so many entries.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999, format: 'int32', examples: [100] },
  },
} as const;

/** Of lists of entries with labels. */
export const labelledListQuery = {
  ...listQuery,
  selector: {
    description: 'Answer with the entries alone that have all of these labels.',
    schema: { type: 'string', examples: ['team=payments,env=prod'] },
  },
} as const;

export type ListOptions = {
  readonly keys: boolean;
  readonly count: boolean;
  readonly after: string | undefined;
  readonly limit: number | undefined;
};

/** `most`: the largest limit. Throws `invalid-value`. */
export function readListQuery(query: Query, most = 999_999_999): ListOptions {
  const limit = query.get('limit');
  if (limit !== undefined && (!/^[1-9]\d{0,8}$/.test(limit) || Number(limit) > most)) {
    throw invalidParameter('limit', `must be a whole number from 1 to ${most}`);
  }
  return {
    keys: readFlag(query, 'keys'),
    count: readFlag(query, 'count'),
    after: query.get('after'),
    limit: limit === undefined ? undefined : Number(limit),
  };
}

/** A parameter that is `true` or `false`; absent is false. Throws `invalid-value`. */
export function readFlag(query: Query, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw invalidParameter(name, 'must be true or false');
  return value === 'true';
}

/** Reads the labels that entries must have; undefined without any. Throws `invalid-value`. */
export function readSelector(query: Query): Selector | undefined {
  const text = query.get('selector');
  if (text === undefined) return undefined;
  const selector = Selector.parse(text);
  if (selector === undefined) throw invalidParameter('selector', selectorRule);
  return selector;
}

/** Reads the rule of a merge for unordered lists: from the query, otherwise from the media type of the body. Throws `invalid-value`. */
export function readListRule({ query, headers }: Pick<EndpointCall, 'query' | 'headers'>): ListRule {
  const value = query.get('lists') ?? (isMergePatch(headers['content-type']) ? 'replace' : 'unite');
  if (value !== 'unite' && value !== 'replace') throw invalidParameter('lists', 'must be unite or replace');
  return value;
}

/** A function that selects the fields of the query in a document (wire form) of a shape. Throws `invalid-value` for unknown fields. */
export function readFields(query: Query, shape: Shape): (document: unknown) => unknown {
  const fields = query.get('fields')?.split(',');
  if (fields === undefined) return (document) => document;
  const paths = fields.map((field) => field.split('/'));
  for (const path of paths) requireField(shape, path);
  return (document) => select(document, paths);
}

/** Requires that a field exists. Its name is not in the message: a query can contain anything. */
function requireField(shape: Shape, [name = '', ...inner]: readonly string[]): void {
  if (name === '' || name === '__proto__') throw invalidParameter('fields', 'must be names separated by commas');
  if (shape.kind === 'value' || shape.kind === 'list') return;
  const below = shape.kind === 'map' ? shape.value : shape.byWire.get(name)?.shape;
  if (below === undefined && shape.kind === 'object')
    throw invalidParameter('fields', `must name fields from among ${[...shape.byWire.keys()].join(', ')}`);
  if (below !== undefined && inner.length > 0) requireField(below, inner);
}

/** Selects fields of a document; absent optional fields are absent from the answer too. */
function select(document: unknown, paths: readonly (readonly string[])[]): unknown {
  if (!isJsonObject(document)) return document;
  const selected: Record<string, unknown> = {};
  for (const name of new Set(paths.map(([first = '']) => first))) {
    if (!Object.hasOwn(document, name)) continue;
    const below = paths.filter(([first]) => first === name).map(([, ...inner]) => inner);
    selected[name] = below.some((inner) => inner.length === 0) ? document[name] : select(document[name], below);
  }
  return selected;
}
