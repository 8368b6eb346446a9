// Which policies a caller may give to tokens, approles and sign-in roles: those that its own token has.
import { fail } from '../../base/errors.ts';
import type { Caller } from '../caller.ts';
import { defaultPolicy } from './built-in.ts';
import type { WriteTransaction } from '../../store/store.ts';
import type { Policies } from './policies.ts';

/**
 * Throws `policy-denied` when one of the names is neither a policy of the caller's token nor among `kept`, which another caller has
 * granted before. `root` includes all policies, and every token has `default`. Called before requirePolicies, so that a refused caller
 * does not learn which policies exist (api 55).
 */
export function requireHeld(caller: Pick<Caller, 'policies'>, field: string, names: readonly string[], kept: readonly string[]): void {
  if (names.every((name) => kept.includes(name) || isHeld(caller, name))) return;
  throw fail('policy-denied', {
    detail: `"${field}" would give policies that your own token does not have.`,
    items: [{ message: 'gives a policy that your token does not have', info: field }],
  });
}

/** Whether a caller has a policy of this name, and may give it. */
export function isHeld({ policies }: Pick<Caller, 'policies'>, name: string): boolean {
  return name === defaultPolicy.name || policies.includes('root') || policies.includes(name);
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
  if (names.every((name) => kept.includes(name) || policies.find(tenantId, name, read) !== undefined)) return;
  throw fail('invalid-value', {
    detail: `"${field}" must name policies of the tenant or built-in ones.`,
    items: [{ message: 'names a policy that does not exist', info: field }],
  });
}
