// Policies that a caller may give to tokens, approles and sign-in roles: those of its own token, unless together they allow more than it may itself.
import { areWithin } from '../../base/addresses.ts';
import { fail } from '../../base/errors.ts';
import type { Caller } from '../caller.ts';
import { defaultPolicy } from './built-in.ts';
import { wideningOf, type TooLong, type Widening } from './narrowing.ts';
import type { WriteTransaction } from '../../store/store.ts';
import type { Policies } from './policies.ts';

/**
 * Throws `policy-denied` if one of the names is neither a policy of the caller's token nor among `kept`, which another caller has
 * granted before, and if one is left out that refuses or limits what the others allow. `root` includes all policies, and every token has `default`.
 * Called before requirePolicies, so that a refused caller does not learn which policies exist.
 */
export function requireHeld(policies: Policies, caller: Caller, field: string, names: readonly string[], kept: readonly string[]): void {
  if (!names.every((name) => kept.includes(name) || isHeld(caller, name)))
    throw fail('policy-denied', {
      detail: `"${field}" would give policies that your own token does not have.`,
      items: [{ message: 'gives a policy that your token does not have', info: field }],
    });
  requireNarrowed(policies, caller, field, names, kept);
}

/**
 * Throws `policy-denied` if policies allow an access that neither the caller's own nor those before allow: if one that refuses or limits it
 * is left out.
 */
export function requireNarrowed(
  policies: Policies,
  caller: Caller,
  field: string,
  names: readonly string[],
  before: readonly string[],
): void {
  const widening = widens(policies, caller.tenantId, names, [caller.policies, before]);
  if (widening !== undefined) throw leavesOut(caller, field, widening);
}

/** Throws `policy-denied` for a caller whose token is bound to addresses or a key, or has a number of uses: it would be exchanged for a credential that is not. */
export function requireUnbound(caller: Caller, what: string): void {
  requireFree(caller, what);
  if (caller.boundCidrs.length === 0) return;
  throw fail('policy-denied', {
    detail: `${what} works from any address, and your own token is bound to some: do this with a token that is not.`,
  });
}

/**
 * Throws `policy-denied` unless tokens of an approle or role work only from the caller's address ranges, and the caller's token is free (requireFree):
 * otherwise a bound token could be exchanged for an unbound one.
 */
export function requireOwnBounds(caller: Caller, { tokenBoundCidrs }: { readonly tokenBoundCidrs: readonly string[] }): void {
  requireFree(caller, 'What logs in by it');
  if (caller.boundCidrs.every((ranges) => areWithin(tokenBoundCidrs, ranges))) return;
  throw fail('policy-denied', {
    detail: '"token-bound-cidrs" must be within the ranges of addresses that your own token is bound to.',
    items: [{ message: 'reaches beyond the addresses of your token', info: 'token-bound-cidrs' }],
  });
}

/** Throws `policy-denied` for a caller whose token works with one certificate or key alone, or has a number of uses, as requireUnbound. */
export function requireFree(caller: Caller, what: string): void {
  requireUncounted(caller, what);
  if (caller.boundToKey !== true) return;
  throw fail('policy-denied', {
    detail: `${what} works without a client certificate, and your own token is bound to one: do this with a token that is not.`,
  });
}

/** Throws `policy-denied` for a caller whose token has a number of uses: what it makes could be used more often. */
export function requireUncounted({ isCounted }: Caller, what: string): void {
  if (isCounted !== true) return;
  throw fail('policy-denied', {
    detail: `${what} has uses of its own, and your token has a number of them: do this with one that has none.`,
  });
}

/** Tells whether a caller has a policy with this name, and may give it. */
export function isHeld({ policies }: Pick<Caller, 'policies'>, name: string): boolean {
  return name === defaultPolicy.name || policies.includes('root') || policies.includes(name);
}

/** Finds an access that policies allow and none of other sets does: a token with these policies would escape the refusals of the others. */
export function widens(
  policies: Policies,
  tenantId: string,
  names: readonly string[],
  sets: readonly (readonly string[])[],
): Widening | TooLong | undefined {
  // Beside `root` nothing is refused.
  if (sets.some((set) => set.includes('root') || (names.every((name) => set.includes(name)) && set.every((name) => names.includes(name)))))
    return undefined;
  const behind = (some: readonly string[]) => policies.behind(tenantId, [...new Set(some)]);
  return wideningOf(behind(names), sets.map(behind));
}

function leavesOut({ policies }: Caller, field: string, widening: Widening | TooLong): Error {
  const items = [{ message: 'leaves out a policy that refuses or limits what others allow', info: field }];
  if (widening === 'too-long') {
    const detail = `The policies of "${field}" and those that it leaves out are too long to be compared: leave none out, or have root do this.`;
    return fail('policy-denied', { detail, items });
  }
  const { operation, policy, rule, past } = widening;
  if (past === undefined) {
    const detail = `"${field}" would give policies that limit "${operation}" of the same path in different ways, and limit it less together than apart. Have root give them.`;
    return fail('policy-denied', { detail, items });
  }
  // The rules of a policy that the caller does not have are not revealed.
  const detail = [policy, past.policy].every((one) => one === defaultPolicy.name || policies.includes(one))
    ? `"${field}" leaves out the policy "${past.policy}", whose rule "${past.rule}" refuses or limits what the rule "${rule}" of "${policy}" allows ("${operation}"): give it too.`
    : `"${field}" leaves out the policy "${past.policy}", which refuses or limits what others allow: give it too, or have root leave it out.`;
  return fail('policy-denied', { detail, items });
}

/** Throws `invalid-value` when a name is neither a policy the tenant can use nor among `kept`. Called again inside the transaction. */
export function requirePolicies(
  policies: Policies,
  { tenantId }: Pick<Caller, 'tenantId'>,
  field: string,
  names: readonly string[],
  kept: readonly string[],
  read?: WriteTransaction['get'],
): void {
  const unknown = names.filter((name) => !kept.includes(name) && policies.find(tenantId, name, read) === undefined);
  if (unknown.length > 0) throw unknownPolicies(field, unknown, 'policies of the tenant or built-in ones');
}

/** Returns `invalid-value` that names policies which do not exist: among many, a misspelt one is hard to see. */
export function unknownPolicies(field: string, unknown: readonly string[], which: string): Error {
  const named = unknown.slice(0, 5).map((name) => JSON.stringify(name));
  const rest = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  return fail('invalid-value', {
    detail: `"${field}" must name ${which}; it names ${named.join(', ')}${rest}, which ${unknown.length === 1 ? 'does' : 'do'} not exist.`,
    items: [{ message: `names ${named.join(', ')}${rest}, which ${unknown.length === 1 ? 'does' : 'do'} not exist`, info: field }],
  });
}
