// Check: the target of the path exists.
import type { ApiRequest } from '../context/api-request.ts';
import { authorizedCallOf } from './authorization.ts';

/** Throws 404 `not-found`, or another refusal of the endpoint's `find`, such as 412 `precondition-failed`. */
export function findTarget(context: ApiRequest): void {
  const { endpoint } = context.route;
  if (endpoint.access === 'token' && endpoint.find !== undefined) context.found = endpoint.find(authorizedCallOf(context));
}
