// Exchange of a request by an alias: for checks and records it is a request to the endpoint that the alias stands for.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../access/caller.ts';
import type { TokenRecord } from '../../access/tokens/record.ts';
import { fail, ServiceError } from '../../base/errors.ts';
import { type JsonObject, parseJsonObject } from '../../wire/json.ts';
import type { ClientCertificate } from '../../tls/client-certificate.ts';
import type { Alias, Answered, Asked, FurtherActs, InvokeFurther, Outcome, Reply } from '../alias.ts';
import type { Admit, Body } from '../request/body.ts';
import { formatPath, queryOf, type RequestPath } from '../request/path.ts';
import type { Answer } from '../response/answer.ts';
import type { Route } from '../routes.ts';
import type { Routed } from './api-request.ts';
import type { Invoke } from './direct-exchange.ts';
import type { ApiExchange, RequestAccess } from './exchange.ts';

const empty = new Uint8Array(0);

export class AliasExchange implements ApiExchange {
  readonly via: string;
  readonly takesDocument = true;
  readonly headers: IncomingHttpHeaders;
  readonly inputOf: ((document: JsonObject, caller: Caller | undefined) => JsonObject) | undefined;
  readonly #alias: Alias;
  readonly #asked: Asked;
  readonly #under: ApiExchange;
  readonly #invoke: Invoke;
  #target: string;
  #caller: Caller | undefined;
  #body: Uint8Array = empty;
  /** document of a large body */
  #document: JsonObject | undefined;
  #error: ServiceError | undefined;
  #access: RequestAccess | undefined;
  #issued: TokenRecord | undefined;
  /** true once an answer was made: another one tells of a fault of the alias */
  #isAnswered = false;

  /** `params`: of the foreign path. `invoke`: for further requests of its answer. */
  constructor(under: ApiExchange, alias: Alias, params: Readonly<Record<string, string>>, invoke: Invoke) {
    this.#under = under;
    this.#alias = alias;
    this.#invoke = invoke;
    this.#asked = new ForeignRequest(under, params);
    this.#target = under.target;
    this.via = alias.via;
    this.headers = headersOf(under.headers, alias.credentials(under.headers));
    this.inputOf = alias.input === undefined ? undefined : (document, caller) => alias.input?.(document, this.#asked, caller) ?? document;
  }

  /** Translates the target of the request to our endpoint; `find` reads its path. Throws the ServiceError that refuses it. */
  route(route: Route, find: (target: string) => RequestPath | undefined): Routed {
    const { params, query } = this.#alias.target(this.#asked);
    const path = find(filled(route.endpoint.path, params));
    if (path === undefined) throw fail('not-found');
    const search = query === undefined ? '' : new URLSearchParams(query).toString();
    this.#target = search === '' ? path.text : `${path.text}?${search}`;
    return { path, params, route };
  }

  get method(): string {
    return this.#under.method === 'HEAD' ? 'HEAD' : this.#alias.of.slice(0, this.#alias.of.indexOf(' '));
  }

  get target(): string {
    return this.#target;
  }

  get clientIp(): string {
    return this.#under.clientIp;
  }

  get certificate(): ClientCertificate | undefined {
    return this.#under.certificate;
  }

  get isClosed(): boolean {
    return this.#under.isClosed;
  }

  get isAnswering(): boolean {
    return this.#under.isAnswering;
  }

  onceClosed(listener: () => void): void {
    this.#under.onceClosed(listener);
  }

  break(): void {
    this.#under.break();
  }

  admit(caller: Caller): void {
    this.#alias.admit?.(caller, this.#asked);
    this.#caller = caller;
  }

  readBody(limitBytes: number, admit: Admit, done: (body: Body) => void): void {
    if (this.inputOf === undefined) done(empty);
    else
      this.#under.readBody(limitBytes, admit, (sent) => {
        const body = isNull(sent) ? empty : sent;
        if (body instanceof Uint8Array) this.#body = body;
        done(body);
      });
  }

  readsDespite(refusal: unknown): boolean {
    return refusal instanceof ServiceError && this.#caller !== undefined && this.#alias.readsDespite?.(refusal, this.#caller) === true;
  }

  noteDocument(document: JsonObject): void {
    this.#document = document;
    this.#body = empty;
  }

  noteAccess(access: RequestAccess): void {
    this.#access = access;
    const needed = this.#alias.needs?.(this.#asked);
    if (needed !== undefined) access.requireAt(needed.path, needed.operation);
  }

  furtherActs(): FurtherActs | undefined {
    return this.#alias.acts?.(this.#asked);
  }

  noteIssued(token: TokenRecord): void {
    this.#issued = token;
  }

  noteRefusal(error: ServiceError): void {
    this.#error = error;
  }

  /**
   * Sends the foreign form of an answer; everything before uses the answer of the endpoint. Called again after a fault of that, with the refusal
   * that tells so: then the alias makes no answer, and what it cannot word is sent as our API words it.
   */
  send(requestId: string, answer: Answer): Promise<void> | undefined {
    if (this.#isAnswered) return this.#under.send(requestId, this.#lastRefusal(requestId) ?? answer);
    this.#isAnswered = true;
    const error = this.#error;
    const answered = error === undefined ? answeredOf(answer, requestId) : { status: answer.status, requestId, document: undefined };
    const reply = this.#reply(answered, error);
    const translated = (): Answer =>
      error === undefined ? this.#alias.answer(answered, this.#asked) : this.#alias.refusal(error, requestId);
    if (!(reply instanceof Promise)) return this.#under.send(requestId, reply ?? translated());
    const refused = (thrown: unknown): Answer => this.#refusalOf(thrown, requestId);
    return reply.catch(refused).then((further) => this.#under.send(requestId, further ?? translated()));
  }

  #reply(answered: Answered, error: ServiceError | undefined): Reply {
    if (this.#alias.reply === undefined) return undefined;
    try {
      return this.#alias.reply(new Ended(answered, error, this.#sent()), this.#asked, (...more) => this.#invokeFurther(...more));
    } catch (thrown) {
      return this.#refusalOf(thrown, answered.requestId);
    }
  }

  /** Body and sender of the request. */
  #sent(): Sent {
    return { body: this.#document ?? this.#body, caller: this.#caller, access: this.#access, issued: this.#issued, from: this };
  }

  /** The foreign form of a refusal that `reply` has thrown; throws anything else. */
  #refusalOf(thrown: unknown, requestId: string): Answer {
    if (!(thrown instanceof ServiceError) || thrown.status >= 500) throw thrown;
    return this.#alias.refusal(thrown, requestId);
  }

  /** The refusal of a request whose answer could not be made; undefined: the alias cannot word it. */
  #lastRefusal(requestId: string): Answer | undefined {
    try {
      return this.#error === undefined ? undefined : this.#alias.refusal(this.#error, requestId);
    } catch {
      return undefined;
    }
  }

  async #invokeFurther(...[method, target, document, authorization]: Parameters<InvokeFurther>): Promise<Answered> {
    const { via, clientIp, certificate } = this;
    const headers = authorization === undefined ? this.headers : { ...this.headers, authorization };
    const body = document === undefined ? {} : { body: Buffer.from(JSON.stringify(document)) };
    const invoked = await this.#invoke({ via, method, target, headers, clientIp, certificate, ...body });
    return { ...answeredOf(invoked, invoked.requestId), caller: invoked.caller };
  }
}

/** The foreign request as its alias sees it. Few aliases have a query. */
class ForeignRequest implements Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly #target: string;
  #query: URLSearchParams | undefined;

  constructor({ method, headers, target }: ApiExchange, params: Readonly<Record<string, string>>) {
    this.method = method;
    this.params = params;
    this.headers = headers;
    this.#target = target;
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(queryOf(this.#target)));
  }
}

type Sent = {
  /** parsed, if it was a large one */
  readonly body: Uint8Array | JsonObject;
  readonly caller: Caller | undefined;
  readonly access: RequestAccess | undefined;
  readonly issued: TokenRecord | undefined;
  readonly from: Outcome['from'];
};

class Ended implements Outcome {
  readonly status: number;
  readonly requestId: string;
  readonly document: unknown;
  readonly error: ServiceError | undefined;
  readonly caller: Caller | undefined;
  readonly issued: TokenRecord | undefined;
  readonly from: Outcome['from'];
  readonly requireInput: Outcome['requireInput'];
  readonly #body: Uint8Array | JsonObject;

  constructor({ status, requestId, document }: Answered, error: ServiceError | undefined, { body, caller, access, issued, from }: Sent) {
    this.status = status;
    this.requestId = requestId;
    this.document = document;
    this.error = error;
    this.caller = caller;
    this.issued = issued;
    this.from = from;
    this.requireInput = access?.requireInput;
    this.#body = body;
  }

  body(): JsonObject | undefined {
    const body = this.#body;
    if (!(body instanceof Uint8Array)) return body;
    return body.length === 0 ? undefined : parseJsonObject(body);
  }
}

/** Templates in parts: texts and names of parameters, in turn. */
const templates = new Map<string, readonly string[]>();

/** A path of a template with parameters in braces. */
function filled(template: string, params: Readonly<Record<string, string>>): string {
  let parts = templates.get(template);
  if (parts === undefined) templates.set(template, (parts = template.split(/\{(\w+)\}/)));
  let path = parts[0] ?? '';
  for (let at = 1; at < parts.length; at += 2) {
    const value = params[parts[at] ?? ''] ?? '';
    path += (/^[\w\-.~]*$/.test(value) ? value : formatPath([value]).slice(1)) + (parts[at + 1] ?? '');
  }
  return path;
}

/** Tells whether a body is JSON's null, which clients without input send: those of Go encode a nil map so. */
function isNull(body: Body): boolean {
  return body instanceof Uint8Array && body.length <= 16 && Buffer.from(body).toString('latin1').trim() === 'null';
}

function answeredOf(answer: Answer, requestId: string): Answered {
  const { status, mediaType, document } = answer;
  if (document !== undefined) return { status, requestId, document };
  const { body } = answer;
  const isJson = typeof body === 'string' && (mediaType === 'application/json' || mediaType === 'application/problem+json');
  return { status, requestId, document: isJson ? (JSON.parse(body) as unknown) : body };
}

/**
 * Headers of our API that a foreign request cannot mean: bodies there have any type or none, and neither preconditions nor preferences. Nor
 * approvals: the foreign answer cannot say that one was asked for.
 */
const ownHeaders: ReadonlySet<string> = new Set(['authorization', 'if-match', 'if-none-match', 'accept', 'approval', 'approval-reason']);

/** Headers for our endpoint. */
function headersOf(foreign: IncomingHttpHeaders, authorization: string | undefined): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const name of Object.keys(foreign)) if (!ownHeaders.has(name)) headers[name] = foreign[name];
  headers['content-type'] = 'application/json';
  if (authorization !== undefined) headers.authorization = authorization;
  return headers;
}
