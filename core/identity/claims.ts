// Claims of a provider about a person: how one is found by name or pointer, and how its text is made safe to show.
import { type JsonObject, type JsonValue, isJsonObject } from '../wire/json.ts';
import { replaceUnseen } from '../wire/unseen-text.ts';

/** Claims are JSON; the provider chooses the names. */
export type Claims = JsonObject;

/**
 * The claim of that name; undefined when it is absent or null. A name that starts with `/` is a JSON pointer (RFC 6901) into nested
 * claims, as `/realm_access/roles` of Keycloak. Inherited properties are never found.
 */
export function findClaim(claims: Claims, name: string): JsonValue | undefined {
  const path = name.startsWith('/') ? name.slice(1).split('/').map(decodePointerToken) : [name];
  let value: JsonValue | undefined = claims;
  for (const step of path) {
    if (Array.isArray(value)) value = /^(?:0|[1-9]\d*)$/.test(step) ? (value as readonly JsonValue[])[Number(step)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value ?? undefined;
}

/** The claims that are there: null is as absent. */
export function withoutNull(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
}

/** The top-level claim that a name refers to; undefined for a pointer to a nested claim. */
export function topLevelName(name: string): string | undefined {
  if (!name.startsWith('/')) return name;
  return name.includes('/', 1) ? undefined : decodePointerToken(name.slice(1));
}

function decodePointerToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Most characters of a claim that are shown or logged. */
const shownTextLength = 256;

/** Makes a foreign text safe for audit, log and page: no control, direction or zero-width characters, trimmed, at most 256 characters. */
export function showableText(text: string, length: number = shownTextLength): string {
  return Array.from(replaceUnseen(text.toWellFormed()).trim()).slice(0, length).join('');
}
