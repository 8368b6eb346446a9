// The `sessions` service: tenants, policies and tokens for the logins of plugins.
import type { Hsm } from '../../../hsm/api.ts';
import { requireOtherApprovers } from '../../approvals/ending.ts';
import type { Clock } from '../../base/context.ts';
import { requireHeld, requireNarrowed, widens } from '../../access/policy/granting.ts';
import { openPolicies } from '../../access/policy/policies.ts';
import type { Attempts, Sessions } from '../../plugin/services/sessions.ts';
import type { Store } from '../../store/store.ts';
import { openTenants } from '../../access/tenants.ts';
import { subscriberOf } from '../../base/addresses.ts';
import { createAccessControl } from '../../access/access-control.ts';
import { limitByAddress, tooManyFailures } from '../../access/approles/attempt-limit.ts';
import { endGrant, openGrant } from '../../access/tokens/grants.ts';
import { drawToken, issueToken, removeToken } from '../../access/tokens/tokens.ts';
import { openBrowserSignIn } from './browser-sign-in.ts';

/** The service over the platform's own (unprefixed) store. */
export function createSessions({ store, hsm, clock }: { readonly store: Store; readonly hsm: Hsm; readonly clock: Clock }): Sessions {
  const tenants = openTenants(store);
  const policies = openPolicies(store);
  const access = createAccessControl(store, tenants, policies);
  const attempts = attemptsOf(store);
  return {
    attempts,
    browsers: openBrowserSignIn({ store, hsm, clock, tenants, access, attempts }),
    findTenant(name) {
      const tenant = tenants.findByName(name);
      return tenant === undefined ? undefined : { id: tenant.uuid, name: tenant.name };
    },
    hasPolicy: (tenantId, policy) => policies.find(tenantId, policy) !== undefined,
    requireHeld: (...given) => {
      requireHeld(policies, ...given);
    },
    requireNarrowed: (...given) => {
      requireNarrowed(policies, ...given);
    },
    allowsMore: (tenantId, names, than) => widens(policies, tenantId, names, [than]) !== undefined,
    drawToken: () => drawToken(hsm),
    issue(transaction, token, grant) {
      const { accessor, creationTime, expires = creationTime } = issueToken(transaction, store, clock, token, grant);
      return { token, accessor, creationTime, expires };
    },
    find: (token) => access.callerOf(token, clock.now()),
    openGrant: (transaction, tenantId) => openGrant(transaction, store, tenantId),
    endGrant: (transaction, tenantId, grant) => {
      requireOtherApprovers(transaction, store, tenantId, grant);
      endGrant(transaction, store, tenantId, grant);
    },
    disable: (transaction, tenantId, accessor) => removeToken(transaction, store, tenantId, accessor),
  };
}

function attemptsOf(store: Store): Attempts {
  const limit = limitByAddress(store);
  return {
    requireFew(clientIp, now) {
      const waitSeconds = limit.secondsToWait(limit.slotOf(subscriberOf(clientIp)), now.epochMilliseconds);
      if (waitSeconds > 0) throw tooManyFailures(waitSeconds);
    },
    count(transaction, clientIp, now) {
      const slot = limit.slotOf(subscriberOf(clientIp));
      const waitSeconds = limit.secondsToWait(slot, now.epochMilliseconds, (table, key) => transaction.get(table, key));
      if (waitSeconds > 0) throw tooManyFailures(waitSeconds);
      limit.count(transaction, slot, now.epochMilliseconds);
    },
  };
}
