// The certificates that a CA issued, by serial number.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { answerList } from '../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../core/http/resource/list-query.ts';
import type { CaContext } from '../context.ts';
import { formatCertificatePem } from '../der/certificate.ts';
import type { IssuedCertificate } from '../records/records.ts';
import { parseSerial } from '../records/serial.ts';
import { serialsByKey } from '../records/by-key.ts';
import { caPath, findCaOf } from './action.ts';
import { readKeys, readSearch, searchQuery } from './search-certificates.ts';
import { certificateFields, describeIssued } from './issued-certificate.ts';
import { caTag } from '../tags.ts';

export function listCertificates(context: CaContext): AnyEndpoint {
  const path = `${caPath}/certificates`;
  return defineEndpoint({
    method: 'GET',
    path,
    summary: 'Certificates this CA issued, by serial number',
    description:
      'All that it issued, revoked and expired ones too, without the certificates themselves unless they are asked for by `public-key`. At most ' +
      '1,000 an answer.',
    tag: caTag,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    query: {
      ...listQuery,
      ...searchQuery,
      after: 'Start behind this serial number.',
      limit: {
        description: 'Answer with at most so many entries.',
        schema: {
          type: 'integer',
          minimum: 1,
          format: 'int32',
          maximum: pageLimits.most,
          default: pageLimits.usual,
          examples: [pageLimits.usual],
        },
      },
    },
    nameField: 'serial',
    output: z.array(certificateFields),
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const { certificates } = context.tables;
      const prefix = [ca.tenantId, ca.record.id];
      const keys = readKeys(call);
      function* entries(after: string | undefined): Iterable<readonly [string, IssuedCertificate]> {
        const behind = after === undefined ? undefined : readAfter(after);
        if (keys === undefined) {
          for (const [key, record] of certificates.entries(prefix, defined({ after: behind }))) yield [String(key.at(-1)), record];
          return;
        }
        for (const serial of serialsByKey(context.tables, prefix, keys)) {
          const record = behind !== undefined && serial <= behind ? undefined : certificates.get([...prefix, serial]);
          if (record !== undefined) yield [serial, record];
        }
      }
      const listed = { entries, count: () => certificates.count(prefix), limits: pageLimits, search: readSearch(call) };
      return answerList(call, { path, nameField: 'serial' }, certificateFields, listed, (serial, record) => ({
        ...describeIssued(serial, record, call.now),
        ...(keys === undefined ? {} : { certificate: formatCertificatePem(record.certificate) }),
      }));
    },
  });
}

/** A CA may have issued any number. */
const pageLimits = { usual: 100, most: 1_000 };

function readAfter(text: string): string {
  const serial = parseSerial(text);
  if (serial === undefined) throw fail('invalid-value', { detail: 'The query parameter after must be a serial number in hexadecimal.' });
  return serial;
}
