// Policies as a resource: a tenant's own, and the built-in ones among them.
import { z } from 'zod';
import { fail } from '../../base/errors.ts';
import { defineResource, type AnyResource } from '../../http/resource/resource.ts';
import { warningsField } from '../../http/resource/view.ts';
import type { EndpointCall } from '../../http/endpoint.ts';
import { givenPolicy, namedFieldsOf, textsAt } from '../../http/named-entries.ts';
import { needsSystemRoot, reservedRefusal } from '../../access/reserved.ts';
import { isHeld } from '../../access/policy/granting.ts';
import { narrows } from '../../access/policy/narrowing.ts';
import { isExpired, tokenTable } from '../../access/tokens/record.ts';
import type { Store } from '../../store/store.ts';
import { systemTenantName, type Tenant, type Tenants } from '../../access/tenants.ts';
import { builtInPolicies } from '../../access/policy/built-in.ts';
import type { Policies } from '../../access/policy/policies.ts';
import { warningsOf, type Reach } from './reach.ts';
import { policyDocument, type Policy, type PolicyDocument } from '../../access/policy/policy.ts';
import { tags } from '../../http/tags.ts';

export type PolicyResourceOptions = {
  readonly store: Store;
  readonly policies: Policies;
  readonly tenants: Tenants;
  /** called by requests, when all endpoints are known */
  readonly reach: () => Reach;
  readonly resources: () => readonly AnyResource[];
};

/** A tenant's own policies and the built-in ones. */
export function policyResource({ store, policies, tenants, reach, resources }: PolicyResourceOptions): AnyResource {
  const kept = new WeakMap<Policy, readonly string[]>();
  function keptWarnings(policy: Policy): readonly string[] {
    let warnings = kept.get(policy);
    if (warnings === undefined) kept.set(policy, (warnings = warningsOf(policy.restApi.rules, reach())));
    return warnings;
  }

  return defineResource<PolicyDocument, Policy>({
    path: 'policy/policies',
    tag: tags.policies,
    noun: 'policy',
    act: 'change-trust',
    nameField: 'name',
    scope: 'tenant',
    table: policies.table,
    builtIn: builtInPolicies,
    document: policyDocument,
    recordedWhole: true,
    stateFields: z.object({
      builtIn: z.boolean().describe('`true` if every tenant has it; built-in policies cannot be changed.'),
      warnings: warningsField.describe('Rules that no request can meet, and names that cannot be hidden.'),
    }),
    creationRights: [{ field: 'name', policy: '{}', when: 'tokens, approles or roles name a policy of this name, which was deleted' }],
    fieldRights: [{ field: 'name', policy: 'root', when: 'another tenant has the policy, which only those of "system" have' }],
    removalRights: [
      {
        field: 'rest-api',
        operation: 'update',
        path: '/v1/config/policy/policies/{name}',
        when: 'it refuses or limits anything, or may not be read, and tokens, approles or roles have the policy, or it is a dry run',
      },
    ],
    removalTells: [
      {
        ...{ list: 'tenants', field: 'policies', when: `the tenant is "${systemTenantName}"` },
        depends: ({ caller }) => caller.tenantName === systemTenantName,
      },
    ],
    warnings: ({ restApi }) => warningsOf(restApi.rules, reach()),
    plan({ call, names: [name = ''], document, current }) {
      // Holders of a deleted policy still have its name, so a new policy with that name is given to them.
      if (current === undefined && !isHeld(call.caller, name) && isNamed({ store, resources }, call, name)) throw givesIt();
      requireBoundsChanger(call, name, tenants.table.allEntries([]));
      return {
        commit(transaction) {
          // A tenant may have got it meanwhile.
          requireBoundsChanger(call, name, transaction.allEntries(tenants.table, []));
          return { name, ...document };
        },
      };
    },
    planRemoval(call, [name = ''], policy) {
      requireLifter({ store, resources }, call, policy);
      if (call.caller.tenantName !== systemTenantName) return {};
      requireUnused(name, tenants.table.allEntries([]));
      // Checked again in the transaction: a tenant may have got it meanwhile.
      return { commit: (transaction) => requireUnused(name, transaction.allEntries(tenants.table, [])) };
    },
    toDocument: ({ description, restApi }) => ({ description, restApi }),
    toState(policy, _call, shows) {
      // They quote the rules.
      const warnings = shows('rest-api') ? keptWarnings(policy) : [];
      return { builtIn: builtInPolicies.has(policy.name), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) };
    },
  });
}

function requireUnused(policy: string, all: Iterable<readonly [unknown, Tenant]>): void {
  if (isOfATenant(policy, all)) throw fail('in-use', { detail: 'A tenant has this policy.' });
}

function isOfATenant(policy: string, all: Iterable<readonly [unknown, Tenant]>): boolean {
  return Iterator.from(all).some(([, tenant]) => tenant.policies.includes(policy));
}

/** Requires root of the tenant `system` for changes of a tenant's bounds, whether by another policy or by other rules of this one. */
function requireBoundsChanger({ caller }: EndpointCall, policy: string, all: Iterable<readonly [unknown, Tenant]>): void {
  if (caller.tenantName !== systemTenantName || reservedRefusal('system-root', caller) === undefined) return;
  if (isOfATenant(policy, all)) throw fail('policy-denied', { detail: `The policy bounds a tenant: ${needsSystemRoot}` });
}

function givesIt() {
  return fail('policy-denied', {
    detail:
      'Tokens, approles or roles of the tenant name a policy of this name, which was deleted, and would get what it allows. Your own token does not have it: choose another name, or have root make it.',
  });
}

/**
 * A policy may narrow others, and names of policies that are gone refuse nothing: to delete one that is still named is as much as to change it. Where the
 * caller cannot read all of it, whatever it says.
 */
function requireLifter(options: Pick<PolicyResourceOptions, 'store' | 'resources'>, call: EndpointCall, policy: Policy): void {
  if (call.access.allows('update') || (call.access.readsAll() && !narrows(policy))) return;
  if (call.query.get('validate') === 'true')
    throw fail('policy-denied', {
      detail: 'A dry run would tell whether tokens, approles or roles of the tenant have this policy: it needs "update" of it, too.',
    });
  if (!isNamed(options, call, policy.name)) return;
  throw fail('policy-denied', {
    detail:
      'Tokens, approles or roles of the tenant have this policy, and what it refuses or limits would be allowed to them: to delete it needs "update" of it, too. Or let them go first.',
  });
}

/** Tells whether valid tokens, or entries such as approles and roles, name a policy. */
function isNamed(
  { store, resources }: Pick<PolicyResourceOptions, 'store' | 'resources'>,
  { caller: { tenantId }, now }: EndpointCall,
  policy: string,
): boolean {
  const tokens = Iterator.from(tokenTable(store).allEntries([tenantId]));
  if (tokens.some(([, token]) => token.policies.includes(policy) && !isExpired(token, now))) return true;
  return resources().some((resource) => {
    if (resource.scope !== 'tenant') return false;
    const fields = namedFieldsOf(resource.document).filter(({ entry }) => entry.resource === givenPolicy.resource);
    if (fields.length === 0) return false;
    const entries = Iterator.from(resource.table.allEntries([tenantId]));
    return entries.some(([, record]) => fields.some(({ path }) => textsAt(resource.toDocument(record), path).includes(policy)));
  });
}
