// A KMIP client entry as administrators write it and as it is stored: whose certificate it is, and what its holder may do.
import { z } from 'zod';
import { cidrsField } from '../../../core/base/addresses.ts';
import { givenPolicy, naming } from '../../../core/http/named-entries.ts';
import { nameFromField, revocationFields } from '../../../core/wire/certificate-fields.ts';

/** A client may show any of these: the one of now, and the one that takes its place. */
const mostFingerprints = 8;

export const clientDocument = z.object({
  space: naming(z.string().min(1).max(128), {
    resource: 'keystore/kmip-spaces',
    needs: [{ operation: 'read', path: '/v1/state/keystore/kmip-spaces/{}' }],
  }).meta({ description: 'Object space that it works in; clients of one space see the same objects.', example: 'storage' }),
  enabled: z.boolean().default(true).describe('false: refused from the next request on, on open connections too.'),
  fingerprints: z
    .array(
      z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the certificate in DER, 64 lower-case hexadecimal digits')
        .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
    )
    .max(mostFingerprints)
    .default([])
    .describe('SHA-256 of its certificates, in place of a CA and a name.'),
  trustCa: naming(z.string().min(1).max(128), {
    resource: 'keystore/tls/ca',
    needs: [{ operation: 'read', path: '/v1/state/keystore/tls/ca/{}' }],
  })
    .optional()
    .meta({ description: 'CA of the tenant, or trust-only CA, that has issued its certificate.', example: 'devices' }),
  nameFrom: nameFromField().describe('Which name of the certificate is compared: it must have exactly one of this kind.'),
  certificateName: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .meta({ description: 'The name, as it is written in the certificate.', example: 'array-1.example.com' }),
  ...revocationFields,
  username: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'User that it must name in its messages, with password.', example: 'array-1' }),
  password: z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .meta({ description: 'Password that it must give beside its certificate. Write-only.', example: 'correct horse battery staple' }),
  tokenPolicies: z
    .array(naming(z.string().min(1).max(128), givenPolicy))
    .max(64)
    .meta({ whenEmpty: [] })
    .default([])
    .meta({ description: 'Policies by which its operations are judged; only such as the caller has.', example: ['kmip-storage'] }),
  tokenBoundCidrs: cidrsField()
    .default([])
    .meta({ description: 'Ranges of addresses that it works from; empty: from anywhere.', example: ['10.1.0.0/16'] }),
});

export type ClientDocument = z.output<typeof clientDocument>;

/** Record as stored. */
export type ClientRecord = ClientDocument & {
  readonly name: string;
  readonly tenantName: string;
  /** drawn at creation: a later entry of the name is another one */
  readonly id: string;
  /** RFC 3339 UTC with six decimals */
  readonly created: string;
  /** of its CA: a later one with that name, or another certificate of a CA elsewhere, is not taken */
  readonly anchor?: string;
};

/** The tenant of a certificate. `until`: end of the certificate, after which nobody takes it, or of the note; RFC 3339 UTC with six decimals */
export type FirstTenant = { readonly tenantId: string; readonly until: string };

export type FoundClient = { readonly tenantId: string; readonly record: ClientRecord };
