// Check: the tenant of the caller has not used up its quotas.
import type { ApiRequest } from '../context/api-request.ts';

/**
 * Throws 429 `quota-exceeded`. Counts the request, or its refusal, once, even if called both before the body and after it: the earlier refusal
 * is kept (requireBodyKept). Requests of callers without a token, and those that policies refuse, are not the tenant's.
 */
export function requireQuota(context: ApiRequest): void {
  if (context.caller === undefined || context.isCounted) return;
  context.isCounted = true;
  context.server.admit?.(context.caller.tenantId);
}
