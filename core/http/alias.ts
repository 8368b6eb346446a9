// A route of a foreign API that stands for one of our endpoints: method, path, credentials, input, answer and refusals are translated, and
// nothing else. The request is judged, limited, counted and recorded as that endpoint, with the name of the protocol beside the caller.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../access/caller.ts';
import type { ServiceError } from '../base/errors.ts';
import type { JsonObject } from '../wire/json.ts';
import type { Answer } from './response/answer.ts';

export type Alias = {
  /** the protocol, for the audit trail */
  readonly via: string;
  /** of the foreign API */
  readonly method: string;
  /** of the foreign API, with parameters in braces */
  readonly path: string;
  /** method and path of the endpoint: `POST /v1/state/keystore/transit-keys/{name}/encrypt` */
  readonly of: string;
  /** The value of the Authorization header that the credentials of the foreign API mean; undefined: there are none. */
  credentials(headers: IncomingHttpHeaders): string | undefined;
  /** Throws the ServiceError that keeps a caller with a token from this API altogether. Asked before the policies. */
  admit?(caller: Caller, asked: Asked): void;
  /** Parameters of our path, and a query. Known before the body, as policies are. Throws the ServiceError that refuses the request. */
  target(asked: Asked): { readonly params: Readonly<Record<string, string>>; readonly query?: Readonly<Record<string, string>> };
  /**
   * The input of the endpoint, as on the wire, made when the policies have allowed the request and its target was found; absent: the endpoint
   * has none, and no body is read. `caller`: undefined for public endpoints. Throws the ServiceError that refuses the request.
   */
  input?(document: JsonObject, asked: Asked, caller: Caller | undefined): JsonObject;
  /** The foreign answer of one that is no refusal. */
  answer(answered: Answered, asked: Asked): Answer;
  /** The foreign answer of a refusal. */
  refusal(error: ServiceError, requestId: string): Answer;
  /** Whether `reply` needs the body of a request with this refusal: then a large one is read all the same. */
  readsDespite?(refusal: ServiceError, caller: Caller): boolean;
  /**
   * In place of both, where the foreign answer needs other endpoints besides: called when the request itself is on record. Each call of
   * `invoke` is a request of its own, with the same credentials. Undefined: as without it.
   */
  reply?(outcome: Outcome, asked: Asked, invoke: InvokeFurther): Promise<Answer | undefined>;
};

/** The foreign request. */
export type Asked = {
  readonly method: string;
  /** decoded path parameters by name */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
};

/** What our endpoint answered: the document as on the wire, undefined where there is none. */
export type Answered = {
  readonly status: number;
  readonly requestId: string;
  readonly document: unknown;
  /** of the token, also of a request that the policies have refused; undefined where there was none */
  readonly caller?: Caller | undefined;
};

/** An answer or a refusal. */
export type Outcome = Answered & {
  readonly error: ServiceError | undefined;
  /** undefined: there was none, or it was not admitted */
  readonly caller: Caller | undefined;
  /** The foreign document; undefined where there is none. Throws `invalid-json`. */
  body(): JsonObject | undefined;
  /** As in RequestAccess; undefined where the policies have not allowed the request. */
  requireInput?(document: JsonObject): void;
};

/** `target`: path and query. `authorization`: other credentials than those of the request. */
export type InvokeFurther = (method: string, target: string, document?: JsonObject, authorization?: string) => Promise<Answered>;
