// Which requests there are, as policies see them: the paths and operations that the service asks the policies about.
import type { AnyEndpoint, Operation } from '../http/endpoint.ts';

/** Asked besides the path of the request itself: actions on the token of somebody else. */
const besides = ['v1', 'state', 'keystore', 'tokens'];

/** Whether policies are asked about a path that no request has. */
export function isAskedBesides(segments: readonly string[]): boolean {
  return segments.length === besides.length + 1 && besides.every((segment, index) => segment === segments[index]);
}

/** What a request to an endpoint needs: its operation, and `create` as well for a PUT that makes the entry. Public ones need nothing. */
export function operationsOf(endpoint: AnyEndpoint): readonly Operation[] {
  if (endpoint.access === 'public') return [];
  return endpoint.method === 'PUT' ? [endpoint.operation, 'create'] : [endpoint.operation];
}
