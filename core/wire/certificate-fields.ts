// Fields of entries that stand for the holder of a certificate: roles of logins by certificate, KMIP clients.
import { z } from 'zod';
import { pemExample } from './fields.ts';

/** Kinds of names in certificates by which a holder is known. */
export const nameKinds = ['cn', 'dns', 'uri', 'email'] as const;
export type NameKind = (typeof nameKinds)[number];

/** Choice of the kind of name; the common name unless given. */
export function nameFromField() {
  return z.enum(nameKinds).meta({ typeName: 'CertificateNameKind' }).default('cn');
}

/** Fields on revocation by CAs elsewhere. */
export const revocationFields = {
  revocation: z
    .enum(['checked', 'none'])
    .meta({ typeName: 'CertificateRevocation' })
    .default('checked')
    .describe('`checked` refuses a revoked certificate of a trust-only CA, by `crl`; of other CAs it is always refused.'),
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
};
