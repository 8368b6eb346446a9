// The interface between the client and the transport of its requests: fetch, node's https, or one of the caller.

/** One attempt. */
export type TransportRequest = {
  readonly method: string;
  readonly url: string;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
};

export type TransportAnswer = {
  readonly status: number;
  /** `name` in lower case */
  header(this: void, name: string): string | undefined;
  /** Must be read to its end, or left by a `break`. */
  readonly body: AsyncIterable<Uint8Array>;
};

/** Nothing of the request was sent: there was no connection, or the server is not one that is trusted. `cause` says why. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Rejects with NotSentError where it is known that nothing was sent, and with the error of the network where that is not known: such a
 * request may have had its effect. Follows no redirections: they would take the token elsewhere.
 */
export type Transport = {
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Closes the connections that are kept. */
  close?(): void;
};
