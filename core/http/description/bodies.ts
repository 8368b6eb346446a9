// The body and the successful answers of an operation: media types, named schemas, headers and examples.
import { defined } from '../../base/defined.ts';
import type { AnyEndpoint, Documented } from '../endpoint.ts';
import { listHeaders } from '../resource/list-headers.ts';
import { mediaTypesOf } from '../request/input.ts';
import { mapValues, type Content, type JsonSchema, type Operation, type Response } from './document.ts';
import { pascal, type NamedSchemas } from './named-schemas.ts';
import { entityTagHeader } from './parameters.ts';
import {
  annotateField,
  exampleOf,
  mergeSchema,
  removeField,
  wireSchema,
  withMarkedDefaults,
  withoutKeywords,
  type Direction,
  type InlineSchema,
} from './schema.ts';

export type Bodies = { readonly requestBody: Operation['requestBody'] | undefined; readonly successes: Readonly<Record<string, Response>> };

type Written = { readonly input: InlineSchema | undefined; readonly output: InlineSchema | undefined };

/** Describes both bodies, and adds their schemas to the named ones. */
export function bodiesOf(endpoint: AnyEndpoint, operationId: string, { input, output }: Written, named: NamedSchemas): Bodies {
  return {
    requestBody: requestBodyOf(endpoint, operationId, input, named),
    successes: successesOf(endpoint, operationId, output, named),
  };
}

/** Names come from the noun of a resource, from `named`, or from the operationId: never from a path. */
function baseOf({ named, documented }: AnyEndpoint, operationId: string): string {
  return documented?.resource === undefined ? (named ?? pascal(operationId)) : pascal(documented.resource.facts.noun);
}

function requestBodyOf(
  endpoint: AnyEndpoint,
  operationId: string,
  input: InlineSchema | undefined,
  named: NamedSchemas,
): Operation['requestBody'] {
  if (input === undefined) return endpoint.consumes === undefined ? undefined : { required: true, content: contentOf(endpoint.consumes) };
  const { resource, merge } = endpoint.documented ?? {};
  const base = baseOf(endpoint, operationId);
  const form = resource === undefined ? 'Request' : resource.form === 'list' ? 'Creation' : merge === true ? 'Merge' : 'Replacement';
  const suffix = resource === undefined ? '' : merge === true ? 'Merge' : 'Input';
  const schema = named.add(`${base}${form}`, input, { base, suffix });
  const example = exampleOf(input);
  return {
    // A forgotten argument must not replace an entry with defaults only.
    required: endpoint.method === 'PUT' || endpoint.method === 'PATCH' || (input.required ?? []).length > 0,
    content: Object.fromEntries(mediaTypesOf(endpoint).map((type) => [type, { schema, example }])),
  };
}

function successesOf(
  endpoint: AnyEndpoint,
  operationId: string,
  output: InlineSchema | undefined,
  named: NamedSchemas,
): Record<string, Response> {
  const { resource, headers: given } = endpoint.documented ?? {};
  const { successStatus, produces, query = {} } = endpoint;
  const headers = defined({ headers: given });
  const base = baseOf(endpoint, operationId);
  const answered = (status: number, content: { readonly content?: Content }): Record<string, Response> => ({
    [successStatus ?? status]: { description: 'Done', ...headers, ...content },
    ...mapValues(endpoint.documented?.otherStatuses ?? {}, (description, other) => ({
      description,
      ...headers,
      ...(other === '304' ? {} : content),
    })),
  });
  if (output === undefined) return produces === undefined ? answered(204, {}) : answered(200, { content: contentOf(produces) });
  if (resource !== undefined) return changesOf(endpoint, resource, output, named);
  if (output.items !== undefined && 'after' in query)
    return listed(named.add(base, shownOf(endpoint, output.items ?? {}), { base, suffix: '' }), [exampleOf(output.items ?? {})]);
  const { empty } = endpoint.documented ?? {};
  return {
    ...answered(200, jsonContent(answerSchema(endpoint, base, output, named), exampleOf(output))),
    ...(empty === undefined ? {} : { 204: { description: empty } }),
  };
}

/** A whole list is an array of named entries; anything else has a name itself. */
function answerSchema(endpoint: AnyEndpoint, base: string, output: InlineSchema, named: NamedSchemas): JsonSchema {
  const naming = { base, suffix: '' };
  if (output.items !== undefined) return { type: 'array', items: named.add(base, output.items, naming) };
  return named.add(`${base}Answer`, shownOf(endpoint, output), naming);
}

function changesOf(
  endpoint: AnyEndpoint,
  resource: NonNullable<Documented['resource']>,
  output: InlineSchema,
  named: NamedSchemas,
): Record<string, Response> {
  const { method } = endpoint;
  const base = pascal(resource.facts.noun);
  const warns = method !== 'GET' && resource.facts.warnings !== undefined;
  const form = warns ? 'WithWarnings' : resource.tree === 'state' ? 'State' : '';
  const schema = named.add(`${base}${form}`, shownOf(endpoint, output), { base, suffix: '', otherwise: form });
  const content = jsonContent(schema, exampleOf(output));
  const headers = { ETag: entityTagHeader };
  const created = { description: 'Created', headers: { ...headers, Location: locationHeader }, ...content };
  if (method === 'POST') return { 201: created };
  const changed = {
    ...(warns ? { 200: { description: 'Done, with warnings', headers, ...content } } : {}),
    204: { description: method === 'PUT' ? 'Replaced' : method === 'PATCH' ? 'Merged' : 'Deleted', headers },
  };
  if (method === 'PUT') return { ...changed, 201: created };
  if (method === 'PATCH') return changed;
  if (resource.form === 'entry') return { 200: { description: 'The entry', headers, ...content } };
  return listed(schema, [exampleOf(output)]);
}

function listed(entry: JsonSchema, example: unknown): Record<string, Response> {
  const content = jsonContent({ type: 'array', items: entry }, example);
  return { 200: { description: 'The entries, in the order of their names', headers: listHeaders, ...content } };
}

function jsonContent(schema: JsonSchema, example: unknown): { content: Content } {
  return { content: { 'application/json': { schema, example } } };
}

/** A body that is not JSON: text, or octets. */
function contentOf(mediaType: string): Content {
  const isText = /^text\/|pem|ndjson/.test(mediaType);
  return { [mediaType]: { schema: isText ? { type: 'string' } : mediaType === 'application/json' ? { type: 'object' } : octets } };
}

const octets = { type: 'string', format: 'binary' };
const locationHeader = {
  description: 'Path of the new entry.',
  schema: { type: 'string', format: 'uri-reference', examples: ['/v1/config/tenants/my-tenant'] },
};

/** Schema of the body of a request. Throws if the endpoint names a secret that it does not have. */
export function inputOf(endpoint: AnyEndpoint): InlineSchema | undefined {
  const { input = endpoint.input, merge, resource, exampleInput } = endpoint.documented ?? {};
  if (input === undefined) return undefined;
  const { required, ...optional } = wireSchema(input, 'input');
  const wire: InlineSchema = { ...optional, ...defined({ required }) };
  for (const path of [...(endpoint.secretInput ?? []), ...(resource?.facts.secretFields ?? [])]) {
    // Input of older callers is served but not described.
    if (endpoint.documented?.input === undefined || resource !== undefined) markSecret(endpoint, wire, path, 'input');
    else annotateField(wire, path, { 'x-secret': true });
  }
  for (const field of resource?.facts.creationFields ?? []) annotateField(wire, field, { 'x-creation-only': true });
  for (const field of resource?.facts.oneWayFields ?? []) annotateField(wire, field, { 'x-one-way': true });
  if (exampleInput !== undefined) wire.examples = [exampleInput];
  return merge === true ? mergeSchema(wire, resource?.facts.notRemovableByMerge ?? []) : withMarkedDefaults(wire);
}

/** Schema of the body of an answer; for a list, of one entry. */
export function outputOf(endpoint: AnyEndpoint): InlineSchema | undefined {
  const { output = endpoint.output, resource, exampleOutput } = endpoint.documented ?? {};
  if (output === undefined) return undefined;
  const wire = wireSchema(output, 'output');
  for (const path of endpoint.secretOutput ?? []) {
    if (endpoint.documented?.output === undefined) markSecret(endpoint, wire, path, 'output');
    else annotateField(wire, path, { 'x-secret': true });
  }
  for (const path of resource?.facts.secretFields ?? []) removeField(wire, path);
  const stateFields = resource?.tree === 'state' ? Object.keys(resource.facts.stateFields.shape) : [];
  for (const field of stateFields) annotateField(wire, field, { readOnly: true });
  if (exampleOutput !== undefined) wire.examples = [exampleOutput];
  return wire;
}

/**
 * Schema of a document that policies may have shortened: its name is the only field that is certainly present. The answer of a
 * batch has no name itself.
 */
function shownOf({ nameField = '' }: AnyEndpoint, schema: InlineSchema): InlineSchema {
  return schema.properties?.[nameField] === undefined ? schema : { ...withoutKeywords(schema, 'required'), required: [nameField] };
}

function markSecret(endpoint: AnyEndpoint, wire: InlineSchema, path: string, direction: Direction): void {
  const known = annotateField(wire, path, { 'x-secret': true });
  if (!known) throw new Error(`${endpoint.method} ${endpoint.path} names the secret ${path}, which its ${direction} does not have`);
}
