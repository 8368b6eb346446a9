// What the path names exists.
import type { ApiRequest } from '../context/api-request.ts';
import { authorizedCallOf } from './authorization.ts';

/** 404 `not-found`, or what else the `find` of the endpoint refuses, such as 412 `precondition-failed`. */
export function findTarget(context: ApiRequest): void {
  const { endpoint } = context.route;
  if (endpoint.access === 'token' && endpoint.find !== undefined) context.found = endpoint.find(authorizedCallOf(context));
}
