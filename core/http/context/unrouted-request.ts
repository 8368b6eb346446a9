// A request without an endpoint: unknown path, unknown method, or an ambiguous header.
import type { Caller } from '../../access/caller.ts';
import type { ServiceError } from '../../base/errors.ts';
import { formatTimestamp } from '../../base/time.ts';
import { refusalPage } from '../pages/refusal.ts';
import { preferenceOf } from '../request/accept.ts';
import type { Answer } from '../response/answer.ts';
import { problemAnswer } from '../response/problem.ts';
import { callerRecord, type ApiServer } from './api-request.ts';
import type { ApiExchange } from './exchange.ts';
import { RequestContext, type Answered } from './request-context.ts';

/** Refusal of a request without an endpoint. */
export type Unrouted = Known & { readonly refusal: ServiceError };

type Known = {
  /**
   * known part of the path, for the audit record: the rest of an unknown path can be anything, even a secret. Undefined for an
   * ambiguous request, which leaves no record because its content is uncertain
   */
  readonly path: string | undefined;
  /** true if a person may have got lost here, who gets a page */
  readonly mayBePage: boolean;
};

/**
 * Request without an endpoint. It leaves a record only if a caller with a token sent it: unauthenticated requests are unlimited, and the disk is not.
 */
export class UnroutedRequest extends RequestContext<Answer, ApiExchange> {
  readonly #server: ApiServer;
  readonly #known: Known;
  readonly #caller: Caller | undefined;

  constructor(server: ApiServer, exchange: ApiExchange, known: Known, caller: Caller | undefined) {
    super(server, exchange);
    this.#server = server;
    this.#known = known;
    this.#caller = caller;
  }

  protected override get restsOnStore(): boolean {
    return false;
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    return { method: 'any', route: undefined };
  }

  protected get place(): string {
    return 'routing';
  }

  protected formatAnswer(): never {
    throw new Error('a request without an endpoint has nothing to run');
  }

  protected answerOf(error: ServiceError): Answer {
    const { exchange } = this;
    exchange.noteRefusal?.(error);
    const takesPage = this.#known.mayBePage && preferenceOf(exchange.headers.accept) === 'html';
    return takesPage ? refusalPage(error, this.requestId, this.#server.clock.now()) : problemAnswer(error, this.requestId);
  }

  protected record(status: number, error: ServiceError | undefined): Promise<void> | undefined {
    const { audit, clock } = this.#server;
    const { path } = this.#known;
    if (path === undefined || this.#caller === undefined || !audit.writable) return undefined;
    const { requestTimeMs: _, ...record } = this.recordOf({
      kind: 'request',
      occurredAt: formatTimestamp(clock.now()),
      owner: callerRecord(this.#caller, this.exchange.via),
      path,
      status,
      code: error?.code,
    });
    return audit.write(record);
  }

  protected mayGoUnrecorded(): boolean {
    return true;
  }

  protected send(answer: Answer): Promise<void> | undefined {
    return this.exchange.send(this.requestId, answer);
  }
}
