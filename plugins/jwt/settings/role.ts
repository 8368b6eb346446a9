// The resource JWT role: which tokens of an issuer log in, what they get, and for how long.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { requireOwnBounds } from '../../../core/access/policy/granting.ts';
import { fail } from '../../../core/base/errors.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { defineResource, keptNames, type AnyResource, type Change, type Plan } from '../../../core/http/resource/resource.ts';
import { givesLess, requireKnownPolicies, requireLives, widenedTokens } from '../../../core/platform/sessions/login-role.ts';
import { findUnseen } from '../../../core/wire/unseen-text.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { Jwt } from '../context.ts';
import type { IssuerKind } from '../records/issuer-record.ts';
import { identify, identifyingClaims, warningsOf } from '../records/platforms.ts';
import { roleDocument, type RoleDocument, type RoleRecord } from '../records/role-record.ts';
import { isOnce, maxAgeSecondsOf } from '../records/rules.ts';
import { jwtTag } from '../tags.ts';
import { type Binding, prefixOf } from '../token/bindings.ts';
import { issuerPath } from './issuer.ts';

const stateFields = z.object({
  longestLife: z
    .string()
    .optional()
    .meta({ description: 'Longest life of a token that is taken, as stated or as the platform needs.', example: '3600s' }),
  once: z.boolean().optional().describe('`true` if a token logs in once only, as stated or as the platform needs.'),
  notices: z.array(z.string()).describe('What an administrator should know, in sentences.'),
});

export function roleResource(jwt: Jwt): AnyResource {
  return defineResource<RoleDocument, RoleRecord>({
    path: `${issuerPath}/{issuer}/roles`,
    tag: jwtTag,
    noun: 'JWT role',
    act: 'change-trust',
    removalEnds: 'deletes the role: no workload logs in by it, and the tokens of such logins end',
    nameField: 'name',
    scope: 'tenant',
    table: jwt.roles,
    document: roleDocument,
    stateFields,
    parentExists: ({ caller }, [issuer]) => jwt.issuers.has([caller.tenantId, issuer as string]),
    // Only holders of the policies may give them to more workloads.
    judgedBy: {
      ...Object.fromEntries(conditions.map((field) => [field, ['tokenPolicies']])),
      tokenBoundCidrs: ['tokenPolicies'],
      tokenTtl: ['tokenPolicies', 'tokenMaxTtl'],
      tokenMaxTtl: ['tokenPolicies', 'tokenTtl'],
    },
    warnings: ({ bindings }) => warningsOf(bindings),
    plan: (change) => planRole(jwt, change),
    planRemoval: ({ caller: { tenantId } }, [issuer = '', role = ''], { grant }) => ({
      commit(transaction) {
        jwt.accounts.endGrant(transaction, tenantId, grant);
        transaction.delete(jwt.rolePlaces, [tenantId, role, issuer]);
      },
    }),
    toDocument: ({ issuer: _issuer, kind: _kind, grant: _grant, ...document }) => document,
    toState: (record, _call, shows) => ({
      ...(shows('max-age') ? { longestLife: `${maxAgeSecondsOf(record)}s` } : {}),
      ...(shows('use') ? { once: isOnce(record) } : {}),
      notices: shows('bindings') ? [...warningsOf(record.bindings)] : [],
    }),
  });
}

/** Fields that say who can log in. */
const conditions = ['audience', 'audiences', 'bindings', 'maxAge', 'use', 'accessTokens'] as const;
/** Those of them with another value of which other workloads may match: then earlier tokens end. */
const whoMatches = ['audience', 'audiences', 'bindings', 'accessTokens'] as const;

function planRole(jwt: Jwt, change: Change<RoleDocument, RoleRecord>): Plan<RoleRecord, undefined> {
  const { call, names, document: wanted, current, blindly } = change;
  const { caller } = call;
  const { tenantId } = caller;
  const [issuer = '', name = ''] = names;
  const { accounts } = jwt;
  const kind = jwt.issuers.get([tenantId, issuer])?.kind ?? 'generic';
  const before = current?.tokenPolicies ?? [];
  const kept = keptNames(before, blindly('tokenPolicies'));
  accounts.requireHeld(caller, 'token-policies', wanted.tokenPolicies, kept);
  requireKnownPolicies(accounts, tenantId, wanted.tokenPolicies, kept);
  const wider = current === undefined ? undefined : widenedField(wanted, current, kind, blindly);
  if (wider !== undefined) accounts.requireHeld(caller, toKebab(wider), wanted.tokenPolicies, []);
  const gains = wanted.tokenPolicies.some((policy) => !before.includes(policy));
  if (current === undefined || wider !== undefined || gains) requireOwnBounds(caller, wanted);
  requireUsable(wanted, kind);
  const isLess =
    current !== undefined &&
    (givesLess(accounts, tenantId, wanted, current) || whoMatches.some((field) => !isDeepStrictEqual(wanted[field], current[field])));
  return {
    commit(transaction) {
      // Made again meanwhile, it may be of another platform, whose workloads other claims identify.
      if (transaction.get(jwt.issuers, [tenantId, issuer])?.kind !== kind) throw fail('not-found');
      if (isLess) accounts.endGrant(transaction, tenantId, current.grant);
      transaction.put(jwt.rolePlaces, [tenantId, name, issuer], true);
      const grant = current === undefined || isLess ? accounts.openGrant(transaction, tenantId) : current.grant;
      return { ...wanted, issuer, kind, grant };
    },
  };
}

/** Finds a field that gives the policies to more workloads, or for longer, or may do so as far as the caller can know. */
function widenedField(
  wanted: RoleDocument,
  current: RoleRecord,
  kind: IssuerKind,
  blindly: Change<RoleDocument, RoleRecord>['blindly'],
): keyof RoleDocument | undefined {
  const guessed = [...conditions, 'tokenTtl' as const, 'tokenMaxTtl' as const, 'tokenBoundCidrs' as const].find(
    (field) => blindly(field) !== undefined,
  );
  if (guessed !== undefined) return guessed;
  if (wanted.audience !== current.audience) return 'audience';
  if (wanted.audiences === 'any' && current.audiences === 'one') return 'audiences';
  // Further bindings let fewer in; one that goes or changes may let others in.
  if (!current.bindings.every((binding) => wanted.bindings.some((one) => isDeepStrictEqual(one, binding)))) return 'bindings';
  if (wanted.accessTokens && !current.accessTokens) return 'accessTokens';
  if (maxAgeSecondsOf({ kind, maxAge: wanted.maxAge }) > maxAgeSecondsOf(current)) return 'maxAge';
  if (isOnce(current) && !isOnce({ kind, use: wanted.use })) return 'use';
  return widenedTokens(wanted, current);
}

/** Throws `invalid-value`. */
function requireUsable(wanted: RoleDocument, kind: IssuerKind): void {
  const { bindings, audience } = wanted;
  if (findUnseen(audience) !== undefined) throw invalid('audience', 'must not contain unseen characters');
  for (const [index, binding] of bindings.entries()) {
    const rule = findBindingProblem(binding);
    if (rule !== undefined) throw invalid(`bindings/${index}`, rule);
  }
  if (!identify(kind, bindings))
    throw invalid(
      'bindings',
      `must have a claim that identifies a workload, by exact value: for kind ${kind} bind ${identifyingClaims(kind)}`,
    );
  requireLives(wanted);
}

function findBindingProblem({ claim, value, contains }: Binding): string | undefined {
  if (claim.startsWith('/') && (claim.includes('//') || claim.endsWith('/') || /~(?![01])/.test(claim)))
    return 'must name a claim, or be a JSON pointer without empty parts (RFC 6901: ~1 stands for a slash, ~0 for a tilde)';
  if (contains?.includes('*') === true) return 'must be an entry of the list as it is: * has no meaning in contains';
  if (typeof value !== 'string' || !value.includes('*')) return undefined;
  if (prefixOf(value) === undefined || value.indexOf('*') < value.length - 1)
    return 'must have * as its last segment alone, after / or :, such as repo:acme/app:* or spiffe://example.org/ns/*';
  return /^[^/:]+:(?:\/\/)?\*$|^\/+\*$/.test(value) ? 'must have more than a scheme before the *' : undefined;
}
