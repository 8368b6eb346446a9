// The identity policy of a CA: which names devices may have. Independent of the protocol, so that every protocol obeys the same rules.
import { isIP } from 'node:net';
import type { NameAttribute } from '../der/name.ts';
import { nameAttributes } from '../../../core/der/oids.ts';
import type { AlternativeName } from '../der/read-extensions.ts';

/** The fields of a CA that the policy reads (spec, CA resource). */
export type IdentityPolicy = {
  readonly allowedDomains: readonly string[];
  readonly allowSubdomains: boolean;
  readonly allowBareDomains: boolean;
  readonly allowIpSans: boolean;
  readonly allowedUris?: readonly string[] | undefined;
};

/** The names a request asks for: every common name and every alternative name counts (R49). */
export type RequestedIdentity = {
  readonly subjectAttributes: readonly NameAttribute[];
  readonly alternativeNames: readonly AlternativeName[];
};

/** Returns the reason for which the policy forbids an identity, as a clause for people; undefined if it allows every name. */
export function findForbiddenName(policy: IdentityPolicy, identity: RequestedIdentity): string | undefined {
  const commonNames = identity.subjectAttributes.filter(({ type }) => type === nameAttributes.CN);
  if (commonNames.length + identity.alternativeNames.length === 0) return 'the request has neither a common name nor an alternative name';
  for (const { value } of commonNames) {
    const problem = isAddress(value) ? problemOfAddress(policy, 'common name') : problemOfDomain(policy, value, 'common name');
    if (problem !== undefined) return problem;
  }
  for (const name of identity.alternativeNames) {
    const problem = problemOfAlternativeName(policy, name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfAlternativeName(policy: IdentityPolicy, { kind, content }: AlternativeName): string | undefined {
  if (kind === 'ip') {
    // Eight and 32 octets are subnets, which only name constraints have.
    if (content.length !== 4 && content.length !== 16) return 'an IP address has the wrong length';
    return problemOfAddress(policy, 'alternative name');
  }
  if (kind === 'dns') return problemOfDomain(policy, Buffer.from(content).toString('latin1'), 'DNS name');
  if (kind === 'uri') return problemOfUri(policy, Buffer.from(content).toString('latin1'));
  return `alternative names of kind ${kind} are never allowed`;
}

function problemOfAddress(policy: IdentityPolicy, where: string): string | undefined {
  return policy.allowIpSans ? undefined : `an IP address as ${where} needs allow-ip-sans`;
}

/** Compared octet by octet: the identities of SPIFFE are (SPIFFE-ID 2). */
function problemOfUri({ allowedUris = [] }: IdentityPolicy, uri: string): string | undefined {
  return allowedUris.some((allowed) => isUriWithin(allowed, uri)) ? undefined : 'a URI is not within allowed-uris';
}

/** A segment of a path that means the same to every reader: not percent-encoded, and neither `.` nor `..`. */
const segment = /^(?!\.\.?$)[A-Za-z0-9._~!$&'()+,;=:@-]+$/;

function isUriWithin(allowed: string, uri: string): boolean {
  if (!allowed.endsWith('/*')) return uri === allowed;
  const base = allowed.slice(0, -1);
  return (
    uri.startsWith(base) &&
    uri
      .slice(base.length)
      .split('/')
      .every((part) => segment.test(part))
  );
}

/** Tells whether a text is a URI with a host, and perhaps a path, or one with all that is below it: `spiffe://example.com/*`. */
export function isUriPattern(text: string): boolean {
  const [, host, path = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/]+)(?:\/(.*))?$/.exec(text) ?? [];
  if (host === undefined || normaliseDomain(host) === undefined) return false;
  const parts = path.endsWith('/*') ? path.slice(0, -2) : path === '*' ? '' : path;
  return parts === '' || parts.split('/').every((part) => segment.test(part));
}

/** Tells whether a certificate can have the address; one of an interface (`fe80::1%eth0`) it cannot. */
function isAddress(text: string): boolean {
  return isIP(text) > 0 && !text.includes('%');
}

/** Label by label and without regard to case (RFC 4343); one trailing dot does not matter. Empty allowed-domains allow nothing. */
function problemOfDomain(policy: IdentityPolicy, text: string, where: string): string | undefined {
  const name = normaliseDomain(text);
  if (name === undefined && text.startsWith('#'))
    return `a ${where} is of a type that is not a string: write it as UTF8String or PrintableString`;
  if (name === undefined) return `a ${where} is not a host name (wildcards are not allowed)`;
  for (const allowed of policy.allowedDomains) {
    const domain = normaliseDomain(allowed);
    if (domain === undefined) continue;
    if (policy.allowBareDomains && name === domain) return undefined;
    if (policy.allowSubdomains && name.endsWith(`.${domain}`)) return undefined;
  }
  return `a ${where} is not within allowed-domains, allow-bare-domains and allow-subdomains`;
}

/** Lower case, no trailing dot; undefined unless every label is letters, digits, hyphens and underscores (IDN as A-labels, R51). */
export function normaliseDomain(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  return name.length <= 253 && /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/.test(name)
    ? name
    : undefined;
}
