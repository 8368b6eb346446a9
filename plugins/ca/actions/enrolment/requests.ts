// First enrolments that wait for a person: the list, and the decision.
import { z } from 'zod';
import { fail } from '../../../../core/base/errors.ts';
import { formatTimestamp } from '../../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { answerList, listOf } from '../../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../../core/http/resource/list-query.ts';
import { timestampText } from '../../../../core/wire/fields.ts';

import type { FoundCa } from '../../authority/lookup.ts';
import type { CaContext } from '../../context.ts';
import { approveFirst, Concluded, issueOnce } from '../../enrolment/enrol.ts';
import { first, type Place, placeOfMessage, waitingDays } from '../../enrolment/transactions.ts';
import { verifyTemplate } from '../../enrolment/crmf.ts';
import { familiesUnder, verifyCsr } from '../../issuing/csr.ts';
import { signingFor } from '../../issuing/signing.ts';
import type { PendingEnrolment } from '../../records/enrolments.ts';
import { failCa } from '../../errors.ts';
import { caPath, findCaOf, noKey, withRegistration } from '../action.ts';
import { idField } from './secrets.ts';
import { caTag } from '../../tags.ts';

const requestFields = z
  .object({
    id: z
      .string()
      .meta({ description: 'Identifies the request.', example: '5d0a3c7e9b1f5d0a3c7e9b1f5d0a3c7e9b1f5d0a3c7e9b1f5d0a3c7e9b1f5d0a' }),
    subject: z.string().meta({ description: 'Subject that it asks for.', example: 'CN=device-1.example.com' }),
    names: z.array(z.string()).describe('Subject alternative names that it asks for.'),
    keyType: z.string().meta({ description: 'Kind of its key.', example: 'RSA 2048' }),
    keySha256: z
      .string()
      .meta({ description: 'SHA-256 of its public key, hexadecimal: compare it with what the device shows.', example: '5d0a3c7e9b1f5d0a' }),
    via: z.string().meta({ description: 'Protocol, and the credential that was shown.', example: 'scep-one-time-secret' }),
    clientIp: z.string().meta({ description: 'Address from which it came.', example: '192.0.2.7' }),
    requestedAt: timestampText().describe('When it came.'),
    until: timestampText().describe('When it is forgotten if nobody decides.'),
  })
  .meta({ typeName: 'PendingEnrolment' });

export function listEnrolmentRequests(context: CaContext): AnyEndpoint {
  const path = `${caPath}/enrolment-requests`;
  return defineEndpoint({
    method: 'GET',
    path,
    summary: 'First enrolments that wait for a person',
    description: `At a CA with \`scep/approval-required\` or \`cmp/approval-required\`. At most 1,000, and 20 from an address; one that nobody decides about is forgotten after ${waitingDays} days.`,
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    query: listQuery,
    nameField: 'id',
    output: z.array(requestFields),
    find: findCaOf(context, 'read'),
    run(call, _input, ca) {
      const waiting = Array.from(context.tables.pendingEnrolments.entries([ca.tenantId, ca.record.id])).filter(
        ([, { until }]) => Temporal.Instant.compare(until, call.now) >= 0,
      );
      const listed = listOf(waiting.map(([key, pending]) => [String(key.at(-1)), pending] as const));
      return answerList(call, { path, nameField: 'id' }, requestFields, listed, describe);
    },
  });
}

function describe(id: string, { subject, names, keyName, keyHash, via, clientIp, requestedAt, until }: PendingEnrolment) {
  return { id, subject, names: [...names], keyType: keyName, keySha256: keyHash, via, clientIp, requestedAt, until };
}

export function approveEnrolment(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/approve-enrolment`,
    summary: 'Issue the certificate of a device that waits',
    description:
      'The device gets it when it asks again. The rules of `est` count as of now. Compare `key-sha256` with what the device shows. Needs `execute` of `…/sign-csr` as well.',
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['id'],
    fieldRights: [{ field: 'id', operation: 'execute', path: `${caPath}/sign-csr` }],
    errors: ['built-in', 'identity-not-allowed', 'invalid-csr', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    commandLine: { positional: ['id'] },
    input: z.object({ id: idField('enrolment request', 'The CA in the path has it.') }),
    output: z.object({ serial: z.string().meta({ description: 'Serial number of the certificate.', example: '4f9a2c51d07b83e6' }) }),
    find: findCaOf(context, 'act'),
    async run(call, { id }, ca) {
      const { keyType, est, name } = ca.record;
      if (keyType === undefined) throw noKey(ca);
      call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', name, 'sign-csr'], 'execute', signingFor(est));
      const { place, pending } = requirePending(context, ca, id, call.now);
      const certifies = familiesUnder(keyType);
      const csr =
        pending.form === undefined ? verifyCsr(pending.csr, certifies) : verifyTemplate(pending.csr, certifies, pending.form === 'crmf-ra');
      const approved = approveFirst(csr, ca, pending.identity);
      const outcome = await issueOnce(
        context,
        ca,
        { approved, csr, place, requester: pending.requester, messageUntil: pending.message?.until },
        pending.via,
        (transaction) => {
          if (!transaction.has(context.tables.pendingEnrolments, place.pending))
            throw new Concluded({ status: 'refused', why: 'rejected', detail: '' });
        },
      );
      if (outcome.status === 'refused' && outcome.why === 'credential') throw failCa('invalid-csr', { detail: outcome.detail });
      if (outcome.status !== 'issued') throw notWaiting();
      call.noteAudit({ requestParameters: { subject: pending.subject, names: pending.names, serial: outcome.serial } });
      return { serial: outcome.serial };
    },
  });
}

export function rejectEnrolment(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/reject-enrolment`,
    summary: 'Refuse a device that waits',
    description: `The device hears it when it asks again, for ${waitingDays} days; it can begin another request.`,
    tag: caTag,
    usefulWith: withRegistration,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['id'],
    errors: ['built-in'],
    commandLine: { positional: ['id'], ends: 'refuses the request, which cannot be taken back' },
    input: z.object({ id: idField('enrolment request', 'The CA in the path has it.') }),
    successStatus: 204,
    find: findCaOf(context, 'act'),
    async run(call, { id }, ca) {
      const { place, pending } = requirePending(context, ca, id, call.now);
      const { requestHash, keyHash, subject, names } = pending;
      await context.store.write((transaction) => {
        if (!transaction.delete(context.tables.pendingEnrolments, place.pending)) throw notWaiting();
        const until = formatTimestamp(call.now.add({ hours: waitingDays * 24 }));
        transaction.put(context.tables.enrolments, place.answered, { requestHash, keyHash, serial: undefined, until });
      });
      call.noteAudit({ requestParameters: { subject, names } });
    },
  });
}

type Waiting = { readonly place: Place; readonly pending: PendingEnrolment };

function requirePending(context: CaContext, { tenantId, record }: FoundCa, id: string, now: Temporal.Instant): Waiting {
  context.store.refresh();
  const own = [tenantId, record.id];
  const key = [...own, id];
  const pending = context.tables.pendingEnrolments.get(key);
  if (pending === undefined || Temporal.Instant.compare(pending.until, now) < 0) throw notWaiting();
  const message = pending.message && placeOfMessage(own, pending.message.hash);
  return { place: { pending: key, answered: [...own, first, id], isOfKey: pending.via.startsWith('scep-'), message }, pending };
}

const notWaiting = () => fail('not-found', { detail: 'No request with this id waits here.' });
