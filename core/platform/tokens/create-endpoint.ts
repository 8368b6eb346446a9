// Creates child tokens: with some of the policies of the parent, and never valid when or where the parent is not (api 47, 49).
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { cidrsField } from '../../base/addresses.ts';
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import { parseDuration, type Duration } from '../../base/time.ts';
import { durationField } from '../../wire/fields.ts';
import { defineEndpoint, type AnyEndpoint } from '../../http/endpoint.ts';
import { givenPolicy, naming } from '../../http/named-entries.ts';
import { requireHeld, requirePolicies } from '../../access/policy/granting.ts';
import type { Policies } from '../../access/policy/policies.ts';
import type { Store } from '../../store/store.ts';
import { formatIssuedToken, issuedTokenOutput } from './issued-token.ts';
import { ancestorsOf, isWorking, mostAncestors, tokenTable, type Read } from '../../access/tokens/record.ts';
import { drawToken, issueToken } from '../../access/tokens/tokens.ts';
import { tags } from '../../http/tags.ts';

const usualTtl = parseDuration('1d', 'ttl');
const usualMaxTtl = parseDuration('32d', 'max-ttl');

const input = z.object({
  policies: z
    .array(naming(z.string().max(128), givenPolicy))
    .max(64)
    .meta({ whenEmpty: [] })
    .optional()
    .meta({ description: 'Policies of the caller; unless given, all of them.', example: ['rewrap-only'] }),
  ttl: durationField({ minSeconds: 1 }).optional().meta({ description: 'Its life, and what a refresh gives; default 1d.', example: '1h' }),
  maxTtl: durationField({ minSeconds: 1 })
    .optional()
    .meta({ description: 'Its longest life over all refreshes; default 32d.', example: '7d' }),
  boundCidrs: cidrsField()
    .default([])
    .meta({ description: 'Ranges of addresses it works from; default: from anywhere.', example: ['10.1.0.0/16'] }),
});

export type TokenCreateOptions = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly policies: Policies;
};

/** `POST /v1/state/keystore/token/create`. */
export function tokenCreateEndpoint({ store, hsm, clock, policies }: TokenCreateOptions): AnyEndpoint {
  return defineEndpoint<z.output<typeof input>, z.output<typeof issuedTokenOutput>>({
    method: 'POST',
    path: '/v1/state/keystore/token/create',
    act: 'none',
    access: 'token',
    operation: 'execute',
    tag: tags.tokens,
    summary: 'Make a token with policies of the own one',
    description:
      'The new token is a child: it ends with the caller’s token and works only from where that one works. Its user stays the caller’s.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    secretOutput: ['token'],
    commandLine: { output: 'token' },
    auditFields: ['policies', 'ttl', 'maxTtl', 'boundCidrs'],
    errors: ['token-lineage-too-long'],
    complete: ({ caller }, given) => ({ ...given, policies: given.policies ?? [...caller.policies], ...livesOf(given) }),
    async run(call, { policies: names = call.caller.policies, boundCidrs, ...given }) {
      requireHeld(policies, call.caller, 'policies', names, []);
      requirePolicies(policies, call.caller, 'policies', names, call.caller.policies);
      const lives = livesOf(given);
      const [ttlSeconds, maxTtlSeconds] = [lives.ttl.seconds, lives.maxTtl.seconds];
      if (ttlSeconds > maxTtlSeconds)
        throw fail('invalid-value', {
          detail: '"ttl" must not be longer than "max-ttl".',
          items: [{ message: 'must not be longer than max-ttl', info: 'ttl' }],
        });
      const { tenantId, accessor: parent, user } = call.caller;
      const token = await drawToken(hsm);
      const issued = await store.write((transaction) => {
        // The parent may have been disabled while the token was drawn.
        const read: Read = (table, key) => transaction.get(table, key);
        const own = read(tokenTable(store), [tenantId, parent]);
        if (own === undefined || !isWorking(store, own, call.now, read)) throw fail('invalid-token');
        requirePolicies(policies, call.caller, 'policies', names, call.caller.policies, read);
        if (ancestorsOf(store, own, read).length >= mostAncestors)
          throw fail('token-lineage-too-long', { detail: `A token may descend from at most ${mostAncestors} others.` });
        const grant = { tenantId, user, policies: [...names], ttlSeconds, maxTtlSeconds, parent, boundCidrs };
        return issueToken(transaction, store, clock, token, grant);
      });
      const made = { policies: names, ttl: lives.ttl.text, 'max-ttl': lives.maxTtl.text, 'bound-cidrs': boundCidrs, made: issued.accessor };
      call.noteAudit({ requestParameters: made });
      return formatIssuedToken(issued);
    },
  });
}

/** Lifetimes of a token, with defaults; the longest one is at least the first one. */
function livesOf({ ttl, maxTtl }: Pick<z.output<typeof input>, 'ttl' | 'maxTtl'>): { readonly ttl: Duration; readonly maxTtl: Duration } {
  const longest = maxTtl ?? (ttl !== undefined && ttl.seconds > usualMaxTtl.seconds ? ttl : usualMaxTtl);
  return { ttl: ttl ?? (longest.seconds < usualTtl.seconds ? longest : usualTtl), maxTtl: longest };
}
