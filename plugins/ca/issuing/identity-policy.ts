// The identity policy of a CA: which names devices may have. Independent of the protocol, so that every protocol obeys the same rules.
import { isIP } from 'node:net';
import type { NameAttribute } from '../../../core/der/name.ts';
import { nameAttributes } from '../../../core/der/oids.ts';
import { Reader } from '../../../core/der/der.ts';
import { parseIpAddress } from '../../../core/der/ip.ts';
import { dnsName, email, ipAddress, uri } from '../der/extensions.ts';
import { type AlternativeName, readGeneralName } from '../der/read-extensions.ts';
import type { AllowedBases } from './name-constraints.ts';
import { normaliseDomain } from '../names/domain.ts';
import { isEmailWithin } from '../names/mail.ts';
import { isOtherNameWithin, otherName, parseOtherName } from '../names/other-name.ts';

/** The fields of a CA that the policy reads. */
export type IdentityPolicy = {
  readonly allowedDomains: readonly string[];
  readonly allowSubdomains: boolean;
  readonly allowBareDomains: boolean;
  readonly allowIpSans: boolean;
  readonly allowWildcards?: boolean | undefined;
  readonly allowedUris?: readonly string[] | undefined;
  readonly allowedEmails?: readonly string[] | undefined;
  readonly allowedOtherNames?: readonly string[] | undefined;
};

/** Lists the names that a policy allows, by field, as bases of name constraints; fields that allow nothing are left out. */
export function allowedBases(policy: IdentityPolicy): AllowedBases[] {
  const {
    allowedDomains,
    allowBareDomains,
    allowSubdomains,
    allowedUris = [],
    allowedEmails = [],
    allowedOtherNames = [],
    allowIpSans,
  } = policy;
  // With a dot before it only what is below it.
  const dot = allowSubdomains && !allowBareDomains ? '.' : '';
  const rows = [
    { field: 'allowedDomains', values: allowedDomains, base: (text: string) => dnsName(dot + (normaliseDomain(text) ?? text)) },
    { field: 'allowedUris', values: allowedUris, base: (text: string) => uri(text.split('/')[2] ?? '') },
    { field: 'allowedEmails', values: allowedEmails, base: (text: string) => email(text.replace(/^\*@/, '')) },
    { field: 'allowedOtherNames', values: allowedOtherNames, base: otherNameOf },
    { field: 'allowIpSans', values: allowIpSans ? ['0.0.0.0', '::'] : [], base: everyAddress },
  ] as const;
  return rows
    .filter(({ values }) => values.length > 0)
    .map(({ field, values, base }) => ({
      field,
      values: field === 'allowIpSans' ? ['true'] : values,
      bases: values.map((value) => readGeneralName(new Reader(base(value)).next())),
    }));
}

/** The name of a pattern, which counts by its kind alone. */
const otherNameOf = (text: string): Uint8Array => otherName(parseOtherName(text) ?? { type: '2.5.4.3', value: text });

/** Address and mask of zeros: all of its length. */
function everyAddress(zero: string): Uint8Array {
  const address = parseIpAddress(zero);
  return ipAddress(Uint8Array.of(...address, ...address));
}

/** The names a request asks for: every common name, mail address of the subject and alternative name counts. */
export type RequestedIdentity = {
  readonly subjectAttributes: readonly NameAttribute[];
  readonly alternativeNames: readonly AlternativeName[];
};

/** Returns the reason for which the policy forbids an identity, as a clause for people; undefined if it allows every name. */
export function findForbiddenName(policy: IdentityPolicy, identity: RequestedIdentity): string | undefined {
  const valuesOf = (wanted: string): string[] => identity.subjectAttributes.flatMap(({ type, value }) => (type === wanted ? [value] : []));
  const commonNames = valuesOf(nameAttributes.CN);
  if (commonNames.length + identity.alternativeNames.length === 0) return 'the request has neither a common name nor an alternative name';
  for (const value of commonNames) {
    const problem = isAddress(value) ? problemOfAddress(policy, 'common name') : problemOfDomain(policy, value, 'common name');
    if (problem !== undefined) return problem;
  }
  // Verifiers take it for a mail address of the holder, as one among the alternative names (RFC 5280 4.1.2.6).
  const mail = valuesOf(nameAttributes.E).find((value) => !isEmailWithin(policy.allowedEmails ?? [], value));
  if (mail !== undefined) return 'a mail address of the subject is not within allowed-emails';
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
  const { allowedEmails = [], allowedOtherNames = [] } = policy;
  if (kind === 'email')
    return isEmailWithin(allowedEmails, Buffer.from(content).toString('latin1'))
      ? undefined
      : 'a mail address is not within allowed-emails';
  if (kind === 'otherName')
    return isOtherNameWithin(allowedOtherNames, content) ? undefined : 'an otherName is not within allowed-other-names';
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
  const isWildcard = text.startsWith('*.');
  if (isWildcard && policy.allowWildcards !== true) return `a wildcard as ${where} needs allow-wildcards`;
  const name = normaliseDomain(isWildcard ? text.slice(2) : text);
  if (name === undefined && text.startsWith('#'))
    return `a ${where} is of a type that is not a string: write it as UTF8String or PrintableString`;
  if (name === undefined) return `a ${where} is not a host name`;
  for (const allowed of policy.allowedDomains) {
    const domain = normaliseDomain(allowed);
    if (domain === undefined) continue;
    // All that a wildcard means is below the domain.
    if (policy.allowBareDomains && !isWildcard && name === domain) return undefined;
    if (policy.allowSubdomains && (name.endsWith(`.${domain}`) || (isWildcard && name === domain))) return undefined;
  }
  return `a ${where} is not within allowed-domains, allow-bare-domains and allow-subdomains`;
}
