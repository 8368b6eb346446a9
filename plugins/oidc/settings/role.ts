// The resource OIDC role: which value of the role claim grants which policies, and under which conditions.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Caller } from '../../../core/access/caller.ts';
import { requireUnbound } from '../../../core/access/policy/granting.ts';
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { defineResource, keptNames, type AnyResource, type Change } from '../../../core/http/resource/resource.ts';
import type { Oidc } from '../context.ts';
import type { SessionsEnd } from '../records/end-session.ts';
import { type RoleDocument, roleDocument, type RoleRecord } from '../records/role-record.ts';
import { oidcTag } from '../tags.ts';

/** Any printable text except `.` and `..`, which a path cannot contain: GUIDs, `/path/group`, URLs. */
const roleNamePattern = /^(?!\.\.?$)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u;

const lacksPolicies = 'it gives more, and the own token does not have all policies of the roles';
const narrowsOthers = 'a policy goes that refuses or limits what other roles give, and that the own token does not have all of';

export function roleResource(oidc: Oidc): AnyResource {
  return defineResource<RoleDocument, RoleRecord>({
    path: 'keystore/authentication/oidc/{service}/roles',
    tag: oidcTag,
    noun: 'OIDC role',
    act: 'change-trust',
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
      const { tokenPolicies: before = [] } = current ?? {};
      const others = besidesRoot(rolesBeside(oidc, call.caller, service as string, role as string));
      const isLess =
        before.some((policy) => !wanted.tokenPolicies.includes(policy)) ||
        oidc.accounts.allowsMore(call.caller.tenantId, [...others, ...before], [...others, ...wanted.tokenPolicies]);
      const ending = sessionsEnd(oidc, call, service as string, role as string);
      return {
        commit(transaction) {
          if (transaction.get(oidc.services, [call.caller.tenantId, service as string]) === undefined) throw fail('not-found');
          if (isLess) ending.commit(transaction);
          return { ...wanted, grant: current?.grant ?? oidc.accounts.openGrant(transaction, call.caller.tenantId) };
        },
        after: () => ending.after(),
      };
    },
    creationRights: [{ field: 'claim-mappings', policy: 'root', when: lacksPolicies }],
    fieldRights: [
      ...['claim-mappings', 'required-claims'].map((field) => ({ field, policy: 'root', when: lacksPolicies }) as const),
      { field: 'token-policies', policy: 'root', when: narrowsOthers },
    ],
    removalRights: [{ field: 'token-policies', policy: 'root', when: narrowsOthers }],
    removalJudgedBy: ['tokenPolicies'],
    removalTells: [{ list: 'keystore/authentication/oidc/{service}/roles', field: 'token-policies' }],
    planRemoval(call, [service, role], { tokenPolicies, grant }) {
      requireNarrowed(oidc, call.caller, rolesBeside(oidc, call.caller, service as string, role as string), [], tokenPolicies);
      const ending = sessionsEnd(oidc, call, service as string, role as string);
      return {
        commit(transaction) {
          if (grant !== undefined) oidc.accounts.endGrant(transaction, call.caller.tenantId, grant);
          ending.commit(transaction);
        },
        after: () => ending.after(),
      };
    },
    toDocument: ({ grant: _grant, ...document }) => document,
    errors: ['last-approver'],
    toState: () => ({}),
  });
}

/** Requires that the caller holds the policies: without a required claim they go to more people, and a mapping decides in whose name. */
function requireGiven(
  oidc: Oidc,
  service: string,
  { call: { caller }, names, document: wanted, current, blindly }: Change<RoleDocument, RoleRecord>,
): void {
  const { accounts } = oidc;
  const isOpened =
    blindly('requiredClaims') !== undefined || current?.requiredClaims.some((claim) => !wanted.requiredClaims.includes(claim)) === true;
  if (isOpened) accounts.requireHeld(caller, 'required-claims', wanted.tokenPolicies, []);
  const isRenamed = blindly('claimMappings') !== undefined || !isDeepStrictEqual(wanted.claimMappings, current?.claimMappings ?? {});
  const beside = rolesBeside(oidc, caller, service, names.at(-1) as string);
  // The first role that maps names the person, whichever role gives the policies.
  if (isRenamed) for (const { tokenPolicies } of [wanted, ...beside]) accounts.requireHeld(caller, 'claim-mappings', tokenPolicies, []);
  const kept = keptNames(current?.tokenPolicies, blindly('tokenPolicies'));
  accounts.requireHeld(caller, 'token-policies', wanted.tokenPolicies, kept);
  const gains = wanted.tokenPolicies.some((policy) => !kept.includes(policy));
  if (current === undefined || isOpened || isRenamed || gains) requireUnbound(caller, 'What a sign-in gives');
  if (current === undefined) return;
  const isKnown = blindly('tokenPolicies') === undefined;
  requireNarrowed(oidc, caller, beside, wanted.tokenPolicies, isKnown ? current.tokenPolicies : undefined);
}

/**
 * Refuses to narrow the policies of others: a person who matches several roles gets the policies of all, and one that this role gives may
 * narrow those of others. `before`: undefined if the caller cannot read it, and if it counts as anything.
 */
function requireNarrowed(
  { accounts }: Oidc,
  caller: Caller,
  beside: readonly RoleRecord[],
  wanted: readonly string[],
  before: readonly string[] | undefined,
): void {
  const others = besidesRoot(beside);
  if (before?.every((policy) => wanted.includes(policy)) === true || others.length === 0) return;
  accounts.requireNarrowed(caller, 'token-policies', [...others, ...wanted], before === undefined ? [] : [...others, ...before]);
}

function rolesBeside({ roles }: Oidc, { tenantId }: Caller, service: string, role: string): readonly RoleRecord[] {
  return Array.from(roles.allEntries([tenantId, service])).flatMap(([key, record]) => (key.at(-1) === role ? [] : [record]));
}

/** Returns the policies that roles give. A person with `root` is not narrowed by any, and others may match the other roles alone. */
function besidesRoot(roles: readonly RoleRecord[]): readonly string[] {
  return [...new Set(roles.filter(({ tokenPolicies }) => !tokenPolicies.includes('root')).flatMap(({ tokenPolicies }) => tokenPolicies))];
}

/** Tokens contain the names of their policies: after a role is removed or loses a policy, its people must sign in again. */
function sessionsEnd(oidc: Oidc, call: EndpointCall, service: string, role: string): SessionsEnd {
  return oidc.endSessions(call.caller.tenantId, (one) => one.service === service && one.roles.includes(role));
}
