// The tokens that a role of logins gives: the fields for it, and who may give more, or to more.
import { unknownPolicies } from '../../access/policy/granting.ts';
import { areWithin } from '../../base/addresses.ts';
import { invalid } from '../../base/texts/invalid.ts';
import { isLonger, parseDuration } from '../../base/time.ts';
import type { Sessions } from '../../plugin/services/sessions.ts';
import { tokenFieldsOf } from '../token-fields.ts';

/** Fields of the document of a role. */
export const tokenFields = tokenFieldsOf({ ttl: '1h', maxTtl: '1d' });

export type RoleTokens = {
  readonly tokenPolicies: readonly string[];
  readonly tokenTtl: string;
  readonly tokenMaxTtl: string;
  readonly tokenBoundCidrs: readonly string[];
};

/** Finds a field by which tokens work longer or from more addresses. */
export function widenedTokens(wanted: RoleTokens, current: RoleTokens): 'tokenTtl' | 'tokenMaxTtl' | 'tokenBoundCidrs' | undefined {
  if (reachesBeyond(wanted.tokenBoundCidrs, current.tokenBoundCidrs)) return 'tokenBoundCidrs';
  return (['tokenTtl', 'tokenMaxTtl'] as const).find((field) => isLonger(wanted[field], current[field]));
}

/** Tells whether earlier tokens may do what those of now may not, so that they must end. */
export function givesLess(
  { allowsMore }: Pick<Sessions, 'allowsMore'>,
  tenantId: string,
  { tokenPolicies: wanted, tokenBoundCidrs }: RoleTokens,
  { tokenPolicies: before, tokenBoundCidrs: ranges }: RoleTokens,
): boolean {
  return (
    before.some((policy) => !wanted.includes(policy)) || allowsMore(tenantId, before, wanted) || reachesBeyond(ranges, tokenBoundCidrs)
  );
}

/** Tells whether ranges have addresses that others do not have; an empty list has all. */
function reachesBeyond(ranges: readonly string[], others: readonly string[]): boolean {
  return others.length > 0 && !areWithin(ranges, others);
}

/** Throws `invalid-value` for a life that is longer than the longest. */
export function requireLives({ tokenTtl, tokenMaxTtl }: RoleTokens): void {
  if (parseDuration(tokenTtl, 'token-ttl').seconds <= parseDuration(tokenMaxTtl, 'token-max-ttl').seconds) return;
  throw invalid('token-ttl', 'must not be longer than token-max-ttl');
}

/** Throws `invalid-value` for a policy that the tenant does not have, unless the role had it before. */
export function requireKnownPolicies(
  { hasPolicy }: Pick<Sessions, 'hasPolicy'>,
  tenantId: string,
  names: readonly string[],
  kept: readonly string[],
): void {
  const unknown = names.filter((name) => !kept.includes(name) && !hasPolicy(tenantId, name));
  if (unknown.length > 0) throw unknownPolicies('token-policies', unknown, 'policies of the tenant or built-in ones');
}
