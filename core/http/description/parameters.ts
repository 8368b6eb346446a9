// The parameters of a request: names in the path, the query, and entity tags.
import { namePattern } from '../../wire/fields.ts';
import type { AnyEndpoint, QueryParameter } from '../endpoint.ts';
import type { Header, Parameter } from './document.ts';
import { isPortable } from './schema.ts';

/** Nouns and patterns of the names in paths, by the path of the entry below its tree. */
export type Nouns = ReadonlyMap<string, { readonly noun: string; readonly pattern: RegExp }>;

/** Collects the nouns from the resources. */
export function nounsOf(endpoints: readonly AnyEndpoint[]): Nouns {
  return new Map(
    endpoints.flatMap(({ path, documented }) => {
      const { form, facts } = documented?.resource ?? {};
      if (form !== 'entry' || facts === undefined) return [];
      return [[withoutTree(path), { noun: facts.noun, pattern: facts.namePattern ?? namePattern }]];
    }),
  );
}

/** The parameters of an endpoint. */
export function parametersOf(endpoint: AnyEndpoint, nouns: Nouns): Parameter[] {
  return [...pathParameters(endpoint, nouns), ...queryParameters(endpoint), ...preconditions(endpoint), ...headerParameters(endpoint)];
}

function pathParameters({ path, documented }: AnyEndpoint, nouns: Nouns): Parameter[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => {
    const name = match[1] ?? '';
    const { noun, pattern } = nouns.get(withoutTree(path.slice(0, match.index + match[0].length))) ?? {};
    const own = documented?.names?.[name];
    const description = own?.description ?? `Name of the ${noun ?? name}.`;
    const example = own?.example ?? `my-${(noun ?? name).toLowerCase().replaceAll(' ', '-')}`;
    const schema = {
      type: 'string',
      minLength: 1,
      ...(pattern !== undefined && isPortable(pattern.source) ? { pattern: pattern.source } : {}),
      examples: [example],
    };
    return { name, in: 'path', required: true, description, schema };
  });
}

function queryParameters({ query = {} }: AnyEndpoint): Parameter[] {
  return Object.entries<QueryParameter>(query).flatMap(([name, parameter]): Parameter[] => {
    if (typeof parameter === 'string') return [{ name, in: 'query', description: parameter, schema: { type: 'string', examples: [name] } }];
    const { description, schema, undescribed } = parameter;
    return undescribed === true ? [] : [{ name, in: 'query', description, schema }];
  });
}

function preconditions({ method, documented }: AnyEndpoint): Parameter[] {
  if (documented?.resource?.form !== 'entry' || method === 'GET') return [];
  return method === 'PUT' ? [ifMatch, ifNoneMatch] : [ifMatch];
}

function headerParameters({ documented }: AnyEndpoint): Parameter[] {
  return Object.entries(documented?.requestHeaders ?? {}).map(([name, header]) => ({ name, in: 'header', ...header }));
}

function withoutTree(path: string): string {
  return path.replace(/^\/v1\/(?:config|state)\//, '');
}

const entityTag = { type: 'string', examples: ['"q1W8mZ0bq1c"'] };
const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'Change only what still has this entity tag.',
  schema: entityTag,
};
const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: '`*`: create only.',
  schema: { type: 'string', examples: ['*'] },
};

/** The ETag header of answers about one entry. */
export const entityTagHeader: Header = { description: 'Entity tag of the entry, for If-Match.', schema: entityTag };
