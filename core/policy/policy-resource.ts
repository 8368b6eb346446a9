// Policies as a resource, and the question what the caller's own policies say (api 53, 54).
import { z } from 'zod';
import type { AccessControl } from '../auth/access.ts';
import { fail } from '../errors.ts';
import { defineEndpoint, type AnyEndpoint } from '../http/endpoint.ts';
import { readRequestPath } from '../http/request-path.ts';
import { defineResource, type AnyResource } from '../http/resource.ts';
import { systemTenantName, type Tenants } from '../tenants.ts';
import { builtInPolicies } from './built-in.ts';
import type { Policies } from './policies.ts';
import { operations, policyDocument, type Policy, type PolicyDocument } from './policy.ts';

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

/** `POST /v1/state/policy/check`: whether the caller may, and which rule of which policy says so. */
export function policyCheckEndpoint(access: AccessControl): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: '/v1/state/policy/check',
    summary: 'Ask what the policies say, without doing it',
    tag: 'policies',
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    input: z.object({
      path: z.string().max(8_192).meta({ description: 'The path of a request.', example: '/v1/config/keystore/transit-keys/my-key' }),
      operation: z.enum(operations).describe('What would be done there.'),
    }),
    output: z.object({
      allowed: z.boolean().describe('Whether the token at hand may do it.'),
      rule: z.string().optional().meta({ description: 'Path of the rule that decided.', example: '/v1/config/**' }),
      policy: z
        .string()
        .optional()
        .meta({ description: 'Policy that has the rule; absent: no rule speaks of it, so it is refused.', example: 'user' }),
      decidedBy: z.enum(['tenant', 'token']).describe('Whose policies decided: both must allow.'),
      restricted: z.boolean().describe('Whether rules limit values of fields or hide fields there.'),
    }),
    commandLine: { positional: ['path', 'operation'], verdict: 'allowed' },
    auditFields: ['path', 'operation'],
    run(call, { path, operation }) {
      const read = readRequestPath(path);
      if (read === undefined)
        throw fail('invalid-value', {
          detail: '"path" must be a path such as /v1/config/tenants/a.',
          items: [{ message: 'is not a path', info: 'path' }],
        });
      const { allowed, rule, policy, refusedByTenant = false, constraints } = access.decide(call.caller, read.segments, operation);
      return { allowed, rule, policy, decidedBy: refusedByTenant ? 'tenant' : 'token', restricted: constraints !== undefined } as const;
    },
  });
}
