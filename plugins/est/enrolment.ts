// simpleenroll and simplereenroll: credential, request, identity, signature, record, in this order (api 64).
import { hash } from 'node:crypto';
import { fail, ServiceError } from '../../core/base/errors.ts';
import { parseDuration } from '../../core/base/time.ts';
import { approveByPolicy, approveRenewal, type ApprovedRequest } from '../ca/issuing/approval.ts';
import { encodeCertsOnly } from '../ca/der/certs-only.ts';
import { familiesUnder, type VerifiedCsr, verifyCsr } from '../ca/issuing/csr.ts';
import { type IssueOptions, issueCertificate } from '../ca/issuing/issue.ts';
import { findIssued } from '../ca/status/revocation.ts';
import { requireChannelBinding } from './channel-binding.ts';
import { authenticateFirst, authenticateRenewal, describeShown } from './client-auth.ts';
import { failEst } from './errors.ts';
import type { EstCall, EstDesk } from './operations.ts';
import { answerDer, type EstAnswer, readRequestBody } from './transport.ts';

/** First enrolment (RFC 7030 4.2.1). */
export async function simpleEnroll(desk: EstDesk, call: EstCall): Promise<EstAnswer> {
  const credential = await accepted(call, () => authenticateFirst(desk.house, desk.limit, call.ca, call));
  call.note({ credential });
  const csr = await readCsr(call);
  return issue(desk, call, approveByPolicy(csr, call.ca.record.est), { via: credential });
}

/** Renewal or rekey (RFC 7030 4.2.2). A certificate revoked while the request was under way renews nothing. */
export async function simpleReenroll(desk: EstDesk, call: EstCall): Promise<EstAnswer> {
  const { house } = desk;
  const held = await accepted(call, () => authenticateRenewal(house, call.ca, call));
  call.note({ credential: 'certificate', 'renewed-serial': held.certificate.serial });
  const csr = await readCsr(call);
  return issue(desk, call, approveRenewal(csr, held.certificate, call.ca.record.est), {
    via: 'est-renewal',
    recheck(transaction) {
      if (findIssued(house, call.ca, held.certificate, transaction)?.revoked !== undefined) {
        throw failEst('enrolment-refused', { detail: 'The credential was not accepted: the client certificate is revoked.' });
      }
    },
  });
}

/** Who is refused stands in the record with the certificate that was shown. */
async function accepted<T>(call: EstCall, authenticate: () => T | Promise<T>): Promise<T> {
  try {
    return await authenticate();
  } catch (error) {
    call.note(describeShown(call));
    throw error;
  }
}

async function readCsr(call: EstCall): Promise<VerifiedCsr> {
  const { keyType } = call.ca.record;
  const csr = verifyCsr(readRequestBody(call.headers['content-type'], await call.readBody()), familiesUnder(keyType ?? ''));
  const { challengePassword, subjectText, nameTexts, keyName } = csr.content;
  call.note({ subject: subjectText, names: nameTexts, 'key-type': keyName });
  if (challengePassword !== undefined) requireChannelBinding(call.socket, challengePassword);
  return csr;
}

/** A certificate whose issue could not be recorded in the audit trail would be refused after the signature: better before. */
async function issue(
  desk: EstDesk,
  call: EstCall,
  approved: ApprovedRequest,
  options: Omit<IssueOptions, 'ttlSeconds'>,
): Promise<EstAnswer> {
  if (!desk.audit.writable) throw fail('audit-unavailable');
  const ttlSeconds = parseDuration(call.ca.record.est.ttl, 'est/ttl').seconds;
  const { serial, record } = await issueCertificate(desk.house, call.ca, approved, { ...options, ttlSeconds }).catch(asOurFault);
  call.note({ serial, 'certificate-sha256': hash('sha256', record.certificate) });
  return answerDer('certificates', encodeCertsOnly([record.certificate]));
}

/** To a device an expired CA is the server's trouble, not its own (R58). */
function asOurFault(thrown: unknown): never {
  throw thrown instanceof ServiceError && thrown.code === 'ca-expired' ? failEst('ca-not-usable', { cause: thrown }) : thrown;
}
