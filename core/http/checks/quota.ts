// The tenant of the caller has something left of its quotas.
import type { ApiRequest } from '../context/api-request.ts';

/**
 * 429 `quota-exceeded`. Counts the request, or its refusal, once, also where it is asked for before the body and after it: what refused it before
 * is kept (requireBodyKept). Requests of callers without a token, and those that policies refuse, are not the tenant's.
 */
export function requireQuota(context: ApiRequest): void {
  if (context.caller === undefined || context.isCounted) return;
  context.isCounted = true;
  context.server.admit?.(context.caller.tenantId);
}
