// Options that say where calls to places that tenants name may go: `provider-hosts`, and those of plugins.
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

/** `called`: those that are called, in words; `note`: what else there is to know. */
export function providerHostsField(called: string, note?: string) {
  const end = note === undefined ? '' : `; ${note}`;
  return z
    .strictObject({
      allow: z.array(destination).max(256).default([]).describe(`if not empty, only ${called} at these places are called${end}`),
      deny: z.array(destination).max(256).default([]).describe(`${called} at these places are not called; wins over allow${end}`),
    })
    .prefault({});
}

/** Rules under which a call goes only where both let it. An empty list of what is allowed allows everything. */
export function bothRules(one: Rules, other: Rules): Rules {
  const deny = [...new Set([...one.deny, ...other.deny])];
  const [allow = [], ...alsoAllow] = [one, other]
    .flatMap((rules) => [rules.allow, ...(rules.alsoAllow ?? [])])
    .filter(({ length }) => length > 0);
  return { allow, deny, ...(alsoAllow.length === 0 ? {} : { alsoAllow }) };
}
