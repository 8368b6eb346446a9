// sign-csr: issues a certificate for a certification request that an administrator brings.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { durationField, pemExample, timestamp } from '../../../core/wire/fields.ts';
import { formatCertificatePem, parsePemBlocks, readCertificate } from '../der/certificate.ts';
import type { CaContext } from '../context.ts';
import { failCa } from '../errors.ts';
import { approveByAdministrator, type Purpose } from '../issuing/approval.ts';
import { familiesUnder, verifyCsr } from '../issuing/csr.ts';
import { issueCertificate } from '../issuing/issue.ts';
import { caPath, findCaOf, noKey } from './action.ts';
import { caTag } from '../tags.ts';

const purposes = { 'client-auth': 'clientAuth', 'server-auth': 'serverAuth' } as const satisfies Record<string, Purpose>;

/** The names are the caller's to decide, who may do this is the policy's; the profile is the CA's (R57 to R64). */
export function signCsr(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/sign-csr`,
    summary: 'Issue a certificate for a certification request',
    description:
      'The names in the request must be allowed by the rules of `est`, which hold here too. The certificate is made from the request, never copied: extensions that it asks for beyond its names are left out.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    auditFields: ['ttl', 'usages'],
    errors: ['invalid-csr', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    input: z.object({
      csr: z
        .string()
        .max(65_536)
        .meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
      ttl: durationField({ minSeconds: 60 }).optional().describe('Life of the certificate; default est/ttl of the CA.'),
      usages: z
        .array(z.enum(['client-auth', 'server-auth']))
        .min(1)
        .default(['client-auth', 'server-auth'])
        .describe('What the certificate is for.'),
    }),
    output: z.object({
      certificate: z.string().meta({ description: 'The certificate.', example: pemExample('CERTIFICATE') }),
      chain: z.string().meta({ description: 'Those of the CA and of what is above it.', example: pemExample('CERTIFICATE') }),
      serial: z.string().meta({ description: 'Its serial number.', example: '4f9a2c51d07b83e6' }),
      notAfter: timestamp().describe('When it ends.'),
    }),
    commandLine: { input: 'csr', output: 'certificate' },
    find: findCaOf(context),
    async run(call, { csr, ttl, usages }, ca) {
      if (ca.record.keyType === undefined) throw noKey(ca);
      const verified = verifyCsr(readCsrPem(csr), familiesUnder(ca.record.keyType));
      const approved = approveByAdministrator(
        verified,
        [...new Set(usages)].map((usage) => purposes[usage]),
      );
      const ttlSeconds = (ttl ?? parseDuration(ca.record.est.ttl, 'ttl')).seconds;
      const { serial, record, issuer } = await issueCertificate(context, ca, approved, { ttlSeconds, via: 'sign-csr' });
      const issued = { subject: record.subject, names: record.names, serial, 'certificate-sha256': hash('sha256', record.certificate) };
      call.noteAudit({ requestParameters: issued });
      const certificate = formatCertificatePem(record.certificate);
      const chain = [issuer.certificate, ...issuer.chain].map(formatCertificatePem).join('');
      return { certificate, chain, serial, notAfter: readCertificate(record.certificate).notAfter };
    },
  });
}

function readCsrPem(pem: string): Uint8Array {
  const blocks = parsePemBlocks('CERTIFICATE REQUEST', pem)?.concat(parsePemBlocks('NEW CERTIFICATE REQUEST', pem) ?? []);
  const [der] = blocks ?? [];
  if (der === undefined || blocks?.length !== 1)
    throw failCa('invalid-csr', { detail: '"csr" must be the PEM of one certification request.' });
  return der;
}
