// The wire form of a resource's entries: documents in both trees, entity tags, and bodies parsed into documents.
import { z } from 'zod';
import { fail } from '../../base/errors.ts';
import { namePattern, nameRule } from '../../wire/fields.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Store } from '../../store/store.ts';
import {
  formatValue,
  parseTranslated,
  shapeOf,
  toKebab,
  translateInput,
  withChangedField,
  withField,
  withReadOnly,
  type Field,
  type Shape,
} from '../../wire/schema.ts';
import { inShape, inWhole, shortened } from '../audit-parameters.ts';
import type { EndpointCall } from '../endpoint.ts';
import { namedFieldsOf, type NamedField } from '../named-entries.ts';
import { entityTag } from '../response/entity-tag.ts';
import { changeIdOf } from './change-id.ts';
import type { AnyResource, Resource } from './resource.ts';

/** A document of a resource in code: camelCase, plain JSON. */
export type Document = Record<string, unknown>;
/** A resource without its own types: it receives only values that it has returned itself. */
export type LooseResource = Resource<Document, unknown, unknown>;

const unguessableOctets = 16;

/** A resource with its shapes, computed once. */
export class ResourceView {
  readonly resource: LooseResource;
  /** wire name of the name */
  readonly nameField: string;
  readonly #store: Store;
  /** the document; read-only fields are known and refused */
  readonly #shape: Shape;
  /** the same with the name first, as POST takes it and every answer has it */
  readonly #namedShape: Shape;
  /** fields that audit records have by value: all but the secrets */
  readonly #recorded: Shape;
  /** fields of a document whose values policies judge */
  readonly judged: Shape;
  /** the fields that answers of a tree can have */
  readonly answers: Readonly<Record<'config' | 'state', Shape>>;
  /** paths of secrets in camelCase */
  readonly #secrets: readonly (readonly string[])[];
  /** fields that name entries */
  readonly namedFields: readonly NamedField[];

  constructor(resource: AnyResource, store: Store) {
    this.resource = resource;
    this.nameField = toKebab(resource.nameField);
    this.#store = store;
    this.namedFields = namedFieldsOf(resource.document);
    this.#secrets = (resource.secretFields ?? []).map((path) => path.split('.'));
    const known = withReadOnly(shapeOf(resource.document), shapeOf(resource.stateFields));
    // The flags of secrets are read-only too.
    this.#shape = withReadOnly(known, this.#withFlags(known));
    this.#namedShape = withField(this.#shape, resource.nameField);
    const writable = withField(shapeOf(resource.document), resource.nameField);
    this.judged = writable;
    const withoutSecrets = this.#secrets.reduce((shape, path) => withChangedField(shape, path, () => undefined), writable);
    this.#recorded = withoutSecrets;
    this.answers = {
      config: withoutSecrets,
      state: this.#withFlags(this.#namedShape),
    };
  }

  /** The shape with a flag in place of each secret. */
  #withFlags(shape: Shape): Shape {
    return this.#secrets.reduce((whole, path) => withChangedField(whole, path, flagField), shape);
  }

  /** Tells whether the fields have a secret that could be guessed. */
  statesShortSecret(fields: Document): boolean {
    return this.#secrets
      .map((path) => valueAt(fields, path))
      .some((value) => typeof value === 'string' && Buffer.byteLength(value) < unguessableOctets);
  }

  /** The configuration document in wire form: writable fields without secrets. */
  config(name: string, record: unknown): Document {
    return this.#format(name, this.#withoutSecrets(this.resource.toDocument(record)));
  }

  /** As config, for a document that is not stored (`validate=true`). */
  configOf(name: string, document: Document): Document {
    return this.#format(name, this.#withoutSecrets(document));
  }

  /** The state document in wire form: all fields, and a flag for each secret that is set. */
  state(name: string, record: unknown, call: EndpointCall, shows = (field: string): boolean => call.access.shows(field)): Document {
    const document = this.resource.toDocument(record);
    const wire = this.#format(name, overlay(this.#withoutSecrets(document), this.resource.toState(record, call, shows)));
    return this.#secrets.reduce((shown, path) => overlay(shown, secretFlag(document, path)), wire);
  }

  /**
   * Document for policies on values: as configOf, with the secrets that a request states. An absent one counts as null: the present
   * one is never compared.
   */
  judgedOf(name: string, document: Document, stated: Document): Document {
    const secrets = this.#secrets.flatMap((path): Document[] => {
      const secret = valueAt(stated, path);
      const [last = '', ...outer] = path.toReversed();
      return secret === undefined ? [] : [outer.reduce<Document>((inner, part) => ({ [part]: inner }), { [last]: secret })];
    });
    return this.#format(name, secrets.reduce(overlay, this.#withoutSecrets(document)));
  }

  /** The path of an entry, or with the names of its parents alone that of their list, in decoded segments. */
  pathOf(tree: 'config' | 'state', names: readonly string[]): readonly string[] {
    return ['v1', tree, ...withNames(this.resource.path, names)];
  }

  /** The entity tag of a record, secrets included; undefined for no record. */
  tag(name: string, record: unknown): string | undefined {
    return record === undefined ? undefined : entityTag(this.#store, [name, this.resource.toDocument(record), changeIdOf(record)]);
  }

  /** A body of POST: the name and the translated rest. */
  readCreation(body: JsonObject): { name: string; fields: Document } {
    const { [this.resource.nameField]: name, ...fields } = translateInput(this.#namedShape, body);
    if (name === undefined) throw this.#nameError('missing-field', 'is required');
    this.requireName(name);
    return { name, fields };
  }

  /** A body of PUT or PATCH; it may contain the name, unchanged. */
  readChange(name: string, body: JsonObject): Document {
    const { [this.resource.nameField]: sent = name, ...fields } = translateInput(this.#namedShape, body);
    if (sent !== name) throw this.#nameError('immutable-field', 'cannot be changed; create another entry instead');
    return fields;
  }

  /** The checked document of translated (and merged) fields. */
  parse(fields: Document): Document {
    return parseTranslated(this.resource.document, this.#shape, fields) as Document;
  }

  /** The shape used for merges. */
  get shape(): Shape {
    return this.#shape;
  }

  /** Throws `invalid-value` for a name that no entry can have. */
  requireName(name: unknown): asserts name is string {
    const { namePattern: pattern = namePattern, nameRule: rule = nameRule } = this.resource;
    const longest = this.resource.namePattern === undefined ? 128 : 256;
    if (typeof name === 'string' && Array.from(name).length <= longest && name.isWellFormed() && pattern.test(name)) return;
    throw this.#nameError('invalid-value', `must be ${rule}, at most ${longest} characters`);
  }

  /**
   * Reduces a body for the audit record: secrets, and parts that do not match the document, to their size; long texts and lists to size and digest.
   * `done`: it was committed.
   */
  auditParameters(body: JsonObject, done: 'done' | 'asked' | 'shown' = 'asked'): Record<string, unknown> {
    const form = done === 'shown' || (done === 'done' && this.resource.recordedWhole === true) ? inWhole : shortened;
    return form(inShape(this.#recorded, body)) as Record<string, unknown>;
  }

  #format(name: string, document: Document): Document {
    return formatValue(this.#namedShape, { [this.resource.nameField]: name, ...document }) as Document;
  }

  #withoutSecrets(document: Document): Document {
    return this.#secrets.reduce(without, document);
  }

  #nameError(code: 'missing-field' | 'invalid-value' | 'immutable-field', rule: string) {
    const message = `"${this.nameField}" ${rule}.`;
    return fail(code, { detail: message, items: [{ message, info: this.nameField }] });
  }
}

/** Warnings in an answer; absent without any. */
export const warningsField = z
  .array(
    z.string().meta({ example: 'rest-api/rules/0 (/V1/**) has no effect: upper and lower case count, and the path is not spelled so.' }),
  )
  .optional();

/** Schemas for the API description; `changed` is the answer of changes. */
export function describedSchemas(
  resource: AnyResource,
): { readonly creation: z.ZodObject } & Readonly<Record<'change' | 'config' | 'changed' | 'state', z.ZodType>> {
  const { noun, namePattern: pattern = namePattern } = resource;
  const longest = resource.namePattern === undefined ? 128 : 256;
  const example = `my-${noun.toLowerCase().replaceAll(' ', '-')}`;
  const name = z.object({
    [resource.nameField]: z.string().min(1).max(longest).regex(pattern).describe(`Name of the ${noun}.`).meta({ example }),
  });
  const flags = (resource.secretFields ?? []).map((path) =>
    path
      .split('.')
      .reduceRight(
        (inner: z.ZodType, part, index, parts) => z.object({ [index === parts.length - 1 ? `${part}Set` : part]: inner }),
        z.boolean().describe('`true` if the secret is set; its value is never answered.'),
      ),
  );
  const config = z.intersection(name, resource.document);
  return {
    creation: name.extend(resource.document.shape),
    change: resource.document,
    config,
    changed:
      resource.warnings === undefined
        ? config
        : z.intersection(config, z.object({ warnings: warningsField.describe('What was accepted and is hardly meant so.') })),
    state: flags.reduce<z.ZodType>((whole, flag) => z.intersection(whole, flag), z.intersection(config, resource.stateFields)),
  };
}

/** The value at a path of names. */
export function valueAt(document: Document, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Document | null | undefined)?.[name], document);
}

/** Objects merge, everything else is replaced. */
function overlay(base: Document, top: Document): Document {
  const merged = { ...base };
  for (const [name, value] of Object.entries(top)) {
    const below = merged[name];
    merged[name] = isJsonObject(below) && isJsonObject(value) && !isInstance(value) ? overlay(below, value) : value;
  }
  return merged;
}

function isInstance(value: object): boolean {
  return value instanceof Uint8Array || value instanceof Temporal.Instant;
}

function without(document: Document, [name = '', ...inner]: readonly string[]): Document {
  const { [name]: value, ...rest } = document;
  if (value === undefined) return document;
  if (inner.length === 0) return rest;
  return isJsonObject(value) ? { ...rest, [name]: without(value, inner) } : document;
}

/** The flag in place of a secret. */
function flagField({ wire, camel }: Field): Field {
  return { wire: `${wire}-set`, camel: `${camel}Set`, shape: { kind: 'value' }, readOnly: true };
}

/** `{ "est": { "initial-enroll-secret-set": true } }`; nothing when the container is absent. */
function secretFlag(document: Document, [name = '', ...inner]: readonly string[]): Document {
  const value = document[name];
  if (inner.length === 0) return { [`${toKebab(name)}-set`]: value !== undefined && value !== null };
  return isJsonObject(value) ? { [toKebab(name)]: secretFlag(value, inner) } : {};
}

/** The segments of a path, its parameters replaced by the first names, and the other names behind them. */
export function withNames(path: string, names: readonly string[]): readonly string[] {
  const left = [...names];
  const parts = path.split('/').map((part) => (part.startsWith('{') ? (left.shift() ?? '') : part));
  return [...parts, ...left];
}
