// Needs of a request besides the right to it, by its fields: other rights, or a policy of the token.
import type { AnyEndpoint, FieldRight } from '../../http/endpoint.ts';
import type { Effect } from '../../access/access-control.ts';
import type { PolicyOperation } from '../../access/policy/patterns.ts';
import { namedFieldsIn, operationsOf } from './reach.ts';

/** A need; `{}` stands for the name in the field. */
export type Need = {
  readonly field: string;
  readonly operation: PolicyOperation;
  readonly path: string;
  /** policy that the token must have for that */
  readonly policy?: 'root' | '{}';
  readonly when?: string;
};

type Asked = { readonly endpoints: readonly AnyEndpoint[]; readonly segments: readonly string[]; readonly operation: PolicyOperation };

/** The needs of the requests to a path, each once. */
export function needsOf(asked: Asked): readonly Need[] {
  const { endpoints, operation, segments } = asked;
  const here = `/${segments.map(encodeURIComponent).join('/')}`;
  const named = endpoints
    .filter((endpoint) => operationsOf(endpoint).includes(operation))
    .flatMap(namedFieldsIn)
    .flatMap(({ wire: field, entry }): Need[] => [
      ...entry.needs.map(({ operation: needed, path }) => ({ field, operation: needed, path })),
      ...(entry.isGiven === true ? [{ field, operation, path: here, policy: '{}' as const }] : []),
    ]);
  const rights = endpoints.flatMap((endpoint) =>
    rightsOf(endpoint, operation).map(({ field, when, ...right }): Need => {
      const need = 'path' in right ? { ...right, path: filled(right.path, endpoint, segments) } : { ...right, operation, path: here };
      return { field, ...need, ...(when === undefined ? {} : { when }) };
    }),
  );
  return [...new Map([...named, ...rights].map((need) => [JSON.stringify(need), need])).values()];
}

/** Fields whose names a question may state: those that name an entry, whatever else holds, and that of a new entry. */
export function statableFields(asked: Asked): readonly string[] {
  const named = needsOf(asked).filter(({ path, policy, when }) => when === undefined && (policy === '{}' || path.includes('{}')));
  const made = newNameField(asked);
  return [...new Set([...named.map(({ field }) => field), ...(made === undefined ? [] : [made])])];
}

/** The field that names the entry which a request to a list would make; undefined for other requests. */
export function newNameField({ endpoints, operation }: Asked): string | undefined {
  return operation === 'create' ? endpoints.find(isCreation)?.nameField : undefined;
}

function isCreation({ method, documented }: AnyEndpoint): boolean {
  return method === 'POST' && documented?.resource?.form === 'list';
}

/** Effect by which a right at the entry that a field names is judged. */
export function effectAt({ endpoints, operation }: Asked, field: string, path: string): Effect | undefined {
  const all = endpoints.filter((endpoint) => operationsOf(endpoint).includes(operation)).flatMap(namedFieldsIn);
  return all
    .filter(({ wire }) => wire === field)
    .flatMap(({ entry }) => entry.needs)
    .find((need) => need.path === path)
    ?.effect?.();
}

function rightsOf(endpoint: AnyEndpoint, operation: PolicyOperation): readonly FieldRight[] {
  if (endpoint.access === 'public') return [];
  if (endpoint.operation === operation) return endpoint.fieldRights ?? [];
  return operationsOf(endpoint).includes(operation) ? (endpoint.creationRights ?? []) : [];
}

/** The path with the names that the request has in its own. */
function filled(path: string, endpoint: AnyEndpoint, segments: readonly string[]): string {
  const parts = endpoint.path.slice(1).split('/');
  const names = new Map(parts.map((part, index) => [part, encodeURIComponent(segments[index] ?? '')]));
  return path.replaceAll(/\{[^}]+\}/g, (part) => names.get(part) ?? part);
}
