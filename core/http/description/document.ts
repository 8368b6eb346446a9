// Types of the API description: the used part of OpenAPI 3.1 and JSON Schema, and our extensions.
import { defined } from '../../base/defined.ts';
import type { ErrorTable } from '../../base/errors.ts';
import type { PolicyOperation } from '../../access/policy/patterns.ts';
import type { Tag } from '../endpoint.ts';
import type { NamedEntry } from '../named-entries.ts';
import type { Command } from './command.ts';

export type JsonSchema = {
  /** a name, or a name and `null` for fields that a merge can remove */
  type?: string | readonly [string, 'null'];
  description?: string;
  format?: string;
  contentEncoding?: string;
  pattern?: string;
  const?: unknown;
  enum?: readonly unknown[];
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  required?: readonly string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  readOnly?: boolean;
  $ref?: string;
  /** text, or base64 of other octets: the command line sends either from a file */
  'x-text-or-base64'?: true;
  /** with x-text-or-base64: lengths of secret keys in octets, which distinguish octets from base64 */
  'x-key-octets'?: readonly number[];
  /** octets made by an appliance or a tool, never text: a file with base64 contains their base64 */
  'x-produced'?: true;
  /** base64, or raw text if `base64-encoded` is false, so that no `contentEncoding` applies */
  'x-payload'?: true;
  /** text field in whose place it gives octets */
  'x-octets-of'?: string;
  /** words accepted besides the described type */
  'x-words'?: readonly string[];
  /** value that the appliance uses if a request leaves the field out; not `default`, which makes generated clients act */
  'x-default'?: unknown;
  /** resource whose entry the text names, and the rights that its use needs */
  'x-names'?: NamedEntry;
  /** control of a form for it: a time, ranges of addresses, or labels */
  'x-form'?: 'duration' | 'ranges' | 'labels';
  /** never in logs; answered once or not at all */
  'x-secret'?: true;
  /** cannot be changed after creation */
  'x-creation-only'?: true;
  /** cannot be set back once it is true */
  'x-one-way'?: true;
};

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: JsonSchema;
};

export type Content = Readonly<Record<string, MediaType>>;
type MediaType = {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  /** by name, as references to shared examples */
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
};
export type Header = { readonly description: string; readonly schema: JsonSchema };

export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
};

/** Reference to an object under `components`. */
export type Reference = { readonly $ref: string };

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** empty for public endpoints */
  readonly security?: readonly [];
  /** idempotent: a client may send it again if no answer came */
  readonly 'x-idempotent'?: true;
  /** the verb of policies */
  readonly 'x-operation'?: PolicyOperation;
  /** last part of the path that policies see, where it is another one: that of a single action for its batch */
  readonly 'x-judged-as'?: string;
  /** the command of keystorectl */
  readonly 'x-command'?: Command;
  /** settings of the entry in the path: there is no use for the operation unless one of them is true */
  readonly 'x-useful-with'?: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** by status; refusals are references to responses that all operations share */
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** every error code it may answer with; `x-errors` has their statuses and meanings */
  readonly 'x-codes': readonly string[];
};

export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly summary: string } & Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly { readonly token: readonly [] }[];
  readonly tags: readonly Tag[];
  /** path, then method in lower case */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    /** a refusal for each status */
    readonly responses: Readonly<Record<string, Response>>;
    /** examples of refusals, shown by the responses */
    readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  };
  readonly 'x-errors': ErrorTable;
};

/** Successful answers (2xx) of an operation, by status. */
export function successesOf({ responses }: Pick<Operation, 'responses'>): readonly (readonly [status: string, response: Response])[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2') && !('$ref' in response) ? [[status, response] as const] : [],
  );
}

/** Returns a schema without references: named schemas are inlined, and parts that only allow null are left out. */
export function inlineSchema(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const inline = (one: JsonSchema): JsonSchema => inlineSchema(one, document);
  const { $ref, anyOf = [], ...own } = schema;
  const [choice, nothing] = anyOf;
  if (choice !== undefined && nothing?.type === 'null') return { ...inline(choice), ...own };
  const named = $ref === undefined ? undefined : document.components.schemas[$ref.slice(schemaPlace.length)];
  if (named !== undefined) return { ...inline(named), ...own };
  const { type, properties, items, additionalProperties: values, ...rest } = own;
  return {
    ...rest,
    ...defined({ type: typeof type === 'object' ? type[0] : type, items: items === undefined ? undefined : inline(items) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, inline) }),
    ...(values === undefined ? {} : { additionalProperties: typeof values === 'object' ? inline(values) : values }),
  };
}

/** Returns the document with every body inlined. */
export function inlineDocument(document: OpenApiDocument): OpenApiDocument {
  const bodies = (content: Content): Content =>
    mapValues(content, ({ schema, ...media }) => ({ ...media, schema: inlineSchema(schema, document) }));
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, ({ requestBody, responses, ...operation }) => ({
      ...operation,
      ...(requestBody === undefined ? {} : { requestBody: { ...requestBody, content: bodies(requestBody.content) } }),
      responses: mapValues(responses, (response) =>
        '$ref' in response || response.content === undefined ? response : { ...response, content: bodies(response.content) },
      ),
    })),
  );
  return { ...document, paths };
}

/** Fields of an inlined schema. */
export function fieldsOf({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties;
}

/** Place of named schemas. */
export const schemaPlace = '#/components/schemas/';

/** Maps the values of an object and keeps its names. */
export function mapValues<Value, Other>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
