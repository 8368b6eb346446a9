// The roles that a login may mean, and the judgement of its token by one of them.
import { hash, type KeyObject } from 'node:crypto';
import type { Jwt } from '../context.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import type { RoleRecord } from '../records/role-record.ts';
import { issuerRulesOf, roleRulesOf } from '../records/rules.ts';
import { type ParsedToken, readHeader } from '../token/compact.ts';
import { isTrustDomain, type JudgedToken, judgeToken, verifyToken } from '../token/judge.ts';
import { TokenRefused } from '../token/refusal.ts';

/** A role that a login may mean. */
export type Target = { readonly located: LocatedIssuer; readonly name: string; readonly role: RoleRecord };

/** Roles with one name that are tried; several only where issuers have the same `iss`. */
const mostTargets = 4;

/**
 * The roles of this name whose issuer the token names: first those whose keys are at hand and may have signed it, so that an issuer that is away keeps
 * nobody waiting, then by the names of issuers.
 */
export function findTargets(
  jwt: Jwt,
  {
    tenant: tenantName,
    role: name,
    issuer: named,
  }: { readonly tenant: string; readonly role: string; readonly issuer?: string | undefined },
  token: ParsedToken,
): readonly Target[] {
  const tenant = findTenant(jwt, tenantName);
  const targets: Target[] = [];
  for (const key of jwt.rolePlaces.keys([tenant.id, name])) {
    const issuer = String(key.at(-1));
    if (named !== undefined && issuer !== named) continue;
    const located = jwt.locate(tenant, issuer);
    const role = jwt.roles.get([tenant.id, issuer, name]);
    if (located === undefined || role === undefined) continue;
    if (isNamedBy(token, located)) targets.push({ located, name, role });
  }
  const { kid } = token.header;
  const [now, later] = [true, false].map((wanted) => targets.filter(({ located }) => jwt.issuerKeys.knows(located, kid) === wanted));
  return [...(now ?? []), ...(later ?? [])].slice(0, mostTargets);
}

/** The id of no tenant. It is looked up for an unknown tenant, so that this takes as long as for a known one. */
const noTenantId = '00000000-0000-0000-0000-000000000000';

/** The tenant of that name, or one that has nothing. */
export function findTenant(jwt: Jwt, name: string): { readonly id: string; readonly name: string } {
  return jwt.accounts.findTenant(name) ?? { id: noTenantId, name };
}

/** Tells whether a token says that it is of an issuer. */
export function isNamedBy({ claims: { iss } }: ParsedToken, { record: { issuer } }: LocatedIssuer): boolean {
  return iss === issuer || (iss === undefined && isTrustDomain(issuer));
}

/** A token that has passed all checks but that of its use. `signedBy`: SHA-256 of the public key, hexadecimal. */
export type SignedToken = JudgedToken & { readonly signedBy: string };

/** All checks of a token but its use. Throws TokenRefused, and ServiceError `issuer-unavailable`. */
export async function judge(jwt: Jwt, token: ParsedToken, { located, role }: Target, now: Temporal.Instant): Promise<SignedToken> {
  const header = readHeader(token);
  const keys = await jwt.issuerKeys.keysFor(located, header.kid);
  const rules = issuerRulesOf(located.record);
  const { key } = verifyToken(token, rules, keys);
  try {
    const judged = judgeToken(token, header, rules, roleRulesOf(role), now.epochMilliseconds / 1_000);
    return { ...judged, signedBy: keyDigestOf(key) };
  } catch (error) {
    throw error instanceof TokenRefused ? refuseVerified(error) : error;
  }
}

/** `signedBy` of a token that a key has signed. */
export function keyDigestOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'hex');
}

/** Refusals of tokens whose signature is right. */
const verified = new WeakSet<TokenRefused>();

/** Refuses a token that the issuer has signed. */
export function refuseVerified(refused: TokenRefused): TokenRefused {
  verified.add(refused);
  return refused;
}

/** Tells whether the refused token was signed by the issuer. */
export function isOfIssuer(refused: TokenRefused): boolean {
  return verified.has(refused);
}
