// Release of a certificate that has worked for a tenant: from then on another tenant may enter it.
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import type { Kmip } from '../context.ts';
import { kmipTag } from '../tags.ts';
import { ownersAt, placeOfFingerprint } from './places.ts';

const fields = z.object({
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the certificate in DER, 64 lower-case hexadecimal digits')
    .meta({ description: 'SHA-256 of the certificate.', example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
});
type Fields = z.output<typeof fields>;

export function releaseEndpoint({ store, tables }: Kmip): AnyEndpoint {
  return defineEndpoint<Fields, Fields>({
    method: 'POST',
    path: '/v1/state/keystore/release-kmip-certificate',
    tag: kmipTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'change-trust',
    summary: 'Release a certificate of a KMIP client',
    description:
      'A certificate that has worked for a tenant works for no other one. A released one works for whom an entry names next; entries of the tenant that still take it have it again at its next request.',
    named: 'ReleaseKmipCertificate',
    input: fields,
    output: fields,
    auditFields: ['fingerprint'],
    errors: ['not-found', 'in-use'],
    commandLine: { positional: ['fingerprint'] },
    async run({ caller: { tenantId } }, { fingerprint }) {
      await store.write((transaction) => {
        if (transaction.get(tables.firstTenants, [fingerprint])?.tenantId !== tenantId)
          throw fail('not-found', { detail: 'No such certificate has worked for this tenant.' });
        for (const owner of ownersAt(tables, placeOfFingerprint(fingerprint)))
          if (owner.tenantId === tenantId)
            throw fail('in-use', { detail: `The KMIP client "${owner.name}" has this fingerprint: take it out of the entry first.` });
        transaction.delete(tables.firstTenants, [fingerprint]);
      });
      return { fingerprint };
    },
  });
}
