// The refusal of a message: the failInfo with which CMP answers it, and the reason in words.
import { DerError } from '../../../core/der/der.ts';

/** Reasons of a failure (RFC 9810 section 5.2.3), with their bits. */
export const failInfos = {
  ...{ badAlg: 0, badMessageCheck: 1, badRequest: 2, badTime: 3, badCertId: 4, badDataFormat: 5, wrongAuthority: 6 },
  ...{ badPOP: 9, certRevoked: 10, certConfirmed: 11, wrongIntegrity: 12, badRecipientNonce: 13, badSenderNonce: 18 },
  ...{ badCertTemplate: 19, signerNotTrusted: 20, transactionIdInUse: 21, unsupportedVersion: 22, notAuthorized: 23 },
} as const;
export type FailInfo = keyof typeof failInfos;

/** Thrown for every message that is refused. */
export class CmpRefusal extends Error {
  override readonly name = 'CmpRefusal';
  readonly failInfo: FailInfo;
  /** a clause without subject and full stop, or a sentence, which names what to mend; it has no octets of the message */
  readonly reason: string;
  /** true: of the whole message, which is answered with an error, also where a request for a certificate is refused with its own kind of answer */
  readonly ofMessage: boolean;

  constructor(failInfo: FailInfo, reason: string, ofMessage = false) {
    super(reason);
    this.failInfo = failInfo;
    this.reason = reason;
    this.ofMessage = ofMessage;
  }
}

/** Runs a reader; octets that are not DER, or not of the expected structure, are a badDataFormat. */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) throw new CmpRefusal('badDataFormat', `${what} is not what RFC 9810 says: ${error.message}`);
    throw error;
  }
}
