// The `sessions` service: what logins brought by plugins need of tenants, policies and tokens.
import type { Hsm } from '../../hsm/api.ts';
import type { Clock } from '../context.ts';
import { requireHeld } from '../policy/granting.ts';
import { openPolicies } from '../policy/policies.ts';
import type { Sessions } from '../services/sessions.ts';
import type { Store } from '../store/store.ts';
import { openTenants } from '../tenants.ts';
import { createAccessControl } from './access.ts';
import { disableToken, drawToken, issueToken } from './tokens.ts';

/** The service over the platform's own (unprefixed) store. */
export function createSessions({ store, hsm, clock }: { readonly store: Store; readonly hsm: Hsm; readonly clock: Clock }): Sessions {
  const tenants = openTenants(store);
  const policies = openPolicies(store);
  const access = createAccessControl(store, tenants, policies);
  return {
    findTenant(name) {
      const tenant = tenants.findByName(name);
      return tenant === undefined ? undefined : { id: tenant.uuid, name: tenant.name };
    },
    hasPolicy: (tenantId, policy) => policies.find(tenantId, policy) !== undefined,
    requireHeld,
    drawToken: () => drawToken(hsm),
    issue(transaction, token, grant) {
      const { accessor, creationTime, expires = creationTime } = issueToken(transaction, store, clock, token, grant);
      return { token, accessor, creationTime, expires };
    },
    find: (token) => access.callerOf(token, clock.now()),
    disable: (transaction, tenantId, accessor) => disableToken(transaction, store, tenantId, accessor),
  };
}
