// Judges by the settings of an entry, which the description names, if there is a use for an operation.
import type { Entry } from '../description/catalog.ts';
import { valueAt } from '../forms/draft.ts';

/**
 * Tells whether there is a use for an operation: one of the settings that it names is true in a document of its entry. What is not known, as
 * policies hide it or nothing was read yet, is taken for switched on.
 */
export function isUseful({ operation: { 'x-useful-with': settings } }: Entry, documents: readonly unknown[]): boolean {
  if (settings === undefined) return true;
  const values = settings.map((setting) => documents.map((one) => valueAt(one, setting)).find((value) => value !== undefined));
  return values.some((value) => value !== false);
}
