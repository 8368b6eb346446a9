// The cookies of sign-ins: one binds logins under way to the browser, one names its last tenant. /v1 accepts none of them.
import { equalConstantTime, encodeUtf8 } from '../../../core/base/bytes.ts';
import { isName } from '../../../core/wire/fields.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { findCookie, formatCookie } from '../../../core/http/request/cookies.ts';
import { hashOf } from '../../../core/base/hash.ts';

/** 256 random bits that only this browser has; reused over concurrent logins, so that two tabs do not interfere. */
export const bindingCookie = '__Host-keystored-login';

/** Cookie with only the name of the tenant of the last sign-in: the login page offers it again. */
const lastTenantCookie = '__Host-keystored-tenant';
const lastTenantSeconds = 180 * 86_400;

/** Set after a sign-in that worked: before that, nothing shows that the person belongs to the tenant. */
export function formatLastTenant(tenantName: string): string {
  return formatCookie(lastTenantCookie, tenantName, lastTenantSeconds);
}

export function findLastTenant(call: Pick<PublicCall, 'headers'>): string | undefined {
  const name = findCookie(call, lastTenantCookie);
  return name !== undefined && isName(name) ? name : undefined;
}

/** Tells whether a binding cookie is the one whose hash was kept when the login began. */
export function isBoundTo(binding: string, cookie: string | undefined): boolean {
  return cookie !== undefined && equalConstantTime(encodeUtf8(binding), encodeUtf8(hashOf(cookie)));
}
