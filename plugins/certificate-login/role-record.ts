// A role of logins by certificate as administrators write it and as it is stored.
import { z } from 'zod';
import { naming } from '../../core/http/named-entries.ts';
import { tokenFields } from '../../core/platform/sessions/login-role.ts';
import { pemExample } from '../../core/wire/fields.ts';
import { nameKinds } from './names.ts';

/** Document that administrators write. */
export const roleDocument = z.object({
  trustCa: naming(z.string().min(1).max(128), {
    resource: 'keystore/tls/ca',
    needs: [{ operation: 'read', path: '/v1/state/keystore/tls/ca/{}' }],
  }).meta({
    description: 'CA of the tenant whose certificates log in: one with a key here, or a trust-only CA for certificates from elsewhere.',
    example: 'devices',
  }),
  nameFrom: z
    .enum(nameKinds)
    .meta({ typeName: 'CertificateNameKind' })
    .default('cn')
    .describe('Which name of the certificate is its holder: it must have exactly one of this kind.'),
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
    .array(z.enum(['est', 'scep', 'acme', 'sign-csr']).meta({ typeName: 'CertificateWay' }))
    .max(4)
    .default([])
    .describe('Ways in which the CA has issued the certificate; none: any. Only for a CA with a key here.'),
  revocation: z
    .enum(['checked', 'none'])
    .meta({ typeName: 'CertificateRevocation' })
    .default('checked')
    .describe('Whether a revoked certificate of a trust-only CA is refused, by `crl`; of other CAs it always is.'),
  crl: z
    .string()
    .min(1)
    .max(1 << 20)
    .optional()
    .meta({
      description:
        'Current revocation lists of a trust-only CA, and of the CAs below it, PEM. Without a current one its certificates are refused.',
      example: pemExample('X509 CRL'),
    }),
  boundTo: z
    .enum(['certificate', 'key', 'none'])
    .meta({ typeName: 'CertificateBinding' })
    .default('certificate')
    .describe('What a client must show in TLS to use the token: the same certificate, any with the same key, or nothing.'),
  ...tokenFields,
});

export type RoleDocument = z.output<typeof roleDocument>;

/** Record as stored. */
export type RoleRecord = RoleDocument & {
  readonly name: string;
  /** of its CA: a later one with that name, or another certificate of a CA elsewhere, logs nobody in */
  readonly anchor: string;
  /** tokens end with it: it is another one when the role gives less, or to others */
  readonly grant: string;
};
