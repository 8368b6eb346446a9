// Creates child tokens: with some of the policies of the parent, and never valid when or where the parent is not.
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import { cidrsField } from '../../base/addresses.ts';
import type { Clock } from '../../base/context.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import type { Caller } from '../../access/caller.ts';
import { parseDuration, type Duration } from '../../base/time.ts';
import { durationField, integer } from '../../wire/fields.ts';
import { defineEndpoint, type AnyEndpoint } from '../../http/endpoint.ts';
import { givenPolicy, naming } from '../../http/named-entries.ts';
import { requireHeld, requirePolicies, requireUnbound, requireUncounted } from '../../access/policy/granting.ts';
import type { Policies } from '../../access/policy/policies.ts';
import type { Store } from '../../store/store.ts';
import { formatIssuedToken, issuedTokenOutput } from './issued-token.ts';
import { inheritedBy, type Lineage, lineageOf, mostAncestors, type Read, tokenTable, worksAt } from '../../access/tokens/record.ts';
import { drawToken, issueToken, type TokenGrant } from '../../access/tokens/tokens.ts';
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
  period: durationField({ minSeconds: 1 })
    .optional()
    .meta({ description: 'Instead of both: its life, which a refresh gives again however often.', example: '24h' }),
  uses: integer(1, 1_000_000).optional().meta({
    description: 'How many requests it can make; unless given, any number. One that is refused by the checks takes none.',
    example: 1,
  }),
  orphan: z
    .boolean()
    .default(false)
    .describe('It goes on without the caller’s token, which must have the policy `root`, and ends with what that one’s login ends with.'),
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
      'The new token is a child: it ends with the caller’s token and works only from where that one works, unless it is an `orphan`. Its user stays the caller’s. ' +
      'A token with a number of `uses` makes no others, and no secret-ids.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    secretOutput: ['token'],
    commandLine: { output: 'token' },
    auditFields: ['policies', 'ttl', 'maxTtl', 'period', 'uses', 'orphan', 'boundCidrs'],
    errors: ['token-lineage-too-long'],
    complete: ({ caller }, given) => ({ ...given, policies: given.policies ?? [...caller.policies], ...livesOf(given) }),
    async run(call, { policies: names = call.caller.policies, boundCidrs, uses, orphan, ...given }) {
      requireUncounted(call.caller, 'A token');
      if (orphan) requireOrphanMaker(call.caller);
      requireHeld(policies, call.caller, 'policies', names, []);
      requirePolicies(policies, call.caller, 'policies', names, call.caller.policies);
      const { period } = given;
      if (period !== undefined && (given.ttl !== undefined || given.maxTtl !== undefined))
        throw fail('invalid-value', { detail: '"period" stands instead of "ttl" and "max-ttl": give it alone.' });
      const lives = livesOf(given);
      const [ttlSeconds, maxTtlSeconds] = [lives.ttl.seconds, lives.maxTtl?.seconds ?? ('endless' as const)];
      if (maxTtlSeconds !== 'endless' && ttlSeconds > maxTtlSeconds)
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
        const lineage = own && lineageOf(store, own, read);
        if (lineage === undefined || !worksAt(lineage, call.now)) throw fail('invalid-token');
        requirePolicies(policies, call.caller, 'policies', names, call.caller.policies, read);
        if (!orphan && lineage.length > mostAncestors)
          throw fail('token-lineage-too-long', { detail: `A token may descend from at most ${mostAncestors} others.` });
        const grant = { tenantId, user, policies: [...names], ttlSeconds, maxTtlSeconds, boundCidrs, ...defined({ usesLeft: uses }) };
        return issueToken(transaction, store, clock, token, { ...grant, ...(orphan ? orphanOf(lineage) : { parent }) });
      });
      const made = {
        ...defined({ ttl: lives.ttl.text, 'max-ttl': lives.maxTtl?.text, period: period?.text, uses }),
        ...{ policies: names, orphan, 'bound-cidrs': boundCidrs, made: issued.accessor },
      };
      call.noteAudit({ requestParameters: made });
      return formatIssuedToken(issued);
    },
  });
}

/** Requires that a caller may leave a token behind. Throws `policy-denied`. */
function requireOrphanMaker(caller: Caller): void {
  if (!caller.policies.includes('root'))
    throw fail('policy-denied', {
      detail: 'A token that goes on without yours needs the policy "root": leave "orphan" out, or have root make it.',
      items: [{ message: 'needs the policy root', info: 'orphan' }],
    });
  requireUnbound(caller, 'An orphan');
}

/** Origin of a token that goes on without the one that made it: the same person or program, who counts once for approvals. */
function orphanOf(lineage: Lineage) {
  const [{ tenantId, accessor, identity, behind }] = lineage;
  return { ...inheritedBy(lineage), ...defined({ behind }), identity, madeBy: { tenantId, accessor } } satisfies Partial<TokenGrant>;
}

type Lives = { readonly ttl: Duration; readonly maxTtl?: Duration };

/** Lifetimes of a token, with defaults; the longest one is at least the first one, and absent if refreshes have no end. */
function livesOf({ ttl, maxTtl, period }: Pick<z.output<typeof input>, 'ttl' | 'maxTtl' | 'period'>): Lives {
  if (period !== undefined) return { ttl: period };
  const longest = maxTtl ?? (ttl !== undefined && ttl.seconds > usualMaxTtl.seconds ? ttl : usualMaxTtl);
  return { ttl: ttl ?? (longest.seconds < usualTtl.seconds ? longest : usualTtl), maxTtl: longest };
}
