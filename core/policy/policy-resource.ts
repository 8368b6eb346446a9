// Policies as a resource: a tenant's own, and the built-in ones among them (api 53, 54).
import { z } from 'zod';
import { fail } from '../errors.ts';
import { defineResource, type AnyResource } from '../http/resource.ts';
import { systemTenantName, type Tenants } from '../tenants.ts';
import { builtInPolicies } from './built-in.ts';
import type { Policies } from './policies.ts';
import { policyDocument, type Policy, type PolicyDocument } from './policy.ts';

/** A tenant's own policies, with the built-in ones shown among them. */
export function policyResource(policies: Policies, tenants: Tenants): AnyResource {
  return defineResource<PolicyDocument, Policy>({
    path: 'policy/policies',
    tag: 'policies',
    noun: 'policy',
    nameField: 'name',
    scope: 'tenant',
    table: policies.table,
    builtIn: builtInPolicies,
    document: policyDocument,
    stateFields: z.object({ builtIn: z.boolean().describe('Whether every tenant has it; built-in policies cannot be changed.') }),
    plan: ({ names: [name = ''], document }) => ({ commit: () => ({ name, ...document }) }),
    planRemoval: (call, [name = '']) => ({
      commit(transaction) {
        if (call.caller.tenantName !== systemTenantName) return;
        for (const [, tenant] of transaction.entries(tenants.table, [])) {
          if (tenant.policies.includes(name)) throw fail('in-use', { detail: 'A tenant has this policy.' });
        }
      },
    }),
    toDocument: ({ description, restApi }) => ({ description, restApi }),
    toState: ({ name }) => ({ builtIn: builtInPolicies.has(name) }),
  });
}
