// Input of `issue`: names and kind of key, of which the service makes the request itself.
import { isIP } from 'node:net';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { dnsName, ipAddress, uri } from '../der/extensions.ts';
import { parseIpAddress } from '../der/ip.ts';
import { commonName } from '../der/name.ts';
import { requireSubject } from './subject.ts';
import { isUriPattern, normaliseDomain } from './identity-policy.ts';
import { signingInput } from './signing.ts';

const keyTypes = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const;
export type MadeKeyType = (typeof keyTypes)[number];

const list = (element: z.ZodString, description: string) => z.array(element).max(100).default([]).describe(description);

export const makingInput = z.object({
  subject: z.string().min(1).max(1_024).optional().meta({
    description: 'Subject; default CN= the first DNS name, if it is short enough.',
    example: 'CN=web.example.com',
  }),
  dnsNames: list(
    z.string().refine((text) => normaliseDomain(text) !== undefined, 'must be a host name'),
    'Host names.',
  ),
  ipAddresses: list(
    z.string().refine((text) => isIP(text) > 0 && !text.includes('%'), 'must be an IP address'),
    'IP addresses.',
  ),
  uris: list(
    z
      .string()
      .max(1_024)
      .refine((text) => isUriPattern(text) && !text.includes('*'), 'must be a URI such as spiffe://example.com/web'),
    'URIs.',
  ),
  keyType: z.enum(keyTypes).meta({ typeName: 'IssuedKeyType' }).default('ecdsa-p256').describe('Kind of the key.'),
  ...signingInput.pick({ ttl: true, usages: true }).shape,
});

/** RFC 5280 A.1: a common name has at most 64 characters. */
const longestCommonName = 64;

/** Subject (DER Name) and alternative names (encoded GeneralNames) of the request. Throws `invalid-value`, `missing-field`. */
export function namesOf(input: z.output<typeof makingInput>): { readonly subject: Uint8Array; readonly names: readonly Uint8Array[] } {
  const { subject, dnsNames, ipAddresses, uris } = input;
  const names = [...dnsNames.map(dnsName), ...ipAddresses.map((text) => ipAddress(parseIpAddress(text))), ...uris.map(uri)];
  if (subject === undefined && names.length === 0)
    throw fail('missing-field', { detail: 'Give a subject, or a name in dns-names, ip-addresses or uris.' });
  if (subject !== undefined) return { subject: requireSubject(subject), names };
  const first = dnsNames.find((name) => name.length <= longestCommonName);
  return { subject: commonName(first ?? 'issued'), names };
}
