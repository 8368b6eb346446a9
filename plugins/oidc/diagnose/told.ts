// Facts about a service and its roles in the diagnoses of the service, which policies may hide from their caller.
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';

/** Fields (wire form) that an answer tells about, or makes it possible to work out. */
export type Told = { readonly ofService: readonly string[]; readonly ofRoles?: readonly string[] };

/** Throws policy-denied if policies hide one of the fields from the caller, or refuse the entry that has it, and show it nowhere. */
export function requireTold({ access }: EndpointCall, told: Told, service: string, roles: readonly string[]): void {
  const below = ['keystore', 'authentication', 'oidc', service];
  const entries = [
    { path: below, fields: told.ofService, is: 'the service' },
    ...roles.map((role) => ({ path: [...below, 'roles', role], fields: told.ofRoles ?? [], is: 'a role' })),
  ];
  for (const { path, fields, is } of entries) {
    const places = ['config', 'state'].map((tree) => ['v1', tree, ...path]);
    const [shown, unrefused] = [places.map((place) => access.shownAt(place)), places.map((place) => access.listedShows(place))];
    const hidden = fields.find((field) => !shown.some((shows) => shows(field)) && !unrefused.every((shows) => shows(field)));
    if (hidden !== undefined) throw fail('policy-denied', { detail: `The answer would tell "${hidden}" of ${is}, which policies hide.` });
  }
}
