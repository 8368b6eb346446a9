// Refusing many requests that wait for a person at once: unauthenticated callers can send more of them than anybody wants to look at.
import { z } from 'zod';
import { fail } from '../../../../core/base/errors.ts';
import { subscriberOf } from '../../../../core/base/addresses.ts';
import { formatTimestamp } from '../../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { writeInPieces } from '../../../../core/store/records/pieces.ts';
import type { CaContext } from '../../context.ts';
import { first, hasSecret, waitingDays } from '../../enrolment/transactions.ts';
import type { PendingEnrolment } from '../../records/enrolments.ts';
import { caTag } from '../../tags.ts';
import { caPath, findCaOf, withRegistration } from '../action.ts';

const input = z.object({
  clientIp: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Those from this address alone; of IPv6 from its /64.', example: '192.0.2.7' }),
  subject: z.string().min(1).max(256).optional().meta({ description: 'Those alone whose subject has this text.', example: 'CN=printer-' }),
  withoutSecret: z.boolean().default(false).describe('Those alone that have shown no secret, which anybody can send.'),
  all: z.boolean().default(false).describe('Without any of the others: all that wait.'),
});
type Filter = z.output<typeof input>;

export function rejectEnrolments(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/reject-enrolments`,
    summary: 'Refuse many devices that wait',
    description: `Those that fit everything that is given. As \`reject-enrolment\` for each; requests that come later wait.`,
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'execute',
    judgedAs: { action: 'reject-enrolment' },
    audit: 'required',
    act: 'none',
    auditFields: ['clientIp', 'subject', 'withoutSecret', 'all'],
    errors: ['built-in'],
    commandLine: { ends: 'refuses the requests, which cannot be taken back' },
    input,
    output: z.object({ rejected: z.int().min(0).meta({ description: 'Requests that were refused.', example: 12 }) }),
    find: findCaOf(context, 'act'),
    async run(call, filter, { tenantId, record }) {
      const isFiltered = filter.clientIp !== undefined || filter.subject !== undefined || filter.withoutSecret;
      if (isFiltered === filter.all)
        throw fail('invalid-value', { detail: 'Give "client-ip", "subject" or "without-secret"; or "all" without any of them.' });
      const { store, tables } = context;
      store.refresh();
      const waiting = Array.from(tables.pendingEnrolments.entries([tenantId, record.id])).filter(([, pending]) => fits(pending, filter));
      const until = formatTimestamp(call.now.add({ hours: waitingDays * 24 }));
      let rejected = 0;
      const note = (): void => call.noteAudit({ requestParameters: { ...noted(filter), rejected } });
      await writeInPieces(store, waiting, (transaction, [key, { requestHash, keyHash }]) => {
        if (!transaction.delete(tables.pendingEnrolments, key)) return;
        transaction.put(tables.enrolments, [tenantId, record.id, first, String(key.at(-1))], {
          requestHash,
          keyHash,
          serial: undefined,
          until,
        });
        rejected += 1;
      }).finally(note);
      return { rejected };
    },
  });
}

function fits(pending: PendingEnrolment, { clientIp, subject, withoutSecret }: Filter): boolean {
  return (
    (clientIp === undefined || subscriberOf(pending.clientIp) === subscriberOf(clientIp)) &&
    (subject === undefined || pending.subject.includes(subject)) &&
    (!withoutSecret || !hasSecret(pending))
  );
}

function noted({ clientIp, subject, withoutSecret, all }: Filter): Readonly<Record<string, unknown>> {
  return {
    ...(clientIp === undefined ? {} : { 'client-ip': clientIp }),
    ...(subject === undefined ? {} : { subject }),
    ...{ 'without-secret': withoutSecret, all },
  };
}
