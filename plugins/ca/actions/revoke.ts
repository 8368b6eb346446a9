// revoke: revokes a certificate that the CA issued, alone or with its line.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import type { Effect } from '../../../core/access/access-control.ts';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import { naming } from '../../../core/http/named-entries.ts';
import { shapeOf } from '../../../core/wire/schema.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { casCertifiedBy } from '../authority/certified.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { readCertificate } from '../der/certificate.ts';
import { readBasicConstraints } from '../der/read-extensions.ts';
import { revocationReasons, type RevocationReason } from '../records/records.ts';
import { parseSerial } from '../records/serial.ts';
import { countOthersValid, revokeLine } from '../status/line.ts';
import { revokeCertificate } from '../status/revocation.ts';
import { caPath, findCaOf } from './action.ts';
import { caTag } from '../tags.ts';

const input = z.object({
  serial: serialField(),
  reason: z
    .enum(Object.keys(revocationReasons) as [RevocationReason, ...RevocationReason[]])
    .default('unspecified')
    .describe('Why (RFC 5280 section 5.3.1).'),
  line: z.boolean().default(false).describe('The whole line: what it renewed, and all renewals of that.'),
});

/** Effect of other requests that revoke certificates, for policies. */
export function revoking(serials: readonly string[], reason: RevocationReason): Effect {
  return { wire: { serial: serials, reason, line: false }, shape: shapeOf(input) };
}

/** Effect of settings that let others revoke. */
export function revokingAnything(): Effect {
  return { wire: { serial: anyValue, reason: anyValue, line: false }, shape: shapeOf(input) };
}

export function revoke(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/revoke`,
    summary: 'Revoke a certificate this CA issued',
    description:
      'For good. The next revocation list and OCSP say so at once; a device that shows the certificate is refused. What a device renewed with it lives on: with `line`, all certificates end that renewals connect with it, those before it, after it and beside it.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    // A CA below goes with its certificate; that of a device is replaced.
    act: (_call, { serial }, ca) => (isOfCa(context, ca, serial) ? ['destroy'] : []),
    concerns: (call, { serial }) => concernedBy(context, call, [serial]),
    errors: ['built-in'],
    auditFields: ['serial', 'reason', 'line'],
    commandLine: { positional: ['serial'], ends: 'revokes the certificate, which cannot be taken back' },
    input,
    output: z.object({
      revoked: z.int().min(0).meta({ description: 'Certificates that are revoked now and were not before.', example: 1 }),
      stillValid: z.int().min(0).meta({ description: 'Other certificates of its line that are valid still.', example: 0 }),
    }),
    find: findCaOf(context, 'act'),
    async run(call, { serial, reason, line }, ca) {
      const revoked = (await revokeCertificate(context, ca, serial, reason)) ? [serial] : [];
      const note = (): void => call.noteAudit({ requestParameters: { serial, reason, line, revoked } });
      if (line) await revokeLine(context, ca, serial, reason, revoked).finally(note);
      context.store.refresh();
      return { revoked: revoked.length, stillValid: countOthersValid(context, ca, serial) };
    },
  });
}

/** The paths of the CAs that end with certificates of the CA in the path. */
export function concernedBy(
  context: CaContext,
  { caller, params }: EndpointCall,
  serials: readonly string[],
): readonly (readonly string[])[] {
  const names = casCertifiedBy(context, caller.tenantId, params['name'] ?? '', serials);
  return names.map((name) => ['v1', 'state', 'keystore', 'tls', 'ca', name]);
}

/** Tells whether a serial number is that of a CA certificate that the CA has issued. */
function isOfCa({ tables }: CaContext, { tenantId, record: { id } }: FoundCa, serial: string): boolean {
  const issued = tables.certificates.get([tenantId, id, serial]);
  return issued !== undefined && readBasicConstraints(readCertificate(issued.certificate).extensions.get(extensionId.basicConstraints)).ca;
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
