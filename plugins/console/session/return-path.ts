// Where a person goes after the sign-in: the address of the console that they asked for, kept in a cookie meanwhile.
import { findCookie, formatCookie, formatExpiredCookie } from '../../../core/http/request/cookies.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';

const returnCookie = '__Host-keystored-return';
/** The time a person takes at an identity provider. */
const returnSeconds = 900;

/** A path of the console; undefined for anything else. It is parsed as browsers do, so that `//host` and `\` cannot lead elsewhere. */
export function returnPathOf(text: string): string | undefined {
  const here = 'https://console.invalid';
  const url = text.length <= 1_024 && URL.canParse(text, here) ? new URL(text, here) : undefined;
  return url?.origin === here && /^\/ui\/v1(?:\/|$)/.test(url.pathname) ? `${url.pathname}${url.search}` : undefined;
}

export function formatReturn(path: string): string {
  return formatCookie(returnCookie, encodeURIComponent(path), returnSeconds);
}

/** The address that was asked for before the sign-in. */
export function findReturn(call: Pick<PublicCall, 'headers'>): string | undefined {
  const value = findCookie(call, returnCookie);
  if (value === undefined) return undefined;
  try {
    return returnPathOf(decodeURIComponent(value));
  } catch {
    return undefined;
  }
}

export const noReturn = formatExpiredCookie(returnCookie);
