// Filters of a resource's lists: query parameters that select entries by fields that the caller may see.
import { failAt } from '../../base/texts/invalid.ts';
import type { EndpointCall } from '../endpoint.ts';
import type { Listed, ListFilter, ListFilters } from './resource.ts';
import type { ResourceView } from './view.ts';

/** Tells which fields (wire form) of an entry the caller can see. */
export type Sight = (name: string) => (field: string) => boolean;

/**
 * Returns the visible fields of entries for a caller of a list: those of the list that the rules for the entries' own paths do not hide. A
 * field of the other tree only is judged there, whichever list is requested.
 */
export function sightOf(view: ResourceView, { access }: EndpointCall, tree: 'config' | 'state', parents: readonly string[]): Sight {
  const other = tree === 'config' ? 'state' : 'config';
  const ownShape = view.answers[tree];
  const isOwn = (field: string): boolean => ownShape.kind === 'object' && ownShape.byWire.has(field.split('/')[0] ?? '');
  const otherList = access.shownAt(view.pathOf(other, parents));
  return (name) => {
    const own = access.listedShows(view.pathOf(tree, [...parents, name]));
    const elsewhere = view.pathOf(other, [...parents, name]);
    return (field) => {
      if (isOwn(field)) return access.shows(field) && own(field);
      return access.shownAt(elsewhere)(field) || (otherList(field) && access.listedShows(elsewhere)(field));
    };
  };
}

/** Selects entries of a list: by their names first, then by their records. An absent one selects all. */
export type Picker<Rec> = {
  readonly byName?: (name: string) => boolean;
  readonly byRecord?: (entry: Listed<Rec>) => boolean;
};

/** Reads the filters of the query, of which an entry must fit every one. Throws `invalid-value`. */
export function readFilters<Rec>(filters: ListFilters<Rec>, call: EndpointCall, sight: Sight): Picker<Rec> {
  const ofNames: ((name: string) => boolean)[] = [];
  const ofRecords: ((entry: Listed<Rec>, sees: (field: string) => boolean) => boolean)[] = [];
  for (const [parameter, filter] of Object.entries(filters)) {
    const value = call.query.get(parameter);
    if (value === undefined) continue;
    requireValue(parameter, filter, value);
    if ('fitsName' in filter) ofNames.push((name) => filter.fitsName(name, value));
    else ofRecords.push((entry, sees) => filter.tellsAbout.every(sees) && filter.fits(entry, value, call));
  }
  return {
    ...(ofNames.length > 0 && { byName: (name) => ofNames.every((fits) => fits(name)) }),
    ...(ofRecords.length > 0 && {
      byRecord: (entry) => {
        const sees = sight(entry.name);
        return ofRecords.every((fits) => fits(entry, sees));
      },
    }),
  };
}

function requireValue<Rec>(name: string, { schema }: ListFilter<Rec>, value: string): void {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (values === undefined || values.includes(value)) return;
  throw failAt(name, `The query parameter ${name} must be ${values.length < 3 ? values.join(' or ') : `one of ${values.join(', ')}`}.`);
}
