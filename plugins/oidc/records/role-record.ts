// A role of an OIDC service as administrators write it and as it is stored.
import { z } from 'zod';
import { givenPolicy, naming } from '../../../core/http/named-entries.ts';
import type { RoleRule } from '../../../core/identity/role-match.ts';
import type { Table, WriteTransaction } from '../../../core/store/store.ts';

const claimName = z.string().min(1).max(256);

/** Document that administrators write. */
export const roleDocument = z.object({
  requiredClaims: z
    .array(claimName)
    .max(64)
    .default([])
    .describe('Claims without which the role is not given; nested ones as JSON pointers, such as /address/country.'),
  claimMappings: z
    .record(claimName, z.enum(['username', 'fullname']).meta({ typeName: 'ClaimTarget' }))
    .default({})
    .describe('Claim to what it tells of the user; a nested claim as a JSON pointer.'),
  // RFC 6749 section 3.3: visible ASCII without quotation mark and backslash.
  oidcScopes: z
    .array(
      z
        .string()
        .max(256)
        .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope: visible ASCII, no spaces'),
    )
    .max(64)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Scopes asked for, besides openid.'),
  tokenPolicies: z
    .array(naming(z.string().min(1).max(128), givenPolicy))
    .max(256)
    .meta({ whenEmpty: [] })
    .default([])
    .describe('Policies the sign-in gets.'),
});

export type RoleDocument = z.output<typeof roleDocument>;

/** Record as stored. `grant`: its tokens end with it, and rules of approvals name the role by it; absent in roles that earlier versions saved. */
export type RoleRecord = RoleDocument & { readonly grant?: string };

/** The grants of the roles of a sign-in, for its token. */
export function grantsOf(
  transaction: WriteTransaction,
  roles: Table<RoleRecord>,
  { tenantId, service, names }: { readonly tenantId: string; readonly service: string; readonly names: readonly string[] },
): readonly string[] {
  return names.flatMap((name) => transaction.get(roles, [tenantId, service, name])?.grant ?? []);
}

/** Tells whether roles as they are now, undefined for a deleted one, still give policies that they gave once. */
export function stillGive(roles: readonly (RoleRecord | undefined)[], policies: readonly string[]): boolean {
  const given = new Set(roles.flatMap((role) => role?.tokenPolicies ?? []));
  return roles.every((role) => role !== undefined) && policies.every((policy) => given.has(policy));
}

/** A role with its name, as login and `explain` use it. */
export type NamedRole = RoleRule & { readonly oidcScopes: readonly string[] };

/** `openid` and the scopes of all roles, each once, in the order of role names: before the login the role is not known. */
export function scopesOf(roles: readonly NamedRole[]): readonly string[] {
  return [...new Set(['openid', ...roles.flatMap((role) => role.oidcScopes)])];
}
