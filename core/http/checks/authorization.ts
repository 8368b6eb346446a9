// Check: the caller is authenticated and allowed.
import { fail } from '../../base/errors.ts';
import { callerOfRequest } from '../authentication.ts';
import { judgedSegments } from '../judged-path.ts';
import type { AllowedCall, ApiRequest } from '../context/api-request.ts';
import { AuthorizedCall } from '../context/call.ts';
import { readInput } from '../request/input.ts';

/**
 * Throws 401 `invalid-token`, 403 `policy-denied` and, for system resources that other tenants do not have, 404 `not-found`. Public
 * endpoints need no token. The caller is kept before the decision, so that the audit record of a 403 names it.
 */
export function requireAuthorization(context: ApiRequest): void {
  const { endpoint } = context.route;
  if (endpoint.access === 'public') return;
  const { access } = context.server;
  context.caller = callerOfRequest(context.server, context.exchange, context.now);
  if (context.caller === undefined) throw fail('invalid-token');
  context.exchange.admit?.(context.caller);
  const authorized = access.authorize(
    context.caller,
    judgedSegments(endpoint, context.path.segments),
    endpoint.operation,
    endpoint.reservedFor,
  );
  context.call = new AuthorizedCall(context, authorized);
  context.exchange.noteAccess?.({
    requireAt: (path, operation) => authorized.requireAt(path.slice(1).split('/'), operation),
    requireInput: (document) => {
      const { route } = context;
      const input = readInput(endpoint, Buffer.from(JSON.stringify(document)));
      authorized.requireAllowedValues(route.constrainedInput(input), route.constrainedShape);
    },
  });
}

/** The call of an endpoint for callers with a token, once this check has passed. */
export function authorizedCallOf({ call }: ApiRequest): AllowedCall {
  if (call === undefined) throw new Error('an endpoint for callers with a token was about to run without a decision');
  return call;
}
