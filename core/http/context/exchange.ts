// The two ends of a request, whatever carries it: a message of HTTP, a route of a foreign API that stands for an endpoint, or a call of
// another protocol in this process.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../wire/json.ts';
import type { Caller } from '../../access/caller.ts';
import type { TokenRecord } from '../../access/tokens/record.ts';
import type { PolicyOperation } from '../../access/policy/patterns.ts';
import type { ServiceError } from '../../base/errors.ts';
import { type ClientCertificate, clientCertificateOf } from '../../tls/client-certificate.ts';
import type { FurtherActs } from '../alias.ts';
import { clientAddressOf } from '../listener/client-address.ts';
import { listMethodOfParser } from '../listener/list-method.ts';
import { type Admit, type Body, readBody } from '../request/body.ts';
import { type Answer, sendAnswer } from '../response/answer.ts';
import { compressedFor } from '../response/compressed.ts';

/** Interface of a request for checks, records and counts. */
export type Exchange = {
  readonly method: string;
  /** path and query */
  readonly target: string;
  /** names in lower case */
  readonly headers: IncomingHttpHeaders;
  readonly clientIp: string;
  /** certificate of the TLS client; absent for a caller in this process */
  readonly certificate?: ClientCertificate | undefined;
  /** true if the answer was sent, or is not needed any longer */
  readonly isClosed: boolean;
  /** true if a part of the answer was sent: it can only be cut off */
  readonly isAnswering: boolean;
  /** Calls the listener when it closes; never for one that is closed. */
  onceClosed(listener: () => void): void;
  /** Ends the exchange without an answer, or in the middle of one. */
  break(): void;
};

/** Decision of the policies about an allowed request. */
export type RequestAccess = {
  /**
   * Throws the ServiceError that would refuse this document (wire form) of the endpoint, because it is invalid or has values that are not
   * allowed.
   */
  readonly requireInput: (document: JsonObject) => void;
  /** Throws `policy-denied` unless the caller may also do that at another path. */
  requireAt(path: string, operation: PolicyOperation): void;
};

/** A request to an endpoint of the API. */
export type ApiExchange = Exchange & {
  /** foreign protocol of the request, for the audit trail */
  readonly via?: string | undefined;
  /** it makes its answer from the document of the endpoint's */
  readonly takesDocument?: boolean | undefined;
  /** Throws the ServiceError that excludes a caller from the foreign API; absent: all callers are admitted. */
  admit?(caller: Caller): void;
  /** Called with the decision of the policies, when they have allowed the request. */
  noteAccess?(access: RequestAccess): void;
  /** Calls `done` as readBody does. */
  readBody(limitBytes: number, admit: Admit, done: (body: Body) => void): void;
  /** makes the input of the endpoint from a document of the foreign protocol; throws the ServiceError that refuses it */
  readonly inputOf?: ((document: JsonObject, caller: Caller | undefined) => JsonObject) | undefined;
  /** Tells whether a large body is read despite this refusal of the request; absent: never. */
  readsDespite?(refusal: unknown): boolean;
  /** Acts of further requests that make its answer, once the input is made; absent: none. */
  furtherActs?(): FurtherActs | undefined;
  /** Called with the token that the endpoint issues. */
  noteIssued?(token: TokenRecord): void;
  /** Called with the document of a large body, whose memory another thread takes. */
  noteDocument?(document: JsonObject): void;
  /** Called with the refusal of the next answer, for exchanges with their own form of refusals. */
  noteRefusal?(error: ServiceError): void;
  /** As sendAnswer. */
  send(requestId: string, answer: Answer): Promise<void> | undefined;
};

/** A message of HTTP. */
export class HttpExchange implements ApiExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  #clientIp: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
  }

  get method(): string {
    const { method = '' } = this.request;
    return method === listMethodOfParser ? 'LIST' : method;
  }

  get target(): string {
    return this.request.url ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get clientIp(): string {
    return (this.#clientIp ??= clientAddressOf(this.request));
  }

  get certificate(): ClientCertificate | undefined {
    return clientCertificateOf(this.request.socket);
  }

  get isClosed(): boolean {
    return this.response.destroyed;
  }

  get isAnswering(): boolean {
    return this.response.headersSent;
  }

  onceClosed(listener: () => void): void {
    this.response.once('close', listener);
  }

  break(): void {
    this.response.destroy();
  }

  readBody(limitBytes: number, admit: Admit, done: (body: Body) => void): void {
    readBody(this.request, limitBytes, admit, done);
  }

  send(requestId: string, answer: Answer): Promise<void> | undefined {
    return sendAnswer(this.response, requestId, compressedFor(this.request, answer));
  }
}
