// Facts about a service and its roles in the diagnoses of the service, which policies may hide from their caller.
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { requireTold as requireEntriesTold } from '../../../core/http/checks/told.ts';

/** Fields (wire form) that an answer tells about, or makes it possible to work out. */
export type Told = { readonly ofService: readonly string[]; readonly ofRoles?: readonly string[] };

/** Throws policy-denied if policies hide one of the fields from the caller, or refuse the entry that has it, and show it nowhere. */
export function requireTold(call: EndpointCall, told: Told, service: string, roles: readonly string[]): void {
  const below = ['keystore', 'authentication', 'oidc', service];
  requireEntriesTold(call, [
    { path: below, fields: told.ofService, is: 'the service' },
    ...roles.map((role) => ({ path: [...below, 'roles', role], fields: told.ofRoles ?? [], is: 'a role' })),
  ]);
}
