// The types of the API description: the part of OpenAPI 3.1 and JSON Schema that we write, and our extensions.
import type { ErrorTable } from '../../base/errors.ts';
import type { PolicyOperation } from '../../access/policy/policy.ts';
import type { Command } from './command.ts';

export type JsonSchema = {
  type?: string;
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
  allOf?: readonly JsonSchema[];
  readOnly?: boolean;
  writeOnly?: boolean;
  $ref?: string;
  /** text, or base64 of other octets: the command line sends either from a file */
  'x-text-or-base64'?: true;
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

export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
export type Header = { readonly description: string; readonly schema: JsonSchema };

export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
  /** the error codes that come with this status */
  readonly 'x-codes'?: readonly string[];
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** empty for public endpoints */
  readonly security?: readonly [];
  /** may be repeated without harm when nothing is known of the first attempt */
  readonly 'x-idempotent'?: boolean;
  /** the verb of policies */
  readonly 'x-operation'?: PolicyOperation;
  /** the command of keystorectl */
  readonly 'x-command'?: Command;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};

export type OpenApiDocument = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly summary: string } & Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly { readonly token: readonly [] }[];
  readonly tags: readonly { readonly name: string }[];
  /** path, then method in lower case */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
  readonly 'x-errors': ErrorTable;
};

/** The schema itself, or the named one it refers to. */
export function resolveSchema(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** The fields of a schema, including those of `allOf`. */
export function fieldsOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return Object.assign({}, ...(schema.allOf ?? []).map(fieldsOf), schema.properties) as Record<string, JsonSchema>;
}
