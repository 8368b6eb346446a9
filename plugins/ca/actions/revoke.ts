// revoke: revokes a certificate that the CA issued.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { naming } from '../../../core/http/named-entries.ts';
import type { CaContext } from '../context.ts';
import { revocationReasons, type RevocationReason } from '../records/records.ts';
import { parseSerial } from '../records/serial.ts';
import { revokeCertificate } from '../status/revocation.ts';
import { caPath, findCaOf } from './action.ts';
import { caTag } from '../tags.ts';

export function revoke(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/revoke`,
    summary: 'Revoke a certificate this CA issued',
    description: 'For good. The next revocation list and OCSP say so at once; a device that shows the certificate is refused.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    errors: ['built-in'],
    auditFields: ['serial', 'reason'],
    commandLine: { positional: ['serial'], ends: 'revokes the certificate, which cannot be taken back' },
    input: z.object({
      serial: serialField(),
      reason: z
        .enum(Object.keys(revocationReasons) as [RevocationReason, ...RevocationReason[]])
        .default('unspecified')
        .describe('Why (RFC 5280 section 5.3.1).'),
    }),
    find: findCaOf(context, 'act'),
    async run(_call, { serial, reason }, ca) {
      await revokeCertificate(context, ca, serial, reason);
      return undefined;
    },
  });
}

export function serialField() {
  const text = z
    .string()
    .max(128)
    .transform((text, context) => {
      const serial = parseSerial(text);
      if (serial !== undefined) return serial;
      context.issues.push({ code: 'custom', input: text, message: 'must be a serial number in hexadecimal' });
      return z.NEVER;
    });
  return naming(text, { resource: 'certificates', needs: [], because: 'The CA in the path has issued it.' }).meta({
    description: 'Serial number of the certificate, hexadecimal.',
    example: '4f9a2c51d07b83e6',
  });
}
