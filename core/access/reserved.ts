// Endpoints of the system tenant alone: decided after the policies, for requests and for `policy/check` alike.
import type { Caller } from './caller.ts';
import { systemTenantName } from './tenants.ts';

/**
 * Callers who may use an endpoint, besides the policies: the tenant `system` (others get `not-found`), or only its callers with the
 * policy `root`.
 */
export type Reserved = 'system-tenant' | 'system-root';

/** Code with which an endpoint refuses a caller; undefined if the caller may use it. */
export function reservedRefusal(reserved: Reserved | undefined, caller: Caller): 'not-found' | 'policy-denied' | undefined {
  if (reserved === undefined) return undefined;
  if (caller.tenantName !== systemTenantName) return 'not-found';
  return reserved === 'system-root' && !caller.policies.includes('root') ? 'policy-denied' : undefined;
}

/** The detail of `policy-denied` for callers without the policy `root`. */
export const needsSystemRoot = 'This needs the policy "root" in the tenant "system".';
