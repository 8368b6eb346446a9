// Exchange of a call from this process: for protocols other than HTTP, and for those that need several endpoints for an answer.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../access/caller.ts';
import type { Admit, Body } from '../request/body.ts';
import { defined } from '../../base/defined.ts';
import { untrustedBytes } from '../request/body.ts';
import type { ClientCertificate } from '../../tls/client-certificate.ts';
import type { Answer } from '../response/answer.ts';
import type { ApiExchange } from './exchange.ts';

/** A request without a socket. */
export type Invocation = {
  /** the protocol, for the audit trail */
  readonly via: string;
  readonly method: string;
  /** path and query */
  readonly target: string;
  /** in lower case: `authorization`, `content-type`, `user-agent`, preconditions; `if-match` */
  readonly headers: IncomingHttpHeaders;
  /** absent: none. A large one must not be used afterwards: another thread reads it */
  readonly body?: Uint8Array;
  /** address of the peer that sent the request of the other protocol */
  readonly clientIp: string;
  /** certificate of that peer, where its connection has one */
  readonly certificate?: ClientCertificate | undefined;
  /** aborted when the answer is no longer needed */
  readonly signal?: AbortSignal;
};

/** The answer to an invocation, as it would have been sent. `caller`: holder of the token, whether the policies allowed the request or not. */
export type Invoked = Answer & { readonly requestId: string; readonly caller?: Caller };

/**
 * Answers like the same request over HTTP: the same checks in the same order, the same record, the same counts. Rejects if HTTP would cut
 * the connection.
 */
export type Invoke = (invocation: Invocation) => Promise<Invoked>;

const empty = new Uint8Array(0);

export class DirectExchange implements ApiExchange {
  readonly via: string;
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly clientIp: string;
  readonly certificate: ClientCertificate | undefined;
  /** rejects if no answer will be made, or none is needed any longer */
  readonly answered: Promise<Invoked>;
  readonly #body: Uint8Array;
  readonly #settle: { readonly resolve: (invoked: Invoked) => void; readonly reject: (reason: unknown) => void };
  readonly #closing: (() => void)[] = [];
  #caller: Caller | undefined;
  #isClosed = false;
  #isAnswering = false;

  constructor({ via, method, target, headers, clientIp, certificate, body = empty, signal }: Invocation) {
    this.via = via;
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.clientIp = clientIp;
    this.certificate = certificate;
    this.#body = body;
    const { promise, resolve, reject } = Promise.withResolvers<Invoked>();
    this.answered = promise;
    this.#settle = { resolve, reject };
    if (signal?.aborted === true) this.break();
    else signal?.addEventListener('abort', () => this.break(), { once: true });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isAnswering(): boolean {
    return this.#isAnswering;
  }

  onceClosed(listener: () => void): void {
    this.#closing.push(listener);
  }

  break(): void {
    this.#settle.reject(new Error('the request ended without an answer'));
    this.#close();
  }

  admit(caller: Caller): void {
    this.#caller = caller;
  }

  /** Reads the body, within the same limits and the same room as a body from a socket. */
  readBody(limitBytes: number, admit: Admit, done: (body: Body) => void): void {
    const body = this.#body;
    if (body.length > limitBytes) return done('too-large');
    if (body.length <= untrustedBytes) return done(body);
    let isOver = false;
    const once = (outcome: Body): void => {
      if (isOver) return;
      isOver = true;
      done(outcome);
    };
    const place = admit({ octets: body.length, proceed: () => queueMicrotask(() => once(body)), refuse: once });
    if (place === undefined) once('refused');
    else if (place.arrived(body.length)) place.whole(body.length);
  }

  send(requestId: string, answer: Answer): undefined {
    if (this.#isClosed) return;
    this.#isAnswering = true;
    const { body, ...rest } = answer;
    const goesOn = typeof body === 'object' && Symbol.asyncIterator in body;
    const content = this.method === 'HEAD' || body === undefined ? {} : { body: goesOn ? this.#followed(body) : body };
    this.#settle.resolve({ ...rest, ...content, requestId, ...defined({ caller: this.#caller }) });
    if (!goesOn || this.method === 'HEAD') this.#close();
  }

  /** Yields the pieces of a stream, and closes after the last of them, or when its reader stops. */
  async *#followed(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const piece of pieces) {
        if (this.#isClosed) return;
        yield piece;
      }
    } finally {
      this.#close();
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of this.#closing.splice(0)) listener();
  }
}
