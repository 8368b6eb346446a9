// simpleenroll and simplereenroll: credential, request, identity, signature, record, in this order.
import { hash } from 'node:crypto';
import { refusalOf } from '../../../core/audit/record.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import type { Issuable, VerifiedRequest } from '../../../core/plugin/services/certificate-authority.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { requireChannelBinding } from './channel-binding.ts';
import { authenticateFirst, authenticateRenewal, describeCredentials } from './client-auth.ts';
import { failEst } from '../errors.ts';
import type { EstCall, EstContext } from '../context.ts';
import { answerDer, type EstAnswer, readRequestBody } from '../listener/transport.ts';

/** First enrolment (RFC 7030 4.2.1). */
export async function simpleEnroll(context: EstContext, call: EstCall): Promise<EstAnswer> {
  const credential = await accepted(context, call, () => authenticateFirst(context, call));
  call.accept({ ...describeCredentials(context, call), credential });
  const request = await readRequest(call);
  return issue(context, call, request.approve(), { via: credential });
}

/** Renewal or rekey (RFC 7030 4.2.2). A certificate that is revoked while the request runs renews nothing. */
export async function simpleReenroll(context: EstContext, call: EstCall): Promise<EstAnswer> {
  const held = await accepted(context, call, () => authenticateRenewal(context, call));
  call.accept({ credential: 'certificate', 'renewed-serial': held.serial });
  const request = await readRequest(call);
  return issue(context, call, request.approveRenewal(held), {
    via: 'est-renewal',
    recheck(transaction) {
      if (held.isRevoked(transaction)) {
        throw failEst('enrolment-refused', { detail: 'The credential was not accepted: the client certificate is revoked.' });
      }
    },
  });
}

/** A refusal is recorded with the certificate that was shown. */
export async function accepted<T>(context: EstContext, call: EstCall, authenticate: () => T | Promise<T>): Promise<T> {
  try {
    return await authenticate();
  } catch (error) {
    call.note(describeCredentials(context, call));
    throw error;
  }
}

export async function readRequest(call: EstCall): Promise<VerifiedRequest> {
  const request = call.ca.readRequest(readRequestBody(call.headers['content-type'], await call.readBody()));
  const { challengePassword, subject, names, keyName } = request;
  call.note({ subject, names, 'key-type': keyName });
  if (challengePassword !== undefined) requireChannelBinding(call.socket, challengePassword);
  return request;
}

async function issue(context: EstContext, call: EstCall, approved: Issuable, options: IssueOptions): Promise<EstAnswer> {
  return answerDer('certificates', encodeCertsOnly([await issueRecorded(context, call, approved, options)]));
}

type IssueOptions = { readonly via: string; recheck?(transaction: WriteTransaction): void };

/** A certificate whose issue could not be recorded in the audit trail is refused before it is signed, not after. */
export async function issueRecorded({ audit }: EstContext, call: EstCall, approved: Issuable, options: IssueOptions): Promise<Uint8Array> {
  const refusal = refusalOf(audit);
  if (refusal !== undefined) throw refusal;
  const { certificate, ...certified } = await approved.issue(options).catch(asServerError);
  call.note({ ...certified, 'certificate-sha256': hash('sha256', certificate) });
  return certificate;
}

/** An expired CA is an error of the server for a device, which cannot renew it. */
function asServerError(thrown: unknown): never {
  throw thrown instanceof ServiceError && thrown.code === 'ca-expired' ? failEst('ca-not-usable', { cause: thrown }) : thrown;
}
