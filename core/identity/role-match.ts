// Selects roles by claims: the policies and names of a login, with the reasons. Pure functions, shared by a login and its explanation.
import { isReservedUser } from '../access/user.ts';
import { isJsonObject } from '../wire/json.ts';
import { findClaim, showableText, type Claims } from './claims.ts';
import { spellingOf } from './spelling.ts';
import { IdentityError } from './identity-error.ts';

/** The fields of a role that the selection needs. */
export type RoleRule = {
  readonly name: string;
  readonly requiredClaims: readonly string[];
  /** claim name to attribute */
  readonly claimMappings: Readonly<Record<string, Attribute>>;
  readonly tokenPolicies: readonly string[];
};

/** Attributes of a session that a claim can give. */
export type Attribute = 'username' | 'fullname';

/** The result for one role. A role that matches but lacks a required claim grants nothing. */
export type RoleVerdict = { readonly role: RoleRule; readonly matches: boolean; readonly missingClaims: readonly string[] };

export type RoleSelection = {
  /** claims of the provider, for advice */
  readonly claims: Claims;
  /** values of the role claim; undefined when the claim is absent */
  readonly roleValues: readonly string[] | undefined;
  /** in the order of names */
  readonly verdicts: readonly RoleVerdict[];
  readonly granted: readonly RoleRule[];
  /** union over the granted roles, each once */
  readonly policies: readonly string[];
  /** undefined without a mapping that yields a text; the subject is used then */
  readonly username: string | undefined;
  readonly fullname: string | undefined;
};

/** Values of the role claim besides its texts. */
export type FurtherValues = {
  /** names of the members of an object */
  readonly keysOfObject?: boolean | undefined;
  /** name of a role, for people for whom the provider sends no value */
  readonly roleWithoutValues?: string | undefined;
};

/** More role values than this are refused: no real directory has as many, and matching must stay cheap (R52). */
export const maxRoleValues = 10_000;

/**
 * Matches roles by exact, case-sensitive comparison with the values of the role claim. Several matches unite their policies; for each
 * attribute the first granted role in name order whose mapping yields a text wins (R53, R56). Throws IdentityError.
 */
export function selectRoles(
  claims: Claims,
  roleClaim: string,
  roles: readonly RoleRule[],
  { keysOfObject, roleWithoutValues }: FurtherValues = {},
): RoleSelection {
  const roleValues = readRoleValues(claims, roleClaim, keysOfObject === true);
  const hasNone = (roleValues ?? []).length === 0;
  const values = new Set(hasNone && roleWithoutValues !== undefined ? [roleWithoutValues] : roleValues);
  const inOrder = [...roles].sort((left, right) => (left.name < right.name ? -1 : 1));
  const verdicts = inOrder.map((role) => ({
    role,
    matches: values.has(role.name),
    missingClaims: role.requiredClaims.filter((name) => findClaim(claims, name) === undefined),
  }));
  const granted = verdicts.filter((verdict) => verdict.matches && verdict.missingClaims.length === 0).map((verdict) => verdict.role);
  return {
    claims,
    roleValues,
    verdicts,
    granted,
    policies: [...new Set(granted.flatMap((role) => role.tokenPolicies))],
    username: mapAttribute(claims, granted, 'username'),
    fullname: mapAttribute(claims, granted, 'fullname'),
  };
}

/** Says how a claim is written that the provider does send, under another name than the settings have; undefined when it does not. */
export function spellingAdvice(claims: Claims, name: string): string | undefined {
  if (findClaim(claims, name) !== undefined) return undefined;
  const spelling = spellingOf(claims, name);
  if (spelling === undefined) return undefined;
  return `The provider sends ${spelling}: write that in place of ${name} (a nested claim is a JSON pointer, RFC 6901).`;
}

/**
 * The name of an account without a role: as any role would map it, else the first claim that people recognise. Only for the page, which
 * only this person sees.
 */
export function accountName(claims: Claims, roles: readonly RoleRule[]): string | undefined {
  const usual: RoleRule['claimMappings'] = { email: 'username', preferred_username: 'username', upn: 'username', name: 'username' };
  return mapAttribute(claims, [...roles, { claimMappings: usual }], 'username');
}

/** Claims that the selection needs for these roles, the role claim first. UserInfo is called when one is absent. */
export function neededClaims(roleClaim: string, roles: readonly RoleRule[]): readonly string[] {
  return [...new Set([roleClaim, ...roles.flatMap((role) => [...role.requiredClaims, ...Object.keys(role.claimMappings)])])];
}

/**
 * A string counts as one value, because ADFS sends a single group so. Values that are not strings are ignored (R52). Members of an object
 * count where that is wanted, without those that are null or false.
 */
function readRoleValues(claims: Claims, roleClaim: string, keysOfObject: boolean): readonly string[] | undefined {
  const found = findClaim(claims, roleClaim);
  if (found === undefined) return undefined;
  if (typeof found === 'string') return [found];
  const claim = keysOfObject && isJsonObject(found) ? membersOf(found) : found;
  if (!Array.isArray(claim)) return [];
  if (claim.length > maxRoleValues) {
    throw new IdentityError('claims', 'too-many-role-values', { fields: { 'role-claim': roleClaim, values: claim.length } });
  }
  return claim.filter((value) => typeof value === 'string');
}

const membersOf = (object: Claims): readonly string[] =>
  Object.entries(object).flatMap(([name, value]) => (value === null || value === false ? [] : [name]));

function mapAttribute(claims: Claims, roles: readonly Pick<RoleRule, 'claimMappings'>[], attribute: Attribute): string | undefined {
  for (const role of roles) {
    for (const [name, target] of Object.entries(role.claimMappings)) {
      const value = target === attribute ? findClaim(claims, name) : undefined;
      const text = typeof value === 'string' ? showableText(value) : '';
      // A person who is called as the root token's user would be taken for that.
      if (text !== '' && !(attribute === 'username' && isReservedUser(text))) return text;
    }
  }
  return undefined;
}
