// A request to an endpoint of the API: the results of its checks so far, its audit record and its answers.
import type { Approvals } from '../../approvals/rules.ts';
import type { AccessControl, Authorized } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import type { Audit } from '../../audit/record.ts';
import type { Log } from '../../base/context.ts';
import type { ServiceError } from '../../base/errors.ts';
import { defined } from '../../base/defined.ts';
import { formatTimestamp } from '../../base/time.ts';
import type { Scheme } from '../authentication.ts';
import type { AuditNote, EndpointCall } from '../endpoint.ts';
import { refusalPage } from '../pages/refusal.ts';
import { preferenceOf } from '../request/accept.ts';
import type { Body } from '../request/body.ts';
import type { ReadBody } from '../request/input.ts';
import type { RequestPath } from '../request/path.ts';
import type { Answer } from '../response/answer.ts';
import { toldTo } from '../response/telling.ts';
import { problemAnswer } from '../response/problem.ts';
import { formatReply } from '../response/reply.ts';
import { isPage, type Route } from '../routes.ts';
import type { ApiExchange } from './exchange.ts';
import { RequestContext, type Answered, type GoesOn, type RecordParts, type RequestServer } from './request-context.ts';

/** The server of the API. */
export type ApiServer = RequestServer & {
  readonly log: Log;
  readonly audit: Audit;
  readonly access: AccessControl;
  /** schemes of the Authorization header besides Bearer */
  readonly schemes?: readonly Scheme[] | undefined;
  readonly approvals: Approvals;
};

/** Target of a path and a method. */
export type Routed = {
  readonly path: RequestPath;
  readonly params: Readonly<Record<string, string>>;
  readonly route: Route;
};

/** A request with its endpoint. The pipeline fills in the fields that are not readonly, in the order of its checks. */
/** Call of an endpoint for callers with a token. */
export type AllowedCall = EndpointCall & { readonly access: Authorized };

export class ApiRequest extends RequestContext<Answer, ApiExchange> {
  readonly server: ApiServer;
  readonly path: RequestPath;
  readonly params: Readonly<Record<string, string>>;
  readonly route: Route;
  /** instant of the decision, the same for all requests of a turn */
  now!: Temporal.Instant;
  body: Body | ReadBody = 'too-large';
  /** refusal for which a large body was not read */
  earlyRefusal: unknown;
  caller: Caller | undefined;
  /** call of an endpoint for callers with a token; undefined before access control has allowed it */
  call: AllowedCall | undefined;
  /** result of the endpoint's `find` */
  found: unknown;
  input: unknown;
  /** octets of the `largeField` of the endpoint, in a large body */
  largeText: Uint8Array | undefined;
  /** additions of the endpoint to the audit record */
  readonly note: { -readonly [Field in keyof AuditNote]: AuditNote[Field] } = {};
  /** releases the memory reserved for a large body */
  leaveRoom: () => void = nothing;
  /** true if it was counted as a request of its tenant */
  isCounted = false;
  /** true from the end of the body to the answer: the memory of the body stays reserved meanwhile, even if the client disconnects */
  isRunning = false;

  constructor(server: ApiServer, exchange: ApiExchange, { path, params, route }: Routed) {
    super(server, exchange);
    this.server = server;
    this.path = path;
    this.params = params;
    this.route = route;
  }

  /** Decision of access control; undefined for public endpoints. */
  get authorized(): Authorized | undefined {
    return this.call?.access;
  }

  /** False for answers of a sealed appliance, which need no store. */
  protected override get restsOnStore(): boolean {
    return this.route.endpoint.whileSealed !== true;
  }

  protected override get goesOn(): GoesOn | undefined {
    const { whileIsolated, whileCutOff } = this.route.endpoint;
    if (whileIsolated === true) return 'use';
    return whileCutOff === true ? 'view' : undefined;
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    return { method: this.exchange.method, route: this.route.endpoint.path };
  }

  protected get place(): string {
    return `${this.route.endpoint.method} ${this.route.endpoint.path}`;
  }

  protected formatAnswer(value: unknown): Answer {
    const access = this.authorized?.isConstrained === true ? this.authorized : undefined;
    return formatReply(this.route.endpoint, value, { access, takesDocument: this.exchange.takesDocument });
  }

  protected override translated(error: ServiceError): ServiceError {
    return toldTo(this.authorized, error);
  }

  protected answerOf(error: ServiceError): Answer {
    const { exchange } = this;
    exchange.noteRefusal?.(error);
    const takesPage = isPage(this.route) && preferenceOf(exchange.headers.accept) !== 'json';
    return takesPage ? refusalPage(error, this.requestId, this.server.clock.now()) : problemAnswer(error, this.requestId);
  }

  protected record(status: number, error: ServiceError | undefined): Promise<void> | undefined {
    const { audit } = this.server;
    if (this.route.endpoint.audit === 'none' || (!audit.writable && this.mayGoUnrecorded(status))) return undefined;
    const { kind = 'request', code = error?.code, alsoOf, query, ...noted } = this.note;
    const note = defined(noted);
    const parts: RecordParts = {
      kind,
      occurredAt: timestampOf(this.now),
      owner: callerRecord(this.caller, this.exchange.via),
      path: this.path.text,
      status,
      code,
    };
    // A query that was refused can hold anything, even a secret.
    const asked = query === undefined || status === 400 ? undefined : { query };
    const record = { ...this.recordOf(parts), ...asked, ...note };
    if (alsoOf === undefined) return audit.write(record);
    return Promise.all([record, ...alsoOf.map((other) => ({ ...record, ...other }))].map((one) => audit.write(one))).then(nothing);
  }

  protected mayGoUnrecorded(status: number): boolean {
    return this.route.endpoint.audit !== 'required' || status >= 400;
  }

  protected send(answer: Answer): Promise<void> | undefined {
    return this.exchange.send(this.requestId, answer);
  }

  protected override onConcluded(): void {
    this.isRunning = false;
    if (this.exchange.isClosed) this.leaveRoom();
  }
}

/** Fields of audit records about a caller; none for an unauthenticated one. `by`: the foreign protocol of the request. */
export function callerRecord(caller: Caller | undefined, by?: string): RecordParts['owner'] {
  const via = by ?? caller?.via;
  const way = via === undefined ? nowhere : { via };
  if (caller === undefined) return way;
  const { tenantName: tenant, tenantId, user, userKind, userSource, identity, accessor } = caller;
  const source = userSource === undefined ? nowhere : { userSource };
  return { tenant, tenantId, user, userKind, ...source, ...(identity === undefined ? nowhere : { identity }), accessor, ...way };
}

const nowhere = {} as const;
const nothing = (): void => undefined;

/** All requests of a turn share an instant: its text is made once. */
function timestampOf(instant: Temporal.Instant): string {
  if (instant !== latest.instant) latest = { instant, text: formatTimestamp(instant) };
  return latest.text;
}

let latest: { readonly instant: Temporal.Instant | undefined; readonly text: string } = { instant: undefined, text: '' };
