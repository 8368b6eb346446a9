// Model of a client library, read from the API description: groups of operations and named types. Every emitter starts from this.
import { defined } from '../../core/base/defined.ts';
import {
  type Content,
  type OpenApiDocument,
  type Operation as DescribedOperation,
  type Parameter,
  type Response,
  successesOf,
} from '../../core/http/description/document.ts';
import { type NamedType, type TypeReference, TypeReader } from './types.ts';
import { camelCase, pascalCase } from './words.ts';

/** Groups and types are in the order of their names, so that a new endpoint changes only new lines. */
export type Model = {
  readonly groups: readonly Group[];
  /** every type that an operation uses, and `Problem` */
  readonly types: readonly NamedType[];
};

/** The operations on one kind of thing, with the words of keystorectl: `transitKeys`. */
export type Group = { readonly name: string; readonly operations: readonly Operation[] };

export type Operation = {
  /** unique in the description, never changed: `transitKeysEncrypt` */
  readonly id: string;
  /** unique in its group, camelCase: `encrypt` */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** with `{name}` for each path parameter */
  readonly path: string;
  readonly pathParameters: readonly OperationParameter[];
  /** never those that change the type of the answer */
  readonly query: readonly OperationParameter[];
  /** If-Match and If-None-Match */
  readonly headers: readonly OperationParameter[];
  readonly body?: Body;
  readonly answer: Answer;
  /** may be repeated without harm when nothing is known of the first attempt */
  readonly isIdempotent: boolean;
  /** needs no token */
  readonly isPublic: boolean;
  /** answers a page of a list; the answer's `Link` header with `rel="next"` leads to the next page */
  readonly isList: boolean;
  readonly summary: string;
  readonly documentation?: string;
};

export type OperationParameter = {
  /** as on the wire: `If-Match`, `after` */
  readonly name: string;
  readonly type: TypeReference;
  readonly documentation: string;
};

/** `isRequired`: some body must be sent, though all of its fields may be optional. */
export type Body =
  | { readonly kind: 'json'; readonly type: TypeReference; readonly isRequired: boolean }
  | { readonly kind: 'octets'; readonly mediaType: string; readonly isRequired: boolean };

/**
 * `json`: a document; with `mayBeEmpty` some answers have none (204). `stream`: octets that may be more than fit in memory. `lines`: JSON
 * documents, a line each, until someone ends it. `octets` and `text` are short.
 */
export type Answer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'json'; readonly type: TypeReference; readonly mayBeEmpty: boolean }
  | { readonly kind: 'lines' | 'octets' | 'stream' | 'text'; readonly mediaType: string };

/** Reads the whole description. Throws when two operations of a group would have one name, and for a schema that has no type. */
export function readModel(document: OpenApiDocument): Model {
  const types = new TypeReader(document.components.schemas);
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => (isForPrograms(path, operation) ? [{ path, method, operation }] : [])),
  );
  const groupNames = described.flatMap(({ operation }) => operation['x-command']?.resource ?? []).map(camelCase);
  const groups = new Map<string, Operation[]>();
  for (const { path, method, operation } of described) {
    const group = groupOf(operation, groupNames);
    const read = readOperation({ path, method, operation, group, types });
    const operations = groups.get(group) ?? [];
    if (operations.some(({ name }) => name === read.name)) throw new Error(`${group} has two operations ${read.name}`);
    groups.set(group, [...operations, read]);
  }
  types.refer({ $ref: '#/components/schemas/Problem' }, 'Problem');
  return {
    groups: [...groups].map(([name, operations]) => ({ name, operations: operations.toSorted(byName) })).toSorted(byName),
    types: types.all().toSorted(byName),
  };
}

/** Tells whether clients offer an operation: they omit pages for people, the description itself and the downloads of keystorectl. */
function isForPrograms(path: string, operation: DescribedOperation): boolean {
  if (path === '/v1/openapi.json' || path.startsWith('/v1/keystorectl')) return false;
  return path.startsWith('/v1/') && mediaTypeOf(successesOf(operation)[0]?.[1]) !== 'text/html';
}

/** The resource whose name the operation's id begins with; without one, the tag. */
function groupOf({ operationId, tags }: DescribedOperation, groupNames: readonly string[]): string {
  const fitting = groupNames.filter((name) => operationId.startsWith(name) && /^[A-Z]/.test(operationId.slice(name.length)));
  return fitting.toSorted((left, right) => right.length - left.length)[0] ?? camelCase(tags[0] ?? '');
}

type Reading = {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
  readonly group: string;
  readonly types: TypeReader;
};

function readOperation({ path, method, operation, group, types }: Reading): Operation {
  const { operationId: id, parameters, summary, description } = operation;
  const parametersIn = (place: Parameter['in']): OperationParameter[] =>
    parameters
      .filter((parameter) => parameter.in === place && !changesTheAnswer.has(parameter.name))
      .map(({ name, schema, description }) => ({
        name,
        type: types.refer(schema, `${pascalCase(id)}${pascalCase(name)}`),
        documentation: description,
      }));
  const query = parametersIn('query');
  const answer = readAnswer(operation, types);
  const isIdempotent = operation['x-idempotent'] ?? harmlessMethods.has(method);
  return {
    id,
    name: camelCase(id.startsWith(group) ? id.slice(group.length) : id),
    method: method.toUpperCase() as Operation['method'],
    path,
    pathParameters: parametersIn('path'),
    query,
    headers: parametersIn('header'),
    ...defined({ body: readBody(operation, types) }),
    answer,
    isIdempotent,
    isPublic: operation.security !== undefined,
    isList: answer.kind === 'json' && answer.type.kind === 'list' && query.some(({ name }) => name === 'after'),
    summary,
    ...defined({ documentation: description }),
  };
}

/** They leave fields out, or answer names or a number: an answer without a type. Programs that want them send the request themselves. */
const changesTheAnswer: ReadonlySet<string> = new Set(['fields', 'keys', 'count']);

const harmlessMethods: ReadonlySet<string> = new Set(['get', 'put', 'delete']);

function readBody({ operationId, requestBody }: DescribedOperation, types: TypeReader): Body | undefined {
  if (requestBody === undefined) return undefined;
  const isRequired = requestBody.required;
  const [json, other] = [requestBody.content[jsonType], Object.keys(requestBody.content)[0] ?? ''];
  if (json === undefined) return { kind: 'octets', mediaType: other, isRequired };
  return { kind: 'json', type: types.refer(json.schema, `${pascalCase(operationId)}Request`), isRequired };
}

function readAnswer(operation: DescribedOperation, types: TypeReader): Answer {
  const { operationId } = operation;
  const successes = successesOf(operation);
  const response = successes.map(([, one]) => one).find(({ content }) => content !== undefined);
  const mediaType = mediaTypeOf(response);
  if (mediaType === undefined) return { kind: 'nothing' };
  const schema = response?.content?.[mediaType]?.schema;
  if (mediaType !== jsonType || schema === undefined) return { kind: answerKinds[mediaType] ?? 'octets', mediaType };
  const mayBeEmpty = successes.some(([, { content }]) => content === undefined);
  return { kind: 'json', type: types.refer(schema, `${pascalCase(operationId)}Answer`), mayBeEmpty };
}

const jsonType = 'application/json';

/** Kinds of answers; an unlisted one is a small number of octets, like a CRL. */
const answerKinds: Readonly<Record<string, 'lines' | 'stream' | 'text'>> = {
  'application/x-ndjson': 'lines',
  'application/octet-stream': 'stream',
  'application/x-pem-file': 'text',
  'text/plain': 'text',
};

function mediaTypeOf(response: Response | undefined): string | undefined {
  return contentTypes(response?.content)[0];
}

function contentTypes(content: Content | undefined): readonly string[] {
  return Object.keys(content ?? {});
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}
