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
import { type AccessControl, createAccessControl, type Sender } from '../../access/access-control.ts';
import { limitByAddress, tooManyFailures } from '../../access/approles/attempt-limit.ts';
import { endGrant, openGrant } from '../../access/logins/grants.ts';
import type { TokenRecord } from '../../access/tokens/record.ts';
import { drawToken, issueToken, removeToken } from '../../access/tokens/tokens.ts';
import type { JsonObject } from '../../wire/json.ts';
import { formatOutput } from '../../wire/schema.ts';
import { stateOf, tokenState } from '../tokens/token-state.ts';
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
    describeIssued: (record, from) => describeIssued(store, access, record, clock.now(), from),
    endIssued: ({ tenantId, accessor }) =>
      store.write((transaction) => {
        removeToken(transaction, store, tenantId, accessor);
      }),
    openGrant: (transaction, tenantId) => openGrant(transaction, store, tenantId),
    endGrant: (transaction, tenantId, grant) => {
      requireOtherApprovers(transaction, store, tenantId, grant);
      endGrant(transaction, store, tenantId, grant);
    },
    disable: (transaction, tenantId, accessor) => removeToken(transaction, store, tenantId, accessor),
  };
}

const infoPath = ['v1', 'state', 'keystore', 'token', 'info'];

function describeIssued(
  store: Store,
  access: AccessControl,
  record: TokenRecord,
  now: Temporal.Instant,
  from: Sender,
): ReturnType<Sessions['describeIssued']> {
  const caller = access.callerIssued(record, from);
  if (caller === undefined) return undefined;
  const { allowed, constraints } = access.decide(caller, infoPath, 'execute');
  if (!allowed) return { caller, state: {} };
  const state = formatOutput(stateOf(store, caller, record, now, [record]), tokenState);
  return { caller, state: (constraints === undefined ? state : constraints.withoutHidden(state)) as JsonObject };
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
