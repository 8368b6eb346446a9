// One certificate that a CA issued.
import { fail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { formatCertificatePem } from '../der/certificate.ts';
import type { CaContext } from '../context.ts';
import { parseSerial } from '../records/serial.ts';
import { caPath, findCaOf } from './action.ts';
import { certificateFields, describeIssued } from './issued-certificate.ts';
import { caTag } from '../tags.ts';

export function readIssued(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: `${caPath}/certificates/{serial}`,
    documented: { names: { serial: { description: 'Serial number, hexadecimal.', example: '4f9a2c51d07b83e6' } } },
    summary: 'One certificate this CA issued',
    description: 'With the certificate itself, which lists leave out.',
    tag: caTag,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    nameField: 'serial',
    output: certificateFields,
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const serial = requireSerial(call.params['serial'] ?? '');
      const record = context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
      if (record === undefined) throw fail('not-found');
      return { ...describeIssued(serial, record, call.now), certificate: formatCertificatePem(record.certificate) };
    },
  });
}

function requireSerial(text: string): string {
  const serial = parseSerial(text);
  if (serial === undefined) throw fail('not-found');
  return serial;
}
