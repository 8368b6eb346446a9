// Bodies of requests from the examples of the API description, and paths with names of things that exist.
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { fieldsOf } from '../../core/http/description/document.ts';
import { exampleOf, wireSchema } from '../../core/http/description/schema.ts';
import { examples } from './matrix-examples.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The path, with the names of the examples as far as there are some. */
export function existingPath({ path }: AnyEndpoint): string {
  const template = path.replace('/v1/state/', '/v1/config/');
  const example = examples.find(({ list }) => template.startsWith(`${list}/{`));
  return path.replace(/\{[^}]+\}/, example?.name ?? 'matrix-none').replaceAll(/\{[^}]+\}/g, 'matrix-none');
}

/** The fields without which no request is read, and an example of each field. */
export function exampleFields(endpoint: AnyEndpoint): { readonly least: Fields; readonly each: Fields } {
  const input = endpoint.documented?.input ?? endpoint.input;
  if (input === undefined) return { least: {}, each: {} };
  const schema = wireSchema(input, 'input');
  const least = { ...(exampleOf(schema) as Fields), ...endpoint.documented?.exampleInput };
  const all = Object.entries(fieldsOf(schema)).map(([field, one]) => [field, least[field] ?? exampleOf(one)] as const);
  return { least, each: Object.fromEntries(all.filter(([, value]) => value !== undefined)) };
}
