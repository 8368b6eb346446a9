// Facts about a service and its roles in the diagnoses of the service, which policies may hide from their caller.
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { mayBeTold, requireTold as requireEntriesTold, type ToldEntry } from '../../../core/http/checks/told.ts';

/** Fields (wire form) that an answer tells about, or makes it possible to work out. */
export type Told = { readonly ofService: readonly string[]; readonly ofRoles?: readonly string[] };

/** Tells whether the caller may know which roles there are, and all of these fields of them. */
export function seesRoles(call: EndpointCall, fields: readonly string[], service: string, roles: readonly string[]): boolean {
  const list = ['keystore', 'authentication', 'oidc', service, 'roles'];
  const mayList = (['config', 'state'] as const).some((tree) => call.access.allowsAt(['v1', tree, ...list], 'read'));
  return mayList && mayBeTold(call, entriesOf({ ofService: [], ofRoles: fields }, service, roles));
}

/** Throws policy-denied if policies hide one of the fields from the caller, or refuse the entry that has it, and show it nowhere. */
export function requireTold(call: EndpointCall, told: Told, service: string, roles: readonly string[]): void {
  requireEntriesTold(call, entriesOf(told, service, roles));
}

function entriesOf(told: Told, service: string, roles: readonly string[]): readonly ToldEntry[] {
  const below = ['keystore', 'authentication', 'oidc', service];
  return [
    { path: below, fields: told.ofService, is: 'the service' },
    ...roles.map((role) => ({ path: [...below, 'roles', role], fields: told.ofRoles ?? [], is: 'a role' })),
  ];
}
