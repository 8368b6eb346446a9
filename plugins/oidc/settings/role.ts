// The resource OIDC role: which value of the role claim grants which policies, and under which conditions (spec, resource "OIDC role").
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Caller } from '../../../core/access/caller.ts';
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { defineResource, keptNames, type AnyResource, type Change } from '../../../core/http/resource/resource.ts';
import type { Oidc } from '../context.ts';
import type { SessionsEnd } from '../records/end-session.ts';
import { roleDocument, type RoleRecord } from '../records/role-record.ts';
import { oidcTag } from '../tags.ts';

/** Any printable text except `.` and `..`, which a path cannot contain (api 11): GUIDs, `/path/group`, URLs. */
const roleNamePattern = /^(?!\.\.?$)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u;

export function roleResource(oidc: Oidc): AnyResource {
  return defineResource<RoleRecord, RoleRecord>({
    path: 'keystore/authentication/oidc/{service}/roles',
    tag: oidcTag,
    noun: 'OIDC role',
    nameField: 'name',
    namePattern: roleNamePattern,
    nameRule: 'printable text other than . and .., without control characters',
    scope: 'tenant',
    table: oidc.roles,
    document: roleDocument,
    stateFields: z.object({}),
    parentExists: (call, [service]) => oidc.services.has([call.caller.tenantId, service as string]),
    plan(change) {
      const {
        call,
        names: [service, role],
        document: wanted,
        current,
      } = change;
      requireGiven(oidc, service as string, change);
      if (wanted.oidcScopes.includes('offline_access')) {
        throw fail('invalid-value', {
          detail: '"oidc-scopes" must not contain offline_access: tokens of the provider are not kept.',
          items: [{ message: 'must not contain offline_access', info: 'oidc-scopes' }],
        });
      }
      const loses = current?.tokenPolicies.some((policy) => !wanted.tokenPolicies.includes(policy)) === true;
      const ending = sessionsEnd(oidc, call, service as string, role as string);
      return {
        commit(transaction) {
          if (transaction.get(oidc.services, [call.caller.tenantId, service as string]) === undefined) throw fail('not-found');
          if (loses) ending.commit(transaction);
          return wanted;
        },
        after: () => ending.after(),
      };
    },
    planRemoval: (call, [service, role]) => sessionsEnd(oidc, call, service as string, role as string),
    toDocument: (record) => record,
    toState: () => ({}),
  });
}

/** Without a required claim the policies go to more people, and a mapping decides in whose name: the caller must hold them. */
function requireGiven(
  oidc: Oidc,
  service: string,
  { call: { caller }, document: wanted, current, blindly }: Change<RoleRecord, RoleRecord>,
): void {
  const { accounts } = oidc;
  const isOpened =
    blindly('requiredClaims') !== undefined || current?.requiredClaims.some((claim) => !wanted.requiredClaims.includes(claim)) === true;
  if (isOpened) accounts.requireHeld(caller, 'required-claims', wanted.tokenPolicies, []);
  const isRenamed = blindly('claimMappings') !== undefined || !isDeepStrictEqual(wanted.claimMappings, current?.claimMappings ?? {});
  // The first role that maps names the person, whichever role gives the policies.
  if (isRenamed) accounts.requireHeld(caller, 'claim-mappings', [...wanted.tokenPolicies, ...policiesOfRoles(oidc, caller, service)], []);
  accounts.requireHeld(caller, 'token-policies', wanted.tokenPolicies, keptNames(current?.tokenPolicies, blindly('tokenPolicies')));
}

function policiesOfRoles({ roles }: Oidc, { tenantId }: Caller, service: string): readonly string[] {
  return [...new Set(Array.from(roles.allEntries([tenantId, service]), ([, { tokenPolicies }]) => tokenPolicies).flat())];
}

/** Tokens contain the names of their policies: after a role is removed or loses a policy, its people must sign in again. */
function sessionsEnd(oidc: Oidc, call: EndpointCall, service: string, role: string): SessionsEnd {
  return oidc.endSessions(call.caller.tenantId, (one) => one.service === service && one.roles.includes(role));
}
