// Reads one certificate that a CA issued.
import { fail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { defined } from '../../../core/base/defined.ts';
import { formatCertificatePem } from '../der/certificate.ts';
import { certificateText } from '../der/certificate-text.ts';
import type { CaContext } from '../context.ts';
import { parseSerial } from '../records/serial.ts';
import { caPath, findCaOf } from './action.ts';
import { certificateFields, describeIssued } from './issued-certificate.ts';
import { caTag } from '../tags.ts';

export function readIssued(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: `${caPath}/certificates/{serial}`,
    documented: {
      names: { serial: { description: 'Serial number, lower-case hexadecimal without separators.', example: '4f9a2c51d07b83e6' } },
    },
    summary: 'One certificate this CA issued',
    description: 'With the certificate itself, as PEM and in words, which lists leave out.',
    tag: caTag,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    nameField: 'serial',
    output: certificateFields,
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const serial = call.params['serial'] ?? '';
      requireNormalSpelling(serial);
      const record = context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
      if (record === undefined) throw fail('not-found');
      const { certificate } = record;
      return {
        ...describeIssued(serial, record, call.now),
        certificate: formatCertificatePem(certificate),
        ...defined({ text: certificateText(certificate) }),
      };
    },
  });
}

/** Policies judge the path as it is written: another spelling would go past a rule for this certificate. */
function requireNormalSpelling(serial: string): void {
  const normal = parseSerial(serial);
  if (normal === undefined || normal === serial) return;
  throw fail('not-found', { detail: `In a path a serial number has lower-case digits alone, two for each octet: ${normal}.` });
}
