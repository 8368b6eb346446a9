// An issued certificate as lists and single reads show it.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { pemExample, timestampText } from '../../../core/wire/fields.ts';
import type { IssuedCertificate } from '../records/records.ts';

/** Statuses of a certificate. */
export const certificateStatuses = ['valid', 'expired', 'revoked'] as const;
export type CertificateStatus = (typeof certificateStatuses)[number];

export const certificateFields = z
  .object({
    serial: z.string().meta({ description: 'Serial number.', example: '4f9a2c51d07b83e6' }),
    subject: z.string().meta({ description: 'Subject.', example: 'CN=device-1.example.com' }),
    names: z.array(z.string()).describe('Subject alternative names.'),
    notBefore: timestampText().describe('When it begins.'),
    notAfter: timestampText().describe('When it ends.'),
    via: z.string().meta({ description: 'How it came about.', example: 'simpleenroll' }),
    keyVersion: z.int().describe('Key of the CA that signed it.'),
    status: z.enum(certificateStatuses).meta({ typeName: 'CertificateStatus' }).describe('What it is worth now.'),
    line: z.string().optional().meta({
      description: 'Serial number of the first certificate of its line, when it renewed one.',
      example: '4f9a2c51d07b83e6',
    }),
    revokedAt: timestampText().optional().describe('When it was revoked.'),
    revocationReason: z.string().optional().meta({ description: 'Why it was revoked.', example: 'key-compromise' }),
    certificate: z
      .string()
      .optional()
      .meta({ description: 'The certificate; only where one, or one by its key, is asked for.', example: pemExample('CERTIFICATE') }),
    text: z.string().optional().meta({
      description: 'The certificate in words, with its key and its extensions; only where one is asked for.',
      example: 'Certificate:\n  Data:\n    Version: v3 (2)',
    }),
  })
  .meta({ typeName: 'IssuedCertificate' });

export function describeIssued(serial: string, record: IssuedCertificate, now: Temporal.Instant): z.infer<typeof certificateFields> {
  return {
    serial,
    subject: record.subject,
    names: [...record.names],
    notBefore: record.notBefore,
    notAfter: record.notAfter,
    via: record.via,
    keyVersion: record.generation,
    status: statusOf(record, now),
    ...defined({ line: record.line, revokedAt: record.revoked?.at, revocationReason: record.revoked?.reason }),
  };
}

/** Returns the status of the certificate now. */
export function statusOf({ revoked, notAfter }: IssuedCertificate, now: Temporal.Instant): CertificateStatus {
  if (revoked !== undefined) return 'revoked';
  return Temporal.Instant.compare(notAfter, now) < 0 ? 'expired' : 'valid';
}
