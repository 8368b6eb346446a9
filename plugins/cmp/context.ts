// Context of every operation of CMP, and the request that it receives.
import type { DrawnAhead } from '../../core/base/async/drawn-ahead.ts';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import type { EnrolmentCall, TextAnswer } from '../../core/enrolment/text-request.ts';
import type { CertificateAuthorities } from '../../core/plugin/services/certificate-authority.ts';
import type { Store } from '../../core/store/store.ts';
import type { MacTurns } from './mac-turns.ts';
import type { CmpTables } from './records/records.ts';

export type CmpContext = {
  readonly authorities: CertificateAuthorities;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly tables: CmpTables;
  /** 16 random octets of the token */
  readonly nonces: DrawnAhead;
  readonly macTurns: MacTurns;
};

/** One request to a CA that exists and has this protocol on. */
export type CmpCall = EnrolmentCall;

export type CmpAnswer = TextAnswer;

/** `isLast`: the connection is closed. OpenSSL sends its next message on one that it believes open, and fails. */
export function answerMessage(body: Uint8Array, isLast: boolean): CmpAnswer {
  return { status: 200, headers: { 'content-type': 'application/pkixcmp', ...(isLast ? { connection: 'close' } : {}) }, body };
}
