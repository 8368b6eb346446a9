// A refusal in the words of KMIP, for what only the messages know; refusals of the service are mapped by their codes.
import type { EnumerationWord } from '../ttlv/enumerations.ts';

export type Reason = EnumerationWord<'ResultReason'>;

/** Becomes a failed item. The message says what is wrong and how to mend it. */
export class KmipFailure extends Error {
  override readonly name = 'KmipFailure';
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}
