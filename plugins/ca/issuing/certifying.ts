// Input of `certify-ca`, and its effect for requests that amount to it: a CA here that another one certifies.
import { isIP } from 'node:net';
import { z } from 'zod';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import type { Effect } from '../../../core/access/access-control.ts';
import { integer } from '../../../core/wire/fields.ts';
import { shapeOf, toKebab } from '../../../core/wire/schema.ts';
import { readMailbox } from '../names/mail.ts';
import { dnsName, email, ipAddress, nameConstraints, uri } from '../der/extensions.ts';
import { parseIpAddress } from '../../../core/der/ip.ts';
import { normaliseDomain } from '../names/domain.ts';
import { nameLimitFields, type NameLimits } from '../records/records.ts';
import { signingInput } from './signing.ts';

const host = (rule: string) =>
  z.string().refine((text) => isIP(text) === 0 && normaliseDomain(text.replace(/^\./, '')) !== undefined, rule);

type LimitRow = {
  readonly element: z.ZodString;
  readonly words: string;
  /** encoded GeneralName of a base */
  readonly base: (text: string) => Uint8Array;
  readonly isExcluded?: true;
};

/** Every limit on names, as users write it and as an extension states it. */
const limits: Readonly<Record<(typeof nameLimitFields)[number], LimitRow>> = {
  permittedDomains: {
    element: host('must be a domain such as example.com'),
    words: 'Host names below it are within these domains; none: no limit.',
    base: (text) => dnsName(normaliseHost(text)),
  },
  excludedDomains: {
    element: host('must be a domain such as example.com'),
    words: 'Host names below it are not within these domains.',
    base: (text) => dnsName(normaliseHost(text)),
    isExcluded: true,
  },
  permittedUriHosts: {
    element: host('must be a host such as example.com, or a domain with a dot before it'),
    words: 'Hosts of URIs below it, as that of a trust domain of SPIFFE; with a dot before a domain, those below it; none: no limit.',
    base: (text) => uri(normaliseHost(text)),
  },
  permittedIpRanges: {
    element: z.string().refine((text) => subtreeOf(text) !== undefined, 'must be a range such as 10.0.0.0/8'),
    words: 'IP addresses below it are within these ranges; none: no limit.',
    base: (text) => ipAddress(subtreeOf(text) ?? new Uint8Array()),
  },
  permittedEmails: {
    element: z
      .string()
      .max(320)
      .refine(
        (text) => mailBaseOf(text) !== undefined,
        'must be a mail address such as alice@example.com, a host, or a domain with a dot before it',
      ),
    words: 'Mail addresses below it are these, or of these hosts; with a dot before a domain, of hosts below it; none: no limit.',
    base: (text) => email(mailBaseOf(text) ?? ''),
  },
};

type LimitShape<Field> = Record<(typeof nameLimitFields)[number], Field>;
const shapeFrom = <Field>(make: (list: z.ZodArray<z.ZodString>, words: string) => Field): LimitShape<Field> =>
  Object.fromEntries(
    nameLimitFields.map((field) => [field, make(z.array(limits[field].element).max(100), limits[field].words)]),
  ) as LimitShape<Field>;

/** Limits on the names below a CA here, as its certificate states them. */
export const nameLimits = z.object(shapeFrom((list, words) => list.min(1).optional().describe(words)));

export const certifyingInput = z.object({
  ...signingInput.pick({ csr: true, ttl: true }).shape,
  pathLength: integer(0, 8).default(0).describe('How many CAs may be below it; 0: it certifies no CA.'),
  ...shapeFrom((list, words) => list.default([]).describe(words)),
});

/** The limits of a document that states any. */
export function nameLimitsOf(document: NameLimits): { readonly nameLimits?: NameLimits } {
  const stated = nameLimitFields.flatMap((field) => (document[field] === undefined ? [] : [[field, document[field]] as const]));
  return stated.length === 0 ? {} : { nameLimits: Object.fromEntries(stated) };
}

/** The limits as an extension of the certificate of the CA; none without limits. */
export function constraintsOf(stated: NameLimits): readonly Uint8Array[] {
  const basesOf = (isExcluded: boolean): Uint8Array[] =>
    nameLimitFields.flatMap((field) =>
      (limits[field].isExcluded ?? false) === isExcluded ? (stated[field] ?? []).map(limits[field].base) : [],
    );
  return nameConstraints(basesOf(false), basesOf(true));
}

/** A mailbox, a host, or a domain with a dot before it (RFC 5280 4.2.1.10), in one form. */
function mailBaseOf(text: string): string | undefined {
  if (!text.includes('@')) return normaliseDomain(text.replace(/^\./, '')) === undefined ? undefined : normaliseHost(text);
  const mailbox = readMailbox(text);
  return mailbox === undefined || mailbox.local === '*' ? undefined : `${mailbox.local}@${mailbox.domain}`;
}

/** Verifiers compare octets: a dot at the end would be a limit that binds nobody, or that no name fits. */
function normaliseHost(text: string): string {
  const [dot, name] = text.startsWith('.') ? ['.', text.slice(1)] : ['', text];
  return `${dot}${normaliseDomain(name) ?? name}`;
}

/** Address and mask of `10.0.0.0/8` (RFC 5280 4.2.1.10); undefined unless it is a range, with nothing beyond its prefix. */
function subtreeOf(text: string): Uint8Array | undefined {
  const [, address = '', bits = ''] = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  if (isIP(address) === 0) return undefined;
  const octets = parseIpAddress(address);
  if (Number(bits) > octets.length * 8) return undefined;
  const mask = octets.map((_, at) => (0xff00 >> Math.min(8, Math.max(0, Number(bits) - at * 8))) & 0xff);
  return octets.every((octet, at) => (octet & ~(mask[at] ?? 0)) === 0) ? Uint8Array.of(...octets, ...mask) : undefined;
}

const wholeInput = signingInput.extend(certifyingInput.shape);

/** Effect of a CA below whose key is here: with any life, and without limits. */
export function certifyingAnything(): Effect {
  return {
    wire: Object.fromEntries(Object.keys(wholeInput.shape).map((name) => [toKebab(name), anyValue])),
    shape: shapeOf(wholeInput),
  };
}
