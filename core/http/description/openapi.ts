// The API description (OpenAPI 3.1), built from the endpoints that also define routes, checks and audit records (api 15).
import { defined } from '../../base/defined.ts';
import { coreErrors, type ErrorTable } from '../../base/errors.ts';
import { commandOf, operationIdOf, type Command } from './command.ts';
import { fieldsOf, type Content, type JsonSchema, type OpenApiDocument, type Operation, type Response } from './document.ts';
import { entityTagHeader, nounsOf, parametersOf, type Nouns } from './parameters.ts';
import { problemSchema, refusalsOf } from './refusals.ts';
import { annotateField, exampleOf, removeField, wireSchema, type Direction } from './schema.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { mediaTypesOf } from '../request/input.ts';

export type { OpenApiDocument } from './document.ts';
export { codesOf } from './refusals.ts';

/**
 * Describes every endpoint: parameters, bodies in wire names, answers, the codes each can answer with, and as `x-command` how the
 * command line names it. Throws when an endpoint names an error, a secret or a field that does not exist.
 */
export function buildOpenApi(endpoints: readonly AnyEndpoint[], tables: readonly ErrorTable[]): OpenApiDocument {
  const builder = new DescriptionBuilder(endpoints, Object.assign({}, coreErrors, ...tables) as ErrorTable);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of endpoints) (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = builder.operation(endpoint);
  return {
    openapi: '3.1.0',
    info: {
      title: 'keystored',
      version: '1',
      summary: 'Key management, federated login and device enrolment, with every private key in a PKCS#11 token.',
      description:
        'Errors are RFC 9457 documents; their `code` is the contract, and `x-errors` lists every one. Fields marked `x-secret` never ' +
        'appear in logs. `x-operation` is the verb that policies speak of; `x-command` is how keystorectl spells an operation.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'the management listener that answered this description' }],
    security: [{ token: [] }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token that a login answered, or a root token.' } },
      schemas: { Problem: problemSchema, ...builder.schemas },
    },
    'x-errors': builder.errors,
  };
}

class DescriptionBuilder {
  readonly errors: ErrorTable;
  /** named schemas, those of resources */
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #paths: ReadonlySet<string>;
  readonly #nouns: Nouns;
  readonly #operationIds = new Set<string>();

  constructor(endpoints: readonly AnyEndpoint[], errors: ErrorTable) {
    this.errors = errors;
    this.#paths = new Set(endpoints.map(({ path }) => path));
    this.#nouns = nounsOf(endpoints);
  }

  operation(endpoint: AnyEndpoint): Operation {
    const command = commandOf(endpoint, this.#paths);
    const input = inputOf(endpoint);
    const output = outputOf(endpoint);
    if (command !== undefined) requireHints(endpoint, command, input, output);
    const operationId = operationIdOf(endpoint, command);
    if (this.#operationIds.has(operationId)) throw new Error(`${endpoint.method} ${endpoint.path} and another are both ${operationId}`);
    this.#operationIds.add(operationId);
    return {
      operationId,
      summary: endpoint.summary,
      ...defined({ description: endpoint.description }),
      tags: [endpoint.tag],
      ...(endpoint.access === 'public' ? { security: [] } : { 'x-operation': endpoint.operation }),
      ...defined({ 'x-command': command }),
      parameters: parametersOf(endpoint, this.#nouns),
      ...this.#requestBody(endpoint, input),
      responses: { ...this.#successes(endpoint, output), ...refusalsOf(endpoint, this.errors) },
    };
  }

  #requestBody(endpoint: AnyEndpoint, input: JsonSchema | undefined): Pick<Operation, 'requestBody'> {
    if (input === undefined && endpoint.consumes === undefined) return {};
    const { resource, merge } = endpoint.documented ?? {};
    const form = resource?.form === 'list' ? 'Creation' : merge === true ? 'Merge' : 'Replacement';
    const schema = resource === undefined || input === undefined ? input : this.#named(`${pascal(resource.facts.noun)}${form}`, input);
    const required = (input?.required ?? []).length > 0 || input?.anyOf !== undefined;
    return {
      requestBody: { required, content: Object.fromEntries(mediaTypesOf(endpoint).map((type) => [type, { schema: schema ?? {} }])) },
    };
  }

  #successes(endpoint: AnyEndpoint, output: JsonSchema | undefined): Record<string, Response> {
    const { resource } = endpoint.documented ?? {};
    const status = endpoint.successStatus ?? (output === undefined && endpoint.produces === undefined ? 204 : 200);
    if (output !== undefined && endpoint.query !== undefined && 'keys' in endpoint.query && resource === undefined)
      return listed(endpoint, output);
    if (resource === undefined || output === undefined) return { [status]: { description: 'Done', ...contentOf(endpoint, output) } };

    const warns = endpoint.method !== 'GET' && resource.facts.warnings !== undefined;
    const form = warns ? 'WithWarnings' : resource.tree === 'state' ? 'State' : '';
    const named = this.#named(`${pascal(resource.facts.noun)}${form}`, output);
    const created = { description: 'Created', headers: { ETag: entityTagHeader, Location: locationHeader }, ...contentOf(endpoint, named) };
    if (endpoint.method === 'POST') return { 201: created };
    const warned = { description: 'Done, with warnings', headers: { ETag: entityTagHeader }, ...contentOf(endpoint, named) };
    const changed = {
      ...(warns ? { 200: warned } : {}),
      204: { description: endpoint.method === 'PUT' ? 'Replaced' : 'Merged', headers: { ETag: entityTagHeader } },
    };
    if (endpoint.method === 'PUT') return { ...changed, 201: created };
    if (endpoint.method === 'PATCH') return changed;
    if (resource.form === 'entry')
      return { 200: { description: 'The entry', headers: { ETag: entityTagHeader }, ...contentOf(endpoint, named) } };
    return listed(endpoint, { type: 'array', items: named });
  }

  #named(name: string, schema: JsonSchema): JsonSchema {
    this.schemas[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

function listed(endpoint: AnyEndpoint, entries: JsonSchema): Record<string, Response> {
  const content = contentOf(endpoint, { anyOf: [entries, nameList, countAnswer] });
  return { 200: { description: 'The entries; with `keys` their names, with `count` their number', ...content } };
}

function contentOf({ produces }: AnyEndpoint, schema: JsonSchema | undefined): { content?: Content } {
  if (schema === undefined && produces === undefined) return {};
  return { content: { [produces ?? 'application/json']: { schema: schema ?? {} } } };
}

function inputOf(endpoint: AnyEndpoint): JsonSchema | undefined {
  const { input = endpoint.input, merge, resource } = endpoint.documented ?? {};
  if (input === undefined) return undefined;
  const { required, ...optional } = wireSchema(input, 'input');
  const wire = merge === true || required === undefined ? optional : { ...optional, required };
  for (const path of [...(endpoint.secretInput ?? []), ...(resource?.facts.secretFields ?? [])]) markSecret(endpoint, wire, path, 'input');
  for (const field of resource?.facts.creationFields ?? []) annotateField(wire, field, { 'x-creation-only': true });
  for (const field of resource?.facts.oneWayFields ?? []) annotateField(wire, field, { 'x-one-way': true });
  return wire.examples === undefined ? { ...wire, examples: [exampleOf(wire)] } : wire;
}

function outputOf(endpoint: AnyEndpoint): JsonSchema | undefined {
  const { output = endpoint.output, resource } = endpoint.documented ?? {};
  if (output === undefined) return undefined;
  const wire = wireSchema(output, 'output');
  for (const path of endpoint.secretOutput ?? []) markSecret(endpoint, wire, path, 'output');
  for (const path of resource?.facts.secretFields ?? []) removeField(wire, path);
  const stateFields = resource?.tree === 'state' ? Object.keys(resource.facts.stateFields.shape) : [];
  for (const field of stateFields) annotateField(wire, field, { readOnly: true });
  return wire;
}

function markSecret(endpoint: AnyEndpoint, wire: JsonSchema, path: string, direction: Direction): void {
  const known = annotateField(wire, path, { 'x-secret': true, ...(direction === 'input' ? { writeOnly: true } : {}) });
  if (!known) throw new Error(`${endpoint.method} ${endpoint.path} names the secret ${path}, which its ${direction} does not have`);
}

function requireHints(endpoint: AnyEndpoint, command: Command, input: JsonSchema = {}, output: JsonSchema = {}): void {
  const { positional = [], in: into, out, 'octets-with': octetsWith = {}, verdict } = command;
  const strange = [
    ...[...positional, into, ...Object.keys(octetsWith)].filter((name) => name !== undefined && !Object.hasOwn(fieldsOf(input), name)),
    ...[out?.split('.')[0], verdict].filter((name) => name !== undefined && !Object.hasOwn(fieldsOf(output), name)),
  ];
  if (strange.length > 0) throw new Error(`${endpoint.method} ${endpoint.path} hints at ${strange.join()}, which it does not have`);
}

function pascal(noun: string): string {
  return noun.replace(/(?:^|[\s-]+)(\S)/g, (_, letter: string) => letter.toUpperCase());
}

const locationHeader = { description: 'Path of the new entry.', schema: { type: 'string', format: 'uri-reference' } };
const nameList: JsonSchema = { type: 'array', items: { type: 'string' } };
const countAnswer: JsonSchema = {
  type: 'object',
  required: ['count'],
  properties: { count: { type: 'integer', minimum: 0, description: 'Number of entries.', examples: [3] } },
};
