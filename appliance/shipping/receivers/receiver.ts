// Interface of a receiver for the shipper, whatever protocol it speaks.
import type { Destination } from '../../../core/config/shipping.ts';
import type { ShippedRecord } from '../formats/records.ts';

/** A record that the receiver will never take, by its index in the batch, with the receiver's reason. */
export type Refused = { readonly index: number; readonly reason: string };

/**
 * Outcome of a batch. `refused`: records that the receiver names. `whole`: it refused `count` records together from index `from` on, for
 * the sake of one or of all, and nothing after them was sent. Everything else was taken.
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
  /** true if every send() is confirmed by itself, so that confirm() costs nothing */
  readonly confirmsEach: boolean;
  /** The last answer in a few words: protocol version, status. */
  readonly answer: string;
  /** Lets go at once. */
  close(): void;
}

/** Parts from which the connection to a receiver is made. */
export type ReceiverParts = {
  readonly destination: Destination;
  /** name of this appliance in sent records */
  readonly host: string;
  /** the longest time without any progress */
  readonly patienceMs: number;
  /** syslog: minimum age of a connection before it is closed, so that messages of TLS itself at its beginning have come */
  readonly quietMs: number;
  /** splunk: the longest time until the indexers acknowledge */
  readonly acknowledgeMs: number;
};

/** The receiver cannot be reached, or does not take the records. The message names the remedy, and holds no secret. */
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
