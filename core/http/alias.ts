// A route of a foreign API that stands for one of our endpoints: method, path, credentials, input, answer and refusals are translated, and
// nothing else. The request is judged, limited, counted and recorded as that endpoint, with the name of the protocol beside the caller.
import type { IncomingHttpHeaders } from 'node:http';
import type { Act } from '../approvals/acts.ts';
import type { Sender } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';
import type { TokenRecord } from '../access/tokens/record.ts';
import type { PolicyOperation } from '../access/policy/patterns.ts';
import type { ServiceError } from '../base/errors.ts';
import type { JsonObject } from '../wire/json.ts';
import type { Answer } from './response/answer.ts';

/** Any other error of these functions is answered with 500, as that of an endpoint. */
export type Alias = {
  /** the protocol, for the audit trail */
  readonly via: string;
  /** of the foreign API */
  readonly method: string;
  /** of the foreign API, with parameters in braces */
  readonly path: string;
  /** method and path of the endpoint: `POST /v1/state/keystore/transit-keys/{name}/encrypt` */
  readonly of: string;
  /** Returns the Authorization header equivalent to the credentials of the foreign API; undefined without credentials. */
  credentials(headers: IncomingHttpHeaders): string | undefined;
  /** Throws the ServiceError that excludes a caller with a token from this API. Called before the policies. */
  admit?(caller: Caller, asked: Asked): void;
  /** Returns a right that the request needs besides that to its endpoint, because `reply` will use it; undefined: none. */
  needs?(asked: Asked): { readonly path: string; readonly operation: PolicyOperation } | undefined;
  /** Returns parameters of our path, and a query. Known before the body, as policies are. Throws the ServiceError that refuses the request. */
  target(asked: Asked): { readonly params: Readonly<Record<string, string>>; readonly query?: Readonly<Record<string, string>> };
  /**
   * Makes the input of the endpoint, as on the wire, after the policies have allowed the request and its target was found; absent: the endpoint
   * has none, and no body is read. `caller`: undefined for public endpoints. Throws the ServiceError that refuses the request.
   */
  input?(document: JsonObject, asked: Asked, caller: Caller | undefined): JsonObject;
  /**
   * Returns the acts of a further request of `reply`, without which this one is not to run, and its path; undefined: none. A foreign request carries no approval: a
   * rule about them refuses both, before anything is made.
   */
  acts?(asked: Asked): FurtherActs | undefined;
  /** Formats a successful answer for the foreign API. */
  answer(answered: Answered, asked: Asked): Answer;
  /** Formats a refusal for the foreign API. */
  refusal(error: ServiceError, requestId: string): Answer;
  /** Tells whether `reply` needs the body of a request with this refusal: then even a large one is read. */
  readsDespite?(refusal: ServiceError, caller: Caller): boolean;
  /**
   * Replaces both if the foreign answer needs other endpoints: called when the request itself is on record. Each call of
   * `invoke` is a request of its own, with the same credentials. Undefined, at once or later: as without it. Throws, at once or later, the
   * ServiceError that refuses the request.
   */
  reply?(outcome: Outcome, asked: Asked, invoke: InvokeFurther): Reply;
};

export type FurtherActs = { readonly acts: readonly Act[]; readonly path: string };

export type Reply = Answer | Promise<Answer | undefined> | undefined;

/** The foreign request. */
export type Asked = {
  readonly method: string;
  /** decoded path parameters by name */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
};

/** Answer of our endpoint: the document as on the wire, undefined without one. */
export type Answered = {
  readonly status: number;
  readonly requestId: string;
  readonly document: unknown;
  /** holder of the token, also of a request that the policies have refused; undefined without a token */
  readonly caller?: Caller | undefined;
};

/** An answer or a refusal. */
export type Outcome = Answered & {
  readonly error: ServiceError | undefined;
  /** undefined: unauthenticated, or not admitted */
  readonly caller: Caller | undefined;
  /** token that the endpoint has issued */
  readonly issued: TokenRecord | undefined;
  readonly from: Sender;
  /** Returns the foreign document; undefined without one. Throws `invalid-json`. */
  body(): JsonObject | undefined;
  /** as in RequestAccess; undefined if the policies have not allowed the request */
  readonly requireInput: ((document: JsonObject) => void) | undefined;
};

/** Sends a further request. `target`: path and query. `authorization`: credentials other than those of the request. */
export type InvokeFurther = (method: string, target: string, document?: JsonObject, authorization?: string) => Promise<Answered>;
