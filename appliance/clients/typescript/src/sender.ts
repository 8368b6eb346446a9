// Interface of the client for the generated operations: requests as data, and a way to send them for each kind of answer.

/** Of one call. */
export type CallOptions = {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time for the call with all its attempts; default: the client's. */
  readonly timeoutMs?: number | undefined;
};

export type ApiRequest = {
  readonly method: string;
  /** from `/v1`, its variable parts encoded */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** sent as JSON; members that are undefined are left out */
  readonly body?: unknown;
  /** sent as they are, with `mediaType` */
  readonly octets?: Uint8Array;
  readonly mediaType?: string;
  /** true if it may be sent again when the outcome of the first attempt is unknown */
  readonly isIdempotent: boolean;
  /** Sent without a token. */
  readonly isPublic?: boolean;
};

/** Every function rejects with `Problem` for a refusal, and with `ConnectionError` when no address answered. */
export interface Sender {
  nothing(request: ApiRequest, options: CallOptions): Promise<void>;
  json<T>(request: ApiRequest, options: CallOptions): Promise<T>;
  text(request: ApiRequest, options: CallOptions): Promise<string>;
  octets(request: ApiRequest, options: CallOptions): Promise<Uint8Array>;
  /** The entries of a list over all its pages, each read when its entries are asked for. */
  pages<T>(request: ApiRequest, options: CallOptions): AsyncGenerator<T, void, undefined>;
  /** The octets as they arrive. Leaving the loop ends the connection. */
  stream(request: ApiRequest, options: CallOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /** The JSON documents of an answer with a line each, as they arrive, and of those that its links lead to. */
  lines(request: ApiRequest, options: CallOptions): AsyncGenerator<unknown, void, undefined>;
}

/** A variable part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}
