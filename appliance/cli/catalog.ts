// The operations of an appliance as verb, resource and action, looked up in its description.
import type { Command } from '../../core/http/description/command.ts';
import { resolveSchema, type JsonSchema, type OpenApiDocument, type Operation } from '../../core/http/description/document.ts';
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
  /** what a 2xx answers, if it is JSON; of a list, one entry */
  readonly output: JsonSchema | undefined;
};

export class Catalog {
  readonly entries: readonly CatalogEntry[];

  constructor(document: OpenApiDocument) {
    this.entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const command = operation['x-command'];
        return command === undefined ? [] : [entryOf(document, method, path, operation, command)];
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

function entryOf(document: OpenApiDocument, method: string, path: string, operation: Operation, command: Command): CatalogEntry {
  const body = operation.requestBody?.content['application/json']?.schema;
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
  const answer = success?.content?.['application/json']?.schema;
  return {
    method: method.toUpperCase(),
    path,
    command,
    operation,
    names: [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? ''),
    input: body === undefined ? undefined : resolveSchema(body, document),
    output: answer === undefined ? undefined : resolveSchema(answer.anyOf?.[0]?.items ?? answer.items ?? answer, document),
  };
}
