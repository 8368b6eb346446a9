// Selects the roles of a sign-in, and tells what an administrator should check if no role matches.
import type { Claims } from '../../../core/identity/claims.ts';
import { IdentityError } from '../../../core/identity/identity-error.ts';
import { type RoleRule, type RoleSelection, selectRoles, spellingAdvice } from '../../../core/identity/role-match.ts';
import { LoginFailure } from '../failures.ts';
import { isOverage } from '../provider/directory.ts';
import { judgeIdentity } from '../provider/provider-errors.ts';
import type { ServiceRecord } from '../records/service-record.ts';

export type RoleSelect = ServiceRecord['roleSelect'];

/**
 * Selects roles as selectRoles, by the settings of a service; throws LoginFailure. A person whose groups were left out because they are too many is
 * not one without groups.
 */
export function selectSignInRoles(claims: Claims, roleSelect: RoleSelect, roles: readonly RoleRule[]): RoleSelection {
  const { roleClaim, keysOfObject, roleWithoutGroups } = roleSelect;
  const roleWithoutValues = isOverage(claims, roleClaim) ? undefined : roleWithoutGroups;
  try {
    return selectRoles(claims, roleClaim, roles, { keysOfObject, roleWithoutValues });
  } catch (error) {
    throw error instanceof IdentityError ? judgeIdentity(error) : error;
  }
}

/** Throws LoginFailure `no-role` or `claim-missing` when the selection grants no role; the hint says what an administrator should check. */
export function requireRole(selection: RoleSelection, roleClaim: string): void {
  if (selection.granted.length > 0) return;
  const halted = selection.verdicts.filter((verdict) => verdict.matches);
  if (halted.length > 0) {
    const missing = [...new Set(halted.flatMap((verdict) => verdict.missingClaims))];
    throw new LoginFailure('claim-missing', 'role', 'required-claim-missing', {
      fields: { roles: halted.map((verdict) => verdict.role.name), 'missing-claims': missing },
      hint: [
        `Make the provider send ${missing.join(', ')} (often a scope in oidc-scopes of the role), or remove it from required-claims.`,
        ...missing.flatMap((name) => spellingAdvice(selection.claims, name) ?? []),
      ].join(' '),
    });
  }
  if (selection.roleValues === undefined) {
    throw new LoginFailure('no-role', 'role', 'role-claim-missing', {
      fields: { 'role-claim': roleClaim },
      hint:
        `The role-select claim ${roleClaim} is missing: the provider does not send it, or the account is in no group, for which many providers ` +
        'leave the claim out. Put the account into a group, or make the provider send the claim (a groups claim, a mapper or a scope); ' +
        'if the account is in more than about 150 groups, see the directory entry before this one. ' +
        (spellingAdvice(selection.claims, roleClaim) ?? 'A nested claim is written as a JSON pointer, such as /realm_access/roles.'),
    });
  }
  throw new LoginFailure('no-role', 'role', 'no-role-matches', {
    fields: { 'role-claim': roleClaim, values: selection.roleValues.length, roles: selection.verdicts.length },
    hint: `No value of ${roleClaim} (it has ${selection.roleValues.length}) is the name of a role of this service; names match exactly, upper and lower case count.`,
  });
}
