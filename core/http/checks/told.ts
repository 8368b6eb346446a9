// Facts about entries in the answers of actions, which policies may hide from their caller.
import { fail } from '../../base/errors.ts';
import type { EndpointCall } from '../endpoint.ts';

/**
 * An entry that an answer tells about, or makes it possible to work out. `path`: segments below the tree; `fields`: wire form; `is`: for the message,
 * such as "the service".
 */
export type ToldEntry = { readonly path: readonly string[]; readonly fields: readonly string[]; readonly is: string };

/** Throws policy-denied if policies hide one of the fields from the caller, or refuse the entry that has it, and show it nowhere. */
export function requireTold(call: EndpointCall, entries: readonly ToldEntry[]): void {
  const found = hiddenOf(call, entries);
  if (found !== undefined)
    throw fail('policy-denied', { detail: `The answer would tell "${found.hidden}" of ${found.is}, which policies hide.` });
}

/**
 * Requires that policies show a field (wire form) in every entry that a list (segments below the tree) could have: a dry run, which does no harm, would tell it of
 * others. Throws policy-denied.
 */
export function requireToldOfAll({ access }: EndpointCall, list: readonly string[], field: string): void {
  if (['config', 'state'].some((tree) => access.showsInAll(['v1', tree, ...list], field))) return;
  throw fail('policy-denied', {
    detail: `A dry run would tell "${field}" of other entries: it needs the right to read that of all of /v1/state/${list.join('/')}.`,
  });
}

/** Tells whether the caller may know all of these fields. */
export function mayBeTold(call: EndpointCall, entries: readonly ToldEntry[]): boolean {
  return hiddenOf(call, entries) === undefined;
}

function hiddenOf({ access }: EndpointCall, entries: readonly ToldEntry[]): { readonly hidden: string; readonly is: string } | undefined {
  for (const { path, fields, is } of entries) {
    const places = ['config', 'state'].map((tree) => ['v1', tree, ...path]);
    const [shown, unrefused] = [places.map((place) => access.shownAt(place)), places.map((place) => access.listedShows(place))];
    const hidden = fields.find((field) => !shown.some((shows) => shows(field)) && !unrefused.every((shows) => shows(field)));
    if (hidden !== undefined) return { hidden, is };
  }
  return undefined;
}
