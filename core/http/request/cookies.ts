// Cookies of browsers, and the one that carries a session, which the pages of several plugins share.
import type { PublicCall } from '../endpoint.ts';

/** Cookie with the token of a browser's session. The API never accepts it: it is not a bearer token, and a cookie alone authenticates nothing. */
export const sessionCookie = '__Host-keystored-session';

/** The value of a cookie; undefined when it is absent or repeated (another host of the domain may have planted one). */
export function findCookie({ headers }: Pick<PublicCall, 'headers'>, name: string): string | undefined {
  const values = (headers['cookie'] ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Lax, because the redirect of an identity provider comes from another site; `__Host-` fixes Secure, the path and this host (RFC 6265bis 4.1.3). */
export function formatCookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=Lax`;
}

export function formatExpiredCookie(name: string): string {
  return formatCookie(name, '', 0);
}

/** Cookie with the target after a sign-in: a path of this listener, checked by the page that sends the browser there. */
const returnCookie = '__Host-keystored-return';
/** Time that a person needs at an identity provider. */
const returnSeconds = 900;

export function formatReturn(path: string): string {
  return formatCookie(returnCookie, encodeURIComponent(path), returnSeconds);
}

/** Returns the stored path, as the browser sends it: it must be checked again. */
export function findReturn(call: Pick<PublicCall, 'headers'>): string | undefined {
  const value = findCookie(call, returnCookie);
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

export const noReturn = formatExpiredCookie(returnCookie);
