// Filters of a resource's lists: query parameters that pick entries by what the caller may see of them.
import { fail } from '../../base/errors.ts';
import type { EndpointCall } from '../endpoint.ts';

/** A query parameter that picks entries of a list. */
type ListFilter<Rec> = {
  readonly description: string;
  /** of the parameter, for the API description; a value that is not in its `enum` is refused */
  readonly schema: { readonly type: 'string' | 'boolean'; readonly enum?: readonly string[]; readonly examples: readonly unknown[] };
  /** the fields (wire form) that it tells about: where policies hide one of them from the caller, nothing fits. None: the name alone */
  readonly tellsAbout: readonly string[];
  /** Whether an entry fits a value of the parameter; a boolean comes as `true` or `false`. */
  fits(entry: Listed<Rec>, value: string, call: EndpointCall): boolean;
};

export type Listed<Rec> = { readonly name: string; readonly record: Rec };

/** By the names of the parameters, in the order in which clients take them. */
export type ListFilters<Rec> = Readonly<Record<string, ListFilter<Rec>>>;

/** Whether an entry fits every filter of the query; undefined where the query has none. Throws `invalid-value`. */
export function readFilters<Rec>(filters: ListFilters<Rec>, call: EndpointCall): ((entry: Listed<Rec>) => boolean) | undefined {
  const asked = Object.entries(filters).flatMap(([name, filter]) => {
    const value = call.query.get(name);
    if (value === undefined) return [];
    requireValue(name, filter, value);
    return [{ filter, value, isShown: filter.tellsAbout.every((field) => call.access.shows(field)) }];
  });
  if (asked.length === 0) return undefined;
  return (entry) => asked.every(({ filter, value, isShown }) => isShown && filter.fits(entry, value, call));
}

function requireValue<Rec>(name: string, { schema }: ListFilter<Rec>, value: string): void {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (values === undefined || values.includes(value)) return;
  const message = `The query parameter ${name} must be ${values.length < 3 ? values.join(' or ') : `one of ${values.join(', ')}`}.`;
  throw fail('invalid-value', { detail: message, items: [{ message, info: name }] });
}
