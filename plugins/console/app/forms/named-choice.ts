// Entries offered by a field that names one.
import type { JsonSchema } from '../../../../core/http/description/document.ts';
import type { May } from '../api/may.ts';

export type Names = NonNullable<JsonSchema['x-names']>;

/** Tells whether a field names an entry that is there already, and that not everybody may use. */
export function isChosen({ 'x-names': names }: JsonSchema): boolean {
  return names !== undefined && names.needs.length > 0 && names.needs.every(({ operation }) => operation !== 'create');
}

/** The names to offer; what is not known yet is offered, because the appliance decides anyway. */
export function offered(names: readonly string[], { needs }: Names, ask: (operation: string, path: string) => May): readonly string[] {
  const isRefused = (said: May): boolean => typeof said === 'object';
  return names.filter((name) =>
    needs.every(({ operation, path }) => !isRefused(ask(operation, path.replace('{}', encodeURIComponent(name))))),
  );
}
