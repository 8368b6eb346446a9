// The exchange of a request that came by an alias: to checks and records it is a request to the endpoint that the alias stands for.
import type { IncomingHttpHeaders } from 'node:http';
import type { ServiceError } from '../../base/errors.ts';
import { fail } from '../../base/errors.ts';
import type { JsonObject } from '../../wire/json.ts';
import type { Routed } from './api-request.ts';
import type { ApiExchange } from './exchange.ts';
import type { Admit, Body } from '../request/body.ts';
import { queryOf, readRequestPath } from '../request/path.ts';
import type { Answer } from '../response/answer.ts';
import type { Route } from '../routes.ts';
import type { Alias, Asked } from '../alias.ts';

const empty = new Uint8Array(0);

export class AliasExchange implements ApiExchange {
  readonly via: string;
  readonly headers: IncomingHttpHeaders;
  readonly #alias: Alias;
  readonly #asked: Asked;
  readonly #under: ApiExchange;
  #target: string;
  /** The body, where the alias has one. */
  readonly inputOf: ((document: JsonObject) => JsonObject) | undefined;

  /** `params`: of the foreign path. */
  constructor(under: ApiExchange, alias: Alias, params: Readonly<Record<string, string>>) {
    this.#under = under;
    this.#alias = alias;
    this.#asked = { method: under.method, params, query: new URLSearchParams(queryOf(under.target)), headers: under.headers };
    this.#target = under.target;
    this.via = alias.via;
    this.headers = headersOf(under.headers, alias.credentials(under.headers));
    this.inputOf = alias.input === undefined ? undefined : (document) => alias.input?.(document, this.#asked) ?? document;
  }

  /** What the request asks of our endpoint. Throws the ServiceError that refuses it. */
  route(route: Route): Routed {
    const { params, query = {} } = this.#alias.target(this.#asked);
    const segments = route.endpoint.path
      .split('/')
      .map((part) => encodeURIComponent(part.startsWith('{') ? (params[part.slice(1, -1)] ?? '') : part));
    const path = readRequestPath(segments.join('/'));
    if (path === undefined) throw fail('not-found');
    const search = new URLSearchParams(query).toString();
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

  readBody(limitBytes: number, admit: Admit, done: (body: Body) => void): void {
    if (this.inputOf === undefined) done(empty);
    else this.#under.readBody(limitBytes, admit, done);
  }

  refusalOf(error: ServiceError, requestId: string): Answer {
    return this.#alias.refusal(error, requestId);
  }

  /** A refusal has its foreign form already. */
  send(requestId: string, answer: Answer): Promise<void> | undefined {
    return this.#under.send(requestId, answer);
  }

  /** The foreign answer of what the endpoint returned. */
  answerOf(answer: Answer, requestId: string): Answer {
    const { body, status, last } = answer;
    const document: unknown = typeof body === 'string' && answer.mediaType === 'application/json' ? JSON.parse(body) : body;
    const foreign = this.#alias.answer({ status, requestId, document }, this.#asked);
    return last === undefined ? foreign : { ...foreign, last };
  }
}

/** Foreign bodies have any type or none, and no coding; what would have been our precondition means nothing there. */
function headersOf(foreign: IncomingHttpHeaders, authorization: string | undefined): IncomingHttpHeaders {
  const { authorization: _, 'if-match': __, 'if-none-match': ___, accept: ____, ...headers } = foreign;
  return { ...headers, 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) };
}
