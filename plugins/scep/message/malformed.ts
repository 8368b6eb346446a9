// The refusal of a message: the failInfo with which SCEP answers it, and the reason in words.
import { DerError } from '../../../core/der/der.ts';

/** Reasons of a failure (RFC 8894 section 3.2.1.4), with their numbers on the wire. */
export const failInfos = { badAlg: 0, badMessageCheck: 1, badRequest: 2, badTime: 3, badCertId: 4 } as const;
export type FailInfo = keyof typeof failInfos;

/** Fields that an answer repeats, as the message gave them: nothing of it is verified. */
export type AnswerableFields = { readonly transactionId: string; readonly senderNonce: Uint8Array };

/** Thrown for every message that is refused, whatever is wrong with it. */
export class ScepMalformed extends Error {
  override readonly name = 'ScepMalformed';
  readonly failInfo: FailInfo;
  /** a sentence without subject and full stop, which names what to mend; it has no octets of the message */
  readonly reason: string;
  /** fields needed to answer with CertRep; undefined if the message was not readable so far */
  answerable: AnswerableFields | undefined;

  constructor(failInfo: FailInfo, reason: string, answerable?: AnswerableFields) {
    super(reason);
    this.failInfo = failInfo;
    this.reason = reason;
    this.answerable = answerable;
  }
}

/** Runs a reader; octets that are not DER, or not of the expected structure, are a badRequest. */
export function readingMessage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) throw new ScepMalformed('badRequest', `the message is not a CMS message of SCEP: ${error.message}`);
    throw error;
  }
}
