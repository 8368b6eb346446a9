// Input of `issue`: names and kind of key, of which the service makes the request itself.
import { isIP } from 'node:net';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { isEmailPattern } from '../names/mail.ts';
import { otherName, parseOtherName } from '../names/other-name.ts';
import { dnsName, email, ipAddress, uri } from '../der/extensions.ts';
import { sequence } from '../../../core/der/der.ts';
import { parseIpAddress } from '../../../core/der/ip.ts';
import { commonName } from '../../../core/der/name.ts';
import { requireSubject } from './subject.ts';
import { isUriPattern } from './identity-policy.ts';
import { normaliseDomain } from '../names/domain.ts';
import { signingInput } from './signing.ts';

/** Kinds of keys that are made for others. */
export const keyTypes = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const;
export type MadeKeyType = (typeof keyTypes)[number];

const list = (element: z.ZodString, description: string) => z.array(element).max(100).default([]).describe(description);

export const makingInput = z.object({
  subject: z.string().min(1).max(1_024).optional().meta({
    description: 'Subject; default CN= the first DNS name that is short enough, and no subject without one.',
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
  emails: list(
    z.string().refine((text) => isEmailPattern(text) && !text.includes('*'), 'must be a mail address in ASCII such as alice@example.com'),
    'Mail addresses.',
  ),
  otherNames: list(
    z
      .string()
      .max(1_024)
      .refine(
        (text) => parseOtherName(text) !== undefined && !text.includes('*'),
        'must be OID;UTF8:value, as 1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com',
      ),
    'otherNames, as user principal names: each `OID;UTF8:value`.',
  ),
  keyType: z.enum(keyTypes).meta({ typeName: 'IssuedKeyType' }).default('ecdsa-p256').describe('Kind of the key.'),
  ...signingInput.pick({ ttl: true, usages: true }).shape,
});

/** RFC 5280 A.1: a common name has at most 64 characters. */
const longestCommonName = 64;

/** Subject (DER Name) and alternative names (encoded GeneralNames) of the request. Throws `invalid-value`, `missing-field`. */
export function namesOf(input: z.output<typeof makingInput>): { readonly subject: Uint8Array; readonly names: readonly Uint8Array[] } {
  const { subject, dnsNames, ipAddresses, uris, emails } = input;
  const otherNames = input.otherNames.map(parseOtherName).filter((name) => name !== undefined);
  const names = [
    ...dnsNames.map(dnsName),
    ...ipAddresses.map((text) => ipAddress(parseIpAddress(text))),
    ...uris.map(uri),
    ...emails.map(email),
    ...otherNames.map(otherName),
  ];
  if (subject === undefined && names.length === 0)
    throw fail('missing-field', { detail: 'Give a subject, or a name in dns-names, ip-addresses, uris, emails or other-names.' });
  if (subject !== undefined) return { subject: requireSubject(subject), names };
  const first = dnsNames.find((name) => name.length <= longestCommonName);
  // Names without a subject are certified (RFC 5280 4.1.2.6); rules for names would judge a made-up common name.
  return { subject: first === undefined ? sequence() : commonName(first), names };
}
