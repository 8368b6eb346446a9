// Input of `sign-csr`, and the effect of requests that amount to it: enrolment that a change opens, a CA that is certified.
import { z } from 'zod';
import type { Effect } from '../../../core/access/access-control.ts';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { EstSettings } from '../records/records.ts';
import { durationField, pemExample } from '../../../core/wire/fields.ts';
import { formatOutput, shapeOf } from '../../../core/wire/schema.ts';

export const signingInput = z.object({
  csr: z
    .string()
    .max(65_536)
    .meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
  ttl: durationField({ minSeconds: 60 }).optional().describe('Life of the certificate; default est/ttl of the CA.'),
  usages: z
    .array(z.enum(['client-auth', 'server-auth']).meta({ typeName: 'CertificateUsage' }))
    .min(1)
    .default(['client-auth', 'server-auth'])
    .describe('What the certificate is for.'),
});

/** Effect of these settings: they sign any request of devices, for clients and servers. */
export function signingFor({ ttl }: EstSettings): Effect {
  return signing({ csr: anyValue, ttl: parseDuration(ttl, 'ttl'), usages: ['client-auth', 'server-auth'] });
}

/** Effect of one request. */
export function signing(input: z.output<typeof signingInput>): Effect {
  return { wire: formatOutput(input, signingInput), shape: shapeOf(signingInput) };
}

/** Effect of a CA below: it signs anything. */
export function signingAnything(): Effect {
  return { wire: { csr: anyValue, ttl: anyValue, usages: anyValue }, shape: shapeOf(signingInput) };
}
