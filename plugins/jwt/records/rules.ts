// Rules of the judge from the records of an issuer and a role.
import { parseDuration } from '../../../core/base/time.ts';
import type { IssuerRules, RoleRules } from '../token/judge.ts';
import type { IssuerRecord } from './issuer-record.ts';
import { platforms } from './platforms.ts';
import type { RoleRecord } from './role-record.ts';

export function issuerRulesOf({ issuer, algorithms, clockTolerance }: IssuerRecord): IssuerRules {
  return { issuer, algorithms, toleranceSeconds: parseDuration(clockTolerance, 'clock-tolerance').seconds };
}

export function roleRulesOf(role: RoleRecord): RoleRules {
  const { audience, audiences, bindings, accessTokens } = role;
  return { audience, audiences, bindings, accessTokens, maxAgeSeconds: maxAgeSecondsOf(role) };
}

/** Longest life of a token that the role takes. */
export function maxAgeSecondsOf({ kind, maxAge }: Pick<RoleRecord, 'kind' | 'maxAge'>): number {
  return maxAge === undefined ? platforms[kind].maxAgeSeconds : parseDuration(maxAge, 'max-age').seconds;
}

/** Tells whether a token logs in once only. */
export function isOnce({ kind, use }: Pick<RoleRecord, 'kind' | 'use'>): boolean {
  return use === 'auto' ? platforms[kind].once : use === 'once';
}
