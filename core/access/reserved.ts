// What only the tenant that runs the appliance may do: decided after the policies, for requests and for `policy/check` alike.
import type { Caller, Reserved } from '../http/endpoint.ts';
import { systemTenantName } from './tenants.ts';

/** The code such a caller is refused with, whatever the policies say; undefined for callers the endpoint is for. */
export function reservedRefusal(reserved: Reserved | undefined, caller: Caller): 'not-found' | 'policy-denied' | undefined {
  if (reserved === undefined) return undefined;
  if (caller.tenantName !== systemTenantName) return 'not-found';
  return reserved === 'system-root' && !caller.policies.includes('root') ? 'policy-denied' : undefined;
}

/** Why callers without the policy `root` are refused. */
export const needsSystemRoot = 'This needs the policy "root" in the tenant "system".';
