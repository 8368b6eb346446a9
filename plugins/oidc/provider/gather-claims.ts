// Collects the claims of one login: from the ID token, from UserInfo if a needed claim is missing, and groups from the directory.
import { defined } from '../../../core/base/defined.ts';
import { findClaim, topLevelName, withoutNull, type Claims } from '../../../core/identity/claims.ts';
import { fetchGroups, isOverage } from './directory.ts';
import { fetchUserInfo, type Exchanged, type ProviderSession } from './token-exchange.ts';
import { LoginFailure } from '../failures.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { neededClaims, type RoleRule } from '../../../core/identity/role-match.ts';

export type GatherRequest = {
  readonly provider: ProviderSession;
  readonly exchanged: Exchanged;
  readonly roleClaim: string;
  readonly roles: readonly RoleRule[];
  /** opens an Outbound for the directory, with one time limit for all pages */
  openDirectory(): Outbound;
  /** reads the groups where the service says that they are in a directory; throws LoginFailure */
  readonly readGroups?: ((directory: Outbound) => Promise<readonly string[]>) | undefined;
  /** writes to system:logs, about this login */
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
};

/**
 * The claims for the selection of roles. The ID token wins over UserInfo; the directory's answer replaces the role claim. Failures of
 * UserInfo and of the directory of an overage are logged and ignored, because other roles may not need the missing claims; a foreign subject, and
 * what `readGroups` throws, end the login.
 */
export async function gatherClaims(request: GatherRequest): Promise<Claims> {
  const { exchanged, roleClaim, readGroups } = request;
  const own = exchanged.idToken.claims;
  const overage = isOverage(own, roleClaim);
  const isElsewhere = overage || readGroups !== undefined;
  const claims = needsUserInfo(request, isElsewhere) ? { ...(await readUserInfo(request)), ...withoutNull(own) } : own;
  if (readGroups !== undefined) return { ...claims, [topLevelName(roleClaim) ?? roleClaim]: await readGroups(request.openDirectory()) };
  if (!overage || findClaim(claims, roleClaim) !== undefined) return claims;
  const groups = await readDirectory(request);
  const member = topLevelName(roleClaim);
  return groups === undefined || member === undefined ? claims : { ...claims, [member]: groups };
}

function needsUserInfo({ provider, exchanged, roleClaim, roles }: GatherRequest, isElsewhere: boolean): boolean {
  if (provider.metadata.userinfo_endpoint === undefined) return false;
  const needed = neededClaims(roleClaim, roles).filter((name) => !(isElsewhere && name === roleClaim));
  return needed.some((name) => findClaim(exchanged.idToken.claims, name) === undefined);
}

async function readUserInfo(request: GatherRequest): Promise<Claims> {
  try {
    const answer = await fetchUserInfo(request.provider, request.exchanged);
    // Only the ID token may refer to the directory, because UserInfo is not bound to this login.
    const { _claim_names: _names, _claim_sources: _sources, hasgroups: _marker, ...claims } = answer;
    return claims;
  } catch (error) {
    if (!(error instanceof LoginFailure) || error.code === 'id-token-refused') throw error;
    request.warn('UserInfo of the provider failed; the sign-in continues with the claims of the ID token', {
      stage: error.stage,
      reason: error.reason,
      ...defined({ hint: error.hint }),
      ...error.fields,
    });
    return {};
  }
}

async function readDirectory(request: GatherRequest): Promise<readonly string[] | undefined> {
  const { provider, exchanged, roleClaim } = request;
  const answer = await fetchGroups({
    metadata: provider.metadata,
    claims: exchanged.idToken.claims,
    clientId: provider.settings.clientId,
    accessToken: exchanged.accessToken,
    outbound: request.openDirectory(),
  });
  if ('groups' in answer) return answer.groups;
  request.warn(`The role-select claim ${roleClaim} is missing: the account is in too many groups, and fetching them failed`, {
    stage: 'directory',
    reason: answer.reason,
    hint: answer.hint,
    ...answer.fields,
  });
  return undefined;
}
