// Query of a list, from the description of its query parameters.
import type { Operation } from '../../../../core/http/description/document.ts';
import { titleOf } from '../description/catalog.ts';
import { textOf } from '../description/schema.ts';

export type FilterField = {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** the values there are; absent for a text */
  readonly values?: readonly string[];
};

/** Parameters that decide how the answer looks, and not which entries are in it. */
const ofAnswers = new Set(['fields', 'limit', 'keys', 'count']);

const labels: Readonly<Record<string, string>> = {
  contains: 'Name contains',
  selector: 'With labels',
  attention: 'Needs a person',
  after: 'Begin behind the name',
};

/** Order of the parameters, others between the first and the second. */
const order = ['contains', '', 'selector', 'attention', 'after'];

/** The filters of a list. */
export function filtersOf({ parameters }: Operation): readonly FilterField[] {
  const rank = ({ name }: FilterField): number => (order.includes(name) ? order.indexOf(name) : 1);
  return parameters
    .filter((one) => one.in === 'query' && !ofAnswers.has(one.name))
    .map(({ name, schema }): FilterField => {
      const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(textOf);
      return { name, label: labels[name] ?? titleOf(name), hint: textOf(schema.examples?.[0] ?? ''), ...(values && { values }) };
    })
    .toSorted((left, right) => rank(left) - rank(right));
}

/** Reads the query of the list from the address, as far as the list takes it. */
export function filterQuery(operation: Operation, query: URLSearchParams): Readonly<Record<string, string>> {
  const names = new Set(filtersOf(operation).map(({ name }) => name));
  return Object.fromEntries([...query].filter(([name, value]) => names.has(name) && value !== ''));
}
