// The operations of an appliance as verb, resource and action, looked up in its description.
import type { Command } from '../../core/http/description/command.ts';
import {
  inlineSchema,
  successesOf,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  type Parameter,
} from '../../core/http/description/document.ts';
import { usageError } from './terminal/failure.ts';

export type CatalogEntry = {
  readonly method: string;
  readonly path: string;
  readonly command: Command;
  readonly operation: Operation;
  /** names in the path, in their order */
  readonly names: readonly string[];
  /** the body, if it is JSON */
  readonly input: JsonSchema | undefined;
  /** schema of a 2xx answer, if it is JSON; of a list, that of one entry */
  readonly output: JsonSchema | undefined;
};

export class Catalog {
  readonly entries: readonly CatalogEntry[];

  constructor(document: OpenApiDocument) {
    this.entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const command = operation['x-command'];
        return command === undefined ? [] : [new Entry(document, method, path, operation, command)];
      }),
    );
  }

  /** The resources a verb works on, sorted. */
  resources(verb: Command['verb']): string[] {
    return [
      ...new Set(this.entries.filter(({ command }) => command.verb === verb).flatMap(({ command }) => command.resource ?? [])),
    ].sort();
  }

  /** Every entry of a verb and resource. Throws a usage error that lists the resources there are. */
  require(verb: Command['verb'], resource: string | undefined): readonly CatalogEntry[] {
    const found = this.entries.filter(({ command }) => command.verb === verb && command.resource === resource);
    if (found.length > 0) return found;
    const known = this.resources(verb).join(', ');
    throw usageError(
      resource === undefined ? `${verb} what? One of: ${known}` : `"${resource}" is not something to ${verb}; there are: ${known}`,
    );
  }

  /** The wire name of the name of a resource's entries: the last one in the path of an entry. */
  nameFieldOf(resource: string): string | undefined {
    return this.entries.find(({ command }) => command.verb === 'replace' && command.resource === resource)?.names.at(-1);
  }
}

/** Bodies are read when a command needs them: writing out all of them takes longer than most commands. */
class Entry implements CatalogEntry {
  readonly method: string;
  readonly path: string;
  readonly command: Command;
  readonly operation: Operation;
  readonly names: readonly string[];
  readonly #document: OpenApiDocument;
  #input: JsonSchema | undefined;
  #output: JsonSchema | undefined;

  constructor(document: OpenApiDocument, method: string, path: string, operation: Operation, command: Command) {
    this.#document = document;
    this.method = method.toUpperCase();
    this.path = path;
    this.command = command;
    this.operation = command.verb === 'list' ? { ...operation, parameters: [...operation.parameters, ...ofLists] } : operation;
    this.names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
  }

  /** With the field of the batch, which the single action takes as well. */
  get input(): JsonSchema | undefined {
    const input = this.#bodyOf(this.operation);
    const batch = this.#document.paths[`${this.path}-batch`]?.['post'];
    if (input === undefined || batch === undefined) return (this.#input ??= input);
    return (this.#input ??= { ...input, properties: { ...input.properties, ...this.#bodyOf(batch)?.properties } });
  }

  get output(): JsonSchema | undefined {
    const [success] = successesOf(this.operation);
    const answer = success?.[1].content?.['application/json']?.schema;
    return (this.#output ??= answer === undefined ? undefined : inlineSchema(answer.items ?? answer, this.#document));
  }

  #bodyOf({ requestBody }: Operation): JsonSchema | undefined {
    const body = requestBody?.content['application/json']?.schema;
    return body === undefined ? undefined : inlineSchema(body, this.#document);
  }
}

/** Taken by every list and not described, because the answer is another one. */
const ofLists: readonly Parameter[] = [
  { name: 'keys', in: 'query', description: 'Answer with the names alone.', schema: { type: 'boolean' } },
  { name: 'count', in: 'query', description: 'Answer with the number of entries alone.', schema: { type: 'boolean' } },
];
