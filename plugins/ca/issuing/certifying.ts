// Input of `certify-ca`, and its effect for requests that amount to it: a CA here that another one certifies.
import { isIP } from 'node:net';
import { z } from 'zod';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import type { Effect } from '../../../core/access/access-control.ts';
import { integer } from '../../../core/wire/fields.ts';
import { shapeOf, toKebab } from '../../../core/wire/schema.ts';
import { dnsName, ipAddress, uri } from '../der/extensions.ts';
import { parseIpAddress } from '../der/ip.ts';
import { normaliseDomain } from './identity-policy.ts';
import { signingInput } from './signing.ts';

const host = (rule: string) => z.string().refine((text) => normaliseDomain(text.replace(/^\./, '')) !== undefined, rule);
const list = (element: z.ZodString, description: string) => z.array(element).max(100).default([]).describe(description);

export const certifyingInput = z.object({
  ...signingInput.pick({ csr: true, ttl: true }).shape,
  pathLength: integer(0, 8).default(0).describe('How many CAs may be below it; 0: it certifies no CA.'),
  permittedDomains: list(host('must be a domain such as example.com'), 'Host names below it are within these domains; none: no limit.'),
  excludedDomains: list(host('must be a domain such as example.com'), 'Host names below it are not within these domains.'),
  permittedUriHosts: list(
    host('must be a host such as example.com, or a domain with a dot before it'),
    'Hosts of URIs below it, as that of a trust domain of SPIFFE; with a dot before a domain, those below it; none: no limit.',
  ),
  permittedIpRanges: list(
    z.string().refine((text) => subtreeOf(text) !== undefined, 'must be a range such as 10.0.0.0/8'),
    'IP addresses below it are within these ranges; none: no limit.',
  ),
});

/** The constraints on names, encoded. */
export function constraintsOf(input: z.output<typeof certifyingInput>): {
  readonly permitted: readonly Uint8Array[];
  readonly excluded: readonly Uint8Array[];
} {
  const ranges = input.permittedIpRanges.map(subtreeOf).filter((range) => range !== undefined);
  return {
    permitted: [...input.permittedDomains.map(dnsName), ...input.permittedUriHosts.map(uri), ...ranges.map(ipAddress)],
    excluded: input.excludedDomains.map(dnsName),
  };
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
