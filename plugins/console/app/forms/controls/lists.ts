// The lists that have what a field names: of the whole tenant, or beside the request of the form.
import type { JsonSchema } from '../../../../../core/http/description/document.ts';
import { fillPath, parentOf } from '../../address/path.ts';
import type { May } from '../../api/may.ts';
import type { FormPlace } from './control.ts';

export type Names = NonNullable<JsonSchema['x-names']>;

/** A list, and whether the appliance searches it. */
export type NamedList = {
  readonly path: string;
  readonly isSearched: boolean;
  /** field of its entries that tells people more than the name */
  readonly more: string | undefined;
};

/** The list of the entries that a field, or each element of it, names; undefined: none is known, or the name is that of a new entry. */
export function listOf({ document, template, names }: FormPlace, { 'x-names': named }: JsonSchema): NamedList | undefined {
  if (named === undefined || named.needs.some(({ operation }) => operation === 'create')) return undefined;
  const above = parentOf(template);
  const found = [
    `/v1/config/${named.resource}`,
    `/v1/state/${named.resource}`,
    `${above}/${named.resource}`,
    `${parentOf(above)}/${named.resource}`,
  ].find((path) => Object.hasOwn(document.paths, path) && document.paths[path]?.get?.['x-command']?.verb === 'list');
  const operation = found === undefined ? undefined : document.paths[found]?.get;
  if (found === undefined || operation === undefined) return undefined;
  return {
    path: fillPath(found, names),
    isSearched: operation.parameters.some(({ name }) => name === 'contains'),
    more: found === tokens ? 'user' : undefined,
  };
}

/** Their names are accessors, which say nothing to people. */
const tokens = '/v1/state/keystore/tokens';

/** The names to offer; what is not known yet is offered, because the appliance decides anyway. */
export function offered(names: readonly string[], { needs }: Names, ask: (operation: string, path: string) => May): readonly string[] {
  const isRefused = (said: May): boolean => typeof said === 'object';
  return names.filter((name) =>
    needs.every(({ operation, path }) => !isRefused(ask(operation, path.replace('{}', encodeURIComponent(name))))),
  );
}
