// Context of every operation of SCEP, and the request that it receives.
import type { Audit } from '../../core/audit/record.ts';
import type { Clock } from '../../core/base/context.ts';
import type { EnrolmentCall, TextAnswer } from '../../core/enrolment/text-request.ts';
import type { CertificateAuthorities } from '../../core/plugin/services/certificate-authority.ts';

export type ScepContext = {
  readonly authorities: CertificateAuthorities;
  readonly audit: Audit;
  readonly clock: Clock;
  /** 16 random octets of the token */
  drawNonce(): Promise<Uint8Array>;
};

/** One request to a CA that exists and has this protocol on. */
export type ScepCall = EnrolmentCall;

export type ScepAnswer = TextAnswer;

export function answer(contentType: string, body: string | Uint8Array): ScepAnswer {
  return { status: 200, headers: { 'content-type': contentType }, body };
}
