// Tells the documents that programs make from those that they only read.
import type { Group } from '../model.ts';
import type { NamedType, TypeReference } from '../types.ts';

/** The names of the types of bodies, and of all that is in them. */
export function sentTypes(groups: readonly Group[], types: readonly NamedType[]): ReadonlySet<string> {
  const byName = new Map(types.map((type) => [type.name, type]));
  const found = new Set<string>();
  const visit = (reference: TypeReference): void => {
    if ('of' in reference) visit(reference.of);
    if (reference.kind !== 'named' || found.has(reference.name)) return;
    found.add(reference.name);
    const type = byName.get(reference.name);
    if (type?.kind === 'object') for (const field of type.fields) visit(field.type);
    if (type?.kind === 'union') for (const one of type.of) visit(one);
  };
  for (const { body } of groups.flatMap(({ operations }) => operations)) if (body?.kind === 'json') visit(body.type);
  return found;
}
