// The option that says where calls to providers may go.
import { z } from 'zod';
import { isCidr } from '../base/addresses.ts';
import { isRange, type Rules } from './destinations.ts';

export type { Rules } from './destinations.ts';

/** Destination of outbound calls: an address, a range, or a name. */
const destination = z
  .string()
  .max(256)
  .refine(
    (text) => (isRange(text) ? isCidr(text) : /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(text)),
    'must be an address, a range such as 10.1.0.0/16, a host name, or *.domain for the hosts below a domain',
  );

/** `called`: those that are called, in words. */
export function providerHostsField(called: string) {
  return z
    .strictObject({
      allow: z.array(destination).max(256).default([]).describe(`if not empty, only ${called} at these places are called`),
      deny: z.array(destination).max(256).default([]).describe(`${called} at these places are not called; wins over allow`),
    })
    .prefault({});
}

/**
 * Rules under which a call goes only where both let it. Two lists of what is allowed have in common what is written in both; where that is nothing,
 * nothing is allowed.
 */
export function bothRules(one: Rules, other: Rules): Rules {
  const deny = [...new Set([...one.deny, ...other.deny])];
  // An empty list allows everything.
  if (one.allow.length === 0 || other.allow.length === 0) return { allow: [...one.allow, ...other.allow], deny };
  const allow = one.allow.filter((entry) => other.allow.includes(entry));
  return allow.length > 0 ? { allow, deny } : { allow: [...one.allow], deny: [...deny, ...everywhere] };
}

const everywhere: readonly string[] = ['0.0.0.0/0', '::/0'];
