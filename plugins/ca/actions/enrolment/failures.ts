// Devices that fail to enrol: the list for the people who look after them.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { answerList, listOf } from '../../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../../core/http/resource/list-query.ts';
import { timestampText } from '../../../../core/wire/fields.ts';
import type { CaContext } from '../../context.ts';
import { isForgotten } from '../../enrolment/failures.ts';
import { caTag } from '../../tags.ts';
import { caPath, findCaOf, withRegistration } from '../action.ts';

const failureFields = z
  .object({
    clientIp: z.string().meta({ description: 'Address of the device, the last one of its /64 for IPv6.', example: '192.0.2.7' }),
    protocol: z.string().meta({ description: 'Protocol by which it asked.', example: 'scep' }),
    reason: z
      .string()
      .meta({ description: 'What it was told the last time.', example: 'The challengePassword is not a secret of this CA.' }),
    subject: z
      .string()
      .optional()
      .meta({ description: 'Subject that it asked for, if it came so far.', example: 'CN=printer-7.example.com' }),
    failures: z.int().describe('How often, since it last got a certificate.'),
    firstAt: timestampText().describe('The first time.'),
    lastAt: timestampText().describe('The last time.'),
  })
  .meta({ typeName: 'EnrolmentFailure' });

export function listEnrolmentFailures(context: CaContext): AnyEndpoint {
  const path = `${caPath}/enrolment-failures`;
  return defineEndpoint({
    method: 'GET',
    path,
    summary: 'Addresses from which devices fail to enrol',
    description:
      'With what was wrong the last time. One is forgotten when a device there gets its certificate, or after a day. At most 1,000.',
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    query: listQuery,
    nameField: 'client-ip',
    output: z.array(failureFields),
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const all = Array.from(context.tables.enrolmentFailures.entries([ca.tenantId, ca.record.id]), ([, found]) => found)
        .filter((found) => !isForgotten(found, call.now))
        .map((found) => [found.clientIp, found] as const)
        .toSorted(([left], [right]) => (left < right ? -1 : 1));
      return answerList(
        call,
        { path, nameField: 'client-ip' },
        failureFields,
        listOf(all),
        (clientIp, { protocol, reason, subject, count, firstAt, lastAt }) => ({
          ...{ clientIp, protocol, reason, failures: count, firstAt, lastAt },
          ...(subject === undefined ? {} : { subject }),
        }),
      );
    },
  });
}
