// View of a request for its endpoint. Parts that few endpoints need are made lazily.
import type { Act } from '../../approvals/acts.ts';
import type { Authorized } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import type { TokenRecord } from '../../access/tokens/record.ts';
import { Whole } from '../../audit/record.ts';
import { callerOfRequest } from '../authentication.ts';
import type { ClientCertificate } from '../../tls/client-certificate.ts';
import type { ApprovalSubject, AuditNote, EndpointCall, PublicCall } from '../endpoint.ts';
import { queryOf } from '../request/path.ts';
import type { ApiRequest } from './api-request.ts';
import { passGate } from './approval-gate.ts';

const emptyQuery: ReadonlyMap<string, string> = new Map();

/** A call of a public endpoint. */
export class UnauthenticatedCall implements PublicCall {
  readonly #context: ApiRequest;
  #query: ReadonlyMap<string, string> | undefined;

  constructor(context: ApiRequest) {
    this.#context = context;
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  get params(): Readonly<Record<string, string>> {
    return this.#context.params;
  }

  get now(): Temporal.Instant {
    return this.#context.now;
  }

  /** Node joins repeated headers into one text; only set-cookie, which no request has, comes as a list. */
  get headers(): Readonly<Record<string, string | undefined>> {
    return this.#context.exchange.headers as Record<string, string | undefined>;
  }

  get rawQuery(): string {
    return queryOf(this.#context.exchange.target);
  }

  get query(): ReadonlyMap<string, string> {
    return (this.#query ??= this.rawQuery === '' ? emptyQuery : new Map(new URLSearchParams(this.rawQuery)));
  }

  get largeText(): Uint8Array | undefined {
    return this.#context.largeText;
  }

  get clientIp(): string {
    return this.#context.clientIp;
  }

  get via(): string | undefined {
    return this.#context.exchange.via;
  }

  get certificate(): ClientCertificate | undefined {
    return this.#context.exchange.certificate;
  }

  get userAgent(): string {
    return this.#context.userAgent;
  }

  get signal(): AbortSignal {
    const controller = new AbortController();
    if (this.#context.exchange.isClosed) controller.abort();
    else this.#context.exchange.onceClosed(() => controller.abort());
    return controller.signal;
  }

  noteIssued(token: TokenRecord): void {
    this.#context.exchange.noteIssued?.(token);
  }

  noteAudit(fields: AuditNote): void {
    const { note } = this.#context;
    const [before, after] = [note.requestParameters, fields.requestParameters];
    Object.assign(note, fields);
    // Parameters of the request stay beside those of its outcome.
    if (before !== undefined && after !== undefined && !(before instanceof Whole) && !(after instanceof Whole))
      note.requestParameters = { ...before, ...after };
  }
}

/** A call of an endpoint for callers with a token, made only with the decision of access control. */
export class AuthorizedCall extends UnauthenticatedCall implements EndpointCall {
  readonly access: Authorized;
  readonly #context: ApiRequest;

  constructor(context: ApiRequest, authorized: Authorized) {
    super(context);
    this.#context = context;
    this.access = authorized;
  }

  get caller(): Caller {
    return this.access.caller;
  }

  async requireApproval(acts: readonly Act[], subjectOf: () => ApprovalSubject): Promise<void> {
    await passGate(this.#context, acts, subjectOf);
  }

  callerNow(): Caller | undefined {
    const { server, exchange } = this.#context;
    return callerOfRequest(server, exchange, server.clock.now(), true);
  }
}
