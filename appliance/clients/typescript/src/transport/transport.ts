// The interface between the client and what carries its requests: fetch, node's https, or something of the caller's.

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

/** Rejects with the error of the network. Follows no redirections: they would take the token elsewhere. */
export type Transport = {
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Closes the connections that are kept. */
  close?(): void;
};
