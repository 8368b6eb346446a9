// Certification requests (PKCS#10, RFC 2986) for transit keys: the names of a request, and what is signed.
import { isIP } from 'node:net';
import { z } from 'zod';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { explicit, implicit, integer, objectIdentifier, octetString, boolean, sequence, setOf } from '../../../core/der/der.ts';
import { parseIpAddress } from '../../../core/der/ip.ts';
import { commonName, parseName, ruleOfName } from '../../../core/der/name.ts';
import { extensionId, requestAttribute } from '../../../core/der/oids.ts';

/** RFC 5280 A.1: a common name has at most 64 characters. */
const longestCommonName = 64;
const mostNames = 100;
/** RFC 1034 section 3.5, RFC 1123 section 2.1, with underscores, which are in use; a wildcard is the whole first label (RFC 9525 section 6.3). */
const hostName = /^(?=.{1,253}$)(?:\*\.)?(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*$/;

const list = (element: z.ZodString, description: string) => z.array(element).max(mostNames).optional().describe(description);

/** Fields of a request that name whom the certificate is to be for. */
export const nameFields = {
  subject: z.string().min(1).max(1_024).optional().meta({
    description: 'Subject; default CN= the first DNS name, if it is short enough, else empty.',
    example: 'CN=Release signing, O=Example',
  }),
  dnsNames: list(z.string().max(253).regex(hostName, 'must be a host name'), 'Host names.'),
  ipAddresses: list(
    z.string().refine((text) => isIP(text) > 0 && !text.includes('%'), 'must be an IP address'),
    'IP addresses.',
  ),
  emailAddresses: list(
    z
      .string()
      .max(254)
      .regex(/^[!-?A-~]+@[A-Za-z0-9.-]+$/, 'must be a mail address'),
    'Mail addresses.',
  ),
  uris: list(z.string().max(1_024).refine(isUri, 'must be a URI such as spiffe://example.com/signer'), 'URIs.'),
} as const;

const names = z.object(nameFields);

function isUri(text: string): boolean {
  return /^[!-~]+$/.test(text) && URL.canParse(text);
}

/** certificationRequestInfo for a public key (SubjectPublicKeyInfo). Throws invalid-value, missing-field. */
export function requestInfo(given: z.output<typeof names>, publicKey: Uint8Array): Uint8Array {
  const { dnsNames = [], ipAddresses = [], emailAddresses = [], uris = [] } = given;
  const entries = [
    ...emailAddresses.map((text) => implicit(1, Buffer.from(text, 'latin1'))),
    ...dnsNames.map((text) => implicit(2, Buffer.from(text, 'latin1'))),
    ...uris.map((text) => implicit(6, Buffer.from(text, 'latin1'))),
    ...ipAddresses.map((text) => implicit(7, parseIpAddress(text))),
  ];
  if (given.subject === undefined && entries.length === 0)
    throw coreFail('missing-field', { detail: 'Give a subject, or a name in dns-names, ip-addresses, email-addresses or uris.' });
  const subject = subjectOf(given);
  const attributes = entries.length === 0 ? [] : [extensionRequest(alternativeNames(entries, subject === undefined))];
  return sequence(integer(0), subject ?? sequence(), publicKey, explicit(0, ...attributes));
}

function subjectOf({ subject, dnsNames = [] }: z.output<typeof names>): Uint8Array | undefined {
  if (subject === undefined) {
    const first = dnsNames.find((name) => name.length <= longestCommonName);
    return first === undefined ? undefined : commonName(first);
  }
  const parsed = parseName(subject);
  if (parsed === undefined) throw invalid('subject', ruleOfName(subject));
  return parsed;
}

/** Critical beside an empty subject (RFC 5280 section 4.2.1.6). */
function alternativeNames(entries: readonly Uint8Array[], isCritical: boolean): Uint8Array {
  const id = objectIdentifier(extensionId.subjectAltName);
  return sequence(id, ...(isCritical ? [boolean(true)] : []), octetString(sequence(...entries)));
}

function extensionRequest(extension: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(requestAttribute.extensionRequest), setOf(sequence(extension)));
}
