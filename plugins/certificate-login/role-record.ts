// A role of logins by certificate as administrators write it and as it is stored.
import { z } from 'zod';
import { naming } from '../../core/http/named-entries.ts';
import { tokenFields } from '../../core/platform/sessions/login-role.ts';
import { nameFromField, revocationFields } from '../../core/wire/certificate-fields.ts';

/** Ways in which a CA issues certificates to others. */
const ways = ['est', 'scep', 'acme', 'cmp', 'sign-csr'] as const;

/** Document that administrators write. */
export const roleDocument = z.object({
  trustCa: naming(z.string().min(1).max(128), {
    resource: 'keystore/tls/ca',
    needs: [{ operation: 'read', path: '/v1/state/keystore/tls/ca/{}' }],
  }).meta({
    description: 'CA of the tenant whose certificates log in: one with a key here, or a trust-only CA for certificates from elsewhere.',
    example: 'devices',
  }),
  nameFrom: nameFromField().describe('Which name of the certificate is its holder: it must have exactly one of this kind.'),
  names: z
    .array(z.string().min(1).max(253))
    .min(1)
    .max(256)
    .meta({
      description:
        'Names that log in: as they are, *.domain, *@domain, a URI whose last segment is *, or * for each that the CA certifies.',
      example: ['*.devices.example.com'],
    }),
  issuedVia: z
    .array(z.enum(ways).meta({ typeName: 'CertificateWay' }))
    .max(ways.length)
    .default([])
    .describe('Ways in which the CA has issued the certificate; none: any. Only for a CA with a key here.'),
  ...revocationFields,
  crlUrls: z
    .array(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_048))
    .min(1)
    .max(4)
    .optional()
    .meta({
      description:
        'Where current revocation lists of a trust-only CA, and of the CAs below it, are fetched, every 15 minutes. With `crl` those count as well.',
      example: ['http://crl.example.com/devices.crl'],
    }),
  ocspUrls: z
    .array(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_048))
    .min(1)
    .max(4)
    .optional()
    .meta({
      description:
        'OCSP responders that are asked about each certificate of a trust-only CA, and of the CAs below it, one after another until one answers. Its answer counts until its end, in place of a list.',
      example: ['http://ocsp.example.com'],
    }),
  ocspFromCertificate: z
    .boolean()
    .default(false)
    .describe('Asks the OCSP responder that a certificate of a trust-only CA itself names (authorityInfoAccess), after `ocsp-urls`.'),
  boundTo: z
    .enum(['certificate', 'key', 'none'])
    .meta({ typeName: 'CertificateBinding' })
    .default('certificate')
    .describe('What a client must show in TLS to use the token: the same certificate, any with the same key, or nothing.'),
  ...tokenFields,
});

export type RoleDocument = z.output<typeof roleDocument>;

/** Record as stored. */
export type RoleRecord = Omit<RoleDocument, 'ocspFromCertificate'> & {
  /** absent in roles of earlier versions */
  readonly ocspFromCertificate?: boolean;
  readonly name: string;
  /** of its CA: a later one with that name, or another certificate of a CA elsewhere, logs nobody in */
  readonly anchor: string;
  /** tokens end with it: it is another one when the role gives less, or to others */
  readonly grant: string;
};
