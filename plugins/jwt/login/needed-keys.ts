// The keys that a login needs: those of every issuer that its token names.
import { ServiceError } from '../../../core/base/errors.ts';
import { hasRoles, type Jwt } from '../context.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import { type ParsedToken, readHeader } from '../token/compact.ts';
import { TokenRefused } from '../token/refusal.ts';
import { findTenant, isNamedBy } from './target.ts';

/** Issuers with one `iss` of which a login has keys fetched. */
const mostIssuers = 16;

/**
 * Has the keys fetched that are not at hand, of every issuer of the tenant that the token names, whatever the role is. Nothing is fetched for a header
 * that is refused. Returns the `issuer-unavailable` of an issuer that may be meant.
 */
export async function fetchKeysFor(
  jwt: Jwt,
  { tenant: tenantName, issuer: named }: { readonly tenant: string; readonly issuer?: string | undefined },
  token: ParsedToken,
): Promise<ServiceError | undefined> {
  if (!isHeaderTaken(token)) return undefined;
  const { kid } = readHeader(token);
  const tenant = findTenant(jwt, tenantName);
  const issuers = Iterator.from(jwt.issuers.entries([tenant.id]))
    .map(([, record]): LocatedIssuer => ({ tenantId: tenant.id, tenantName: tenant.name, issuer: record.name, record }))
    .filter((located) => isNamedBy(token, located) && !isAtHand(jwt, token, located) && hasRoles(jwt, located))
    .take(mostIssuers);
  const outcomes = await Promise.all(
    Array.from(issuers, async (located) => {
      try {
        await jwt.issuerKeys.keysFor(located, kid);
        return undefined;
      } catch (error) {
        if (isUnavailable(error)) return named === undefined || named === located.issuer ? error : undefined;
        throw error;
      }
    }),
  );
  return outcomes.find((error) => error !== undefined);
}

/** Tells whether the token can be judged by keys of the issuer without a fetch. */
export function isAtHand(jwt: Jwt, token: ParsedToken, located: LocatedIssuer): boolean {
  return located.record.staticKeys !== undefined || jwt.issuerKeys.knows(located, token.header['kid']);
}

function isHeaderTaken(token: ParsedToken): boolean {
  try {
    readHeader(token);
    return true;
  } catch (error) {
    if (error instanceof TokenRefused) return false;
    throw error;
  }
}

/** Tells whether an issuer is away, so that its tokens can be judged later. */
export function isUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'issuer-unavailable';
}
