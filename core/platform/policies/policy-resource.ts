// Policies as a resource: a tenant's own, and the built-in ones among them (api 53, 54).
import { z } from 'zod';
import { fail } from '../../base/errors.ts';
import { defineResource, type AnyResource } from '../../http/resource/resource.ts';
import { warningsField } from '../../http/resource/view.ts';
import { systemTenantName, type Tenant, type Tenants } from '../../access/tenants.ts';
import { builtInPolicies } from '../../access/policy/built-in.ts';
import type { Policies } from '../../access/policy/policies.ts';
import { warningsOf, type Reach } from './reach.ts';
import { policyDocument, type Policy, type PolicyDocument } from '../../access/policy/policy.ts';
import { tags } from '../../http/tags.ts';

/** A tenant's own policies and the built-in ones. `reach` is called by requests, when all endpoints are known. */
export function policyResource(policies: Policies, tenants: Tenants, reach: () => Reach): AnyResource {
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
    nameField: 'name',
    scope: 'tenant',
    table: policies.table,
    builtIn: builtInPolicies,
    document: policyDocument,
    recordedWhole: true,
    stateFields: z.object({
      builtIn: z.boolean().describe('Whether every tenant has it; built-in policies cannot be changed.'),
      warnings: warningsField.describe('Rules that no request can meet, and names that cannot be hidden.'),
    }),
    warnings: ({ restApi }) => warningsOf(restApi.rules, reach()),
    plan: ({ names: [name = ''], document }) => ({ commit: () => ({ name, ...document }) }),
    planRemoval(call, [name = '']) {
      if (call.caller.tenantName !== systemTenantName) return {};
      requireUnused(name, tenants.table.entries([]));
      // Asked again in the transaction: a tenant may have got it meanwhile.
      return { commit: (transaction) => requireUnused(name, transaction.entries(tenants.table, [])) };
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
  for (const [, tenant] of all) if (tenant.policies.includes(policy)) throw fail('in-use', { detail: 'A tenant has this policy.' });
}
