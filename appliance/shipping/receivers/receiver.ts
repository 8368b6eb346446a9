// What the shipper needs of a receiver, whatever it speaks.
import type { Destination } from '../../../core/config/shipping.ts';
import type { ShippedRecord } from '../formats/records.ts';

/** A record, by its index in what was sent, that the receiver will never take, and what it says. */
export type Refused = { readonly index: number; readonly reason: string };

/**
 * What became of records. `refused`: some that the receiver names. `whole`: it refused `count` records together from index `from` on, for the
 * sake of one or of all, and nothing after them was sent. Everything else was taken.
 */
export type Sent = {
  readonly refused: readonly Refused[];
  readonly whole?: { readonly from: number; readonly count: number; readonly reason: string };
};

/** A way to a receiver. It connects when something is sent. One call at a time. */
export interface Connection {
  /** Sends records in order; rejects with ReceiverError, and then nothing that is not confirmed counts as sent. */
  send(records: readonly ShippedRecord[]): Promise<Sent>;
  /** Resolves when the receiver has read everything that was sent; as much of a proof as its protocol gives. */
  confirm(): Promise<void>;
  /** whether every send() is confirmed by itself, so that confirm() costs nothing */
  readonly confirmsEach: boolean;
  /** The last answer in a few words: protocol version, status. */
  readonly answer: string;
  /** Lets go at once. */
  close(): void;
}

/** What the way to a receiver is made from. */
export type ReceiverParts = {
  readonly destination: Destination;
  /** name of this appliance in what is sent */
  readonly host: string;
  /** the longest time without any progress */
  readonly patienceMs: number;
  /** syslog: a connection is not closed before this age, so that what TLS itself sends at its beginning has come */
  readonly quietMs: number;
  /** splunk: the longest time until the indexers acknowledge */
  readonly acknowledgeMs: number;
};

/** The receiver cannot be reached, or does not take what is sent. The message says what to mend, and holds no secret. */
export class ReceiverError extends Error {
  override readonly name = 'ReceiverError';
  /** from its Retry-After */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options: { readonly retryAfterSeconds?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Text of a receiver for logs and answers: one line, short, and without control characters. */
export function quoted(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
