// The cookies of a browser: one binds logins under way to it, one carries its session, one names its last tenant. /v1 accepts none of them.
import { equalConstantTime, encodeUtf8 } from '../../../core/base/bytes.ts';
import { isName } from '../../../core/wire/fields.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { hashSecret } from '../records/sign-ins.ts';

/** 256 random bits that only this browser has; reused over concurrent logins, so that two tabs do not interfere. */
export const bindingCookie = '__Host-keystored-login';
export const sessionCookie = '__Host-keystored-session';

/** Only the name of the tenant of the last sign-in: the login page offers it again. */
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

/** The value of a cookie; undefined when it is absent or repeated (another host of the domain may have planted one). */
export function findCookie(call: Pick<PublicCall, 'headers'>, name: string): string | undefined {
  const values = (call.headers['cookie'] ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Whether a binding cookie is the one whose hash was kept when the login began. */
export function isBoundTo(binding: string, cookie: string | undefined): boolean {
  return cookie !== undefined && equalConstantTime(encodeUtf8(binding), encodeUtf8(hashSecret(cookie)));
}

/** Lax, because the provider's redirect comes from another site; `__Host-` fixes Secure, the path and this host (RFC 6265bis 4.1.3). */
export function formatCookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=Lax`;
}

export function formatExpiredCookie(name: string): string {
  return formatCookie(name, '', 0);
}
