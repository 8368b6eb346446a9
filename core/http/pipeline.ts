// What happens to every request, once and in this order (api 55): doubled header 400, path 404, method 405, body limit 413, sealed 503,
// token 401, policy 403, media type 415, existence 404, query and body 400, audit trail 503, run, audit record, answer.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defined } from '../base/defined.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';
import type { Audit } from '../audit/record.ts';
import type { Clock, Log } from '../base/context.ts';
import { fail, type ServiceError } from '../base/errors.ts';
import { JsonReader } from '../wire/json-reader.ts';
import { inCourseOf } from '../base/async/last-resort.ts';
import type { Store } from '../store/store.ts';
import { formatTimestamp } from '../base/time.ts';
import { toKebab } from '../wire/schema.ts';
import { preferenceOf } from './request/accept.ts';
import { sendAnswer, type Answer } from './response/answer.ts';
import { requestParameters } from './audit-parameters.ts';
import { readBody, untrustedBytes, type Admit, type Body } from './request/body.ts';
import { BodyRoom } from './request/body-room.ts';
import { RequestCall, auditCallerOf, clientAddressOf, userAgentOf } from './call.ts';
import { FoundPaths } from './request/found-paths.ts';
import { formatReply } from './response/reply.ts';
import { refusalPage } from './pages/refusal.ts';
import { isLongReading, largeTextOf, readInput, requireMediaType, type ReadBody } from './request/input.ts';
import { describeFault, formatProblem, problemHeaders, problemMediaType, type Problems } from './response/problem.ts';
import { repeatedHeader } from './request/repeated-header.ts';
import type { RequestPath } from './request/path.ts';
import type { RouteTable } from './route-table.ts';
import type { AnyEndpoint } from './endpoint.ts';
import type { Route } from './routes.ts';

/** Octets a request to an endpoint may have: 4 MiB with a token, less without, unless it says otherwise (api 73). */
export function bodyLimitOf({ bodyLimit, access }: AnyEndpoint): number {
  return bodyLimit ?? (access === 'public' ? untrustedBytes : 4 * 1024 * 1024);
}

export type PipelineOptions = {
  readonly routes: RouteTable<Route>;
  readonly problems: Problems;
  readonly store: Store;
  readonly audit: Audit;
  readonly access: AccessControl;
  readonly clock: Clock;
  readonly log: Log;
  /** whether the appliance waits for the PIN */
  sealed(): boolean;
  /** Told of every answer, for metrics. */
  readonly onAnswered?: (answered: Answered) => void;
  /** where large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom | undefined;
};

/** One answered request. `route` is the path template; undefined when there is none, so that strangers cannot make new series. */
export type Answered = { readonly method: string; readonly route: string | undefined; readonly status: number; readonly seconds: number };

/** A request whose body is here and that waits for its turn. */
type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
  readonly path: RequestPath;
  readonly params: Readonly<Record<string, string>>;
  readonly route: Route;
  body: Body | ReadBody;
  /** its body is whole, and it has no answer yet: what it holds stays held, also when the client goes away */
  isRunning: boolean;
  /** gives the room of a large body back */
  leave(): void;
  /** it has its answer, or waits for the record of it; whatever else comes of it is too late */
  isConcluded: boolean;
};

/** The request handler. Requests that arrive in one turn of the event loop are decided on one state of the store, one after another. */
export function createPipeline(options: PipelineOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { routes, problems, store, audit, access, clock, log } = options;
  const paths = new FoundPaths(routes);
  const reader = new JsonReader();
  const room = options.bodyRoom ?? new BodyRoom();
  let waiting: Exchange[] = [];

  /** Nothing may be thrown from here, a listener, nor from anything below that is called by one. */
  function receive(request: IncomingMessage, response: ServerResponse): void {
    const requestId = randomUUID();
    try {
      accept(request, response, requestId);
    } catch (error) {
      giveUp(response, requestId, error);
    }
  }

  function accept(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const repeated = repeatedHeader(request);
    // Nobody can be held to have sent what can be read in two ways: no record.
    if (repeated !== undefined) return sendUnrouted(response, problemAnswer(repeated, requestId), requestId);
    const { path, match } = paths.find(request.url ?? '');
    if (path === undefined || match === undefined) {
      return refuseUnrouted(request, response, requestId, routes.knownPart(path?.segments ?? []), fail('not-found'), true);
    }
    const { methods, allow } = match.entry;
    const route = methods.get(request.method ?? '');
    if (route === undefined) {
      return refuseUnrouted(request, response, requestId, path.text, methodNotAllowed(allow), [...methods.values()].some(isPage));
    }
    const exchange: Exchange = {
      request,
      response,
      requestId,
      startedMs: clock.monotonicMs(),
      path,
      params: match.params,
      route,
      body: 'too-large',
      isRunning: false,
      isConcluded: false,
      leave: () => undefined,
    };
    readBody(request, bodyLimitOf(route.endpoint), admitTo(exchange), (body) => {
      exchange.isRunning = true;
      if (body instanceof Uint8Array && isLongReading(route.endpoint, body)) void readAhead(exchange, body);
      else awaitTurn(exchange, body);
    });
  }

  /** A large body is kept for whoever may send one, when there is room for it: until its answer is out, or its client gone before. */
  function admitTo(exchange: Exchange): Admit {
    const { request, response, route } = exchange;
    return (octets, decide) => {
      const caller = route.endpoint.access === 'public' ? undefined : callerOf(request);
      if (route.endpoint.access !== 'public' && caller === undefined) return decide('untrusted');
      exchange.leave = room.enter(caller?.tenantId ?? '', octets * memoryPerOctet(route.endpoint), (isAdmitted) =>
        decide(isAdmitted ? undefined : 'no-room'),
      );
      response.once('close', () => !exchange.isRunning && exchange.leave());
    };
  }

  function stopRunning(exchange: Exchange): void {
    exchange.isRunning = false;
    if (exchange.response.destroyed) exchange.leave();
  }

  async function readAhead(exchange: Exchange, body: Uint8Array): Promise<void> {
    const { length } = body;
    const { largeField } = exchange.route.endpoint;
    const [json] = await Promise.allSettled([reader.read(body, largeField === undefined ? undefined : toKebab(largeField))]);
    awaitTurn(exchange, { length, json });
  }

  function awaitTurn(exchange: Exchange, body: Body | ReadBody): void {
    exchange.body = body;
    if (waiting.length === 0) setImmediate(takeTurn);
    waiting.push(exchange);
  }

  /** Who asks, for what is decided before the request takes its turn; nobody while that cannot be known. */
  function callerOf(request: IncomingMessage): Caller | undefined {
    if (options.sealed() || refreshStore() !== undefined) return undefined;
    try {
      return access.authenticate(request.headers.authorization, clock.now(), clientAddressOf(request));
    } catch {
      return undefined;
    }
  }

  function takeTurn(): void {
    const turn = waiting;
    waiting = [];
    const now = clock.now();
    const failure = refreshStore();
    for (const exchange of turn) {
      try {
        serve(exchange, now, failure);
      } catch (error) {
        stopRunning(exchange);
        giveUp(exchange.response, exchange.requestId, error);
      }
    }
  }

  /** A store that cannot be read fails each request of the turn, never the process. */
  function refreshStore(): unknown {
    if (options.sealed()) return undefined;
    try {
      store.refresh();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  function serve(exchange: Exchange, now: Temporal.Instant, failure: unknown): void {
    const call = new RequestCall(exchange, access, now);
    let result: unknown;
    try {
      if (failure !== undefined) throw failure;
      result = inCourseOf(
        (error) => settle(exchange, () => refuse(exchange, call, error)),
        () => decideAndRun(exchange, call),
      );
    } catch (error) {
      return refuse(exchange, call, error);
    }
    if (result instanceof Promise) {
      result.then(
        (value: unknown) => settle(exchange, () => succeed(exchange, call, value)),
        (error: unknown) => settle(exchange, () => refuse(exchange, call, error)),
      );
    } else succeed(exchange, call, result);
  }

  function settle(exchange: Exchange, conclusion: () => void): void {
    try {
      conclusion();
    } catch (error) {
      stopRunning(exchange);
      giveUp(exchange.response, exchange.requestId, error);
    }
  }

  /** Our own fault while answering: this one connection ends. */
  function giveUp(response: ServerResponse, requestId: string, error: unknown): void {
    log.error('a request could not be answered', { requestId, ...describeFault(error) });
    if (response.headersSent) response.destroy();
    else sendUnrouted(response, problemAnswer(fail('internal-error'), requestId), requestId);
  }

  function decideAndRun({ body, request, route }: Exchange, call: RequestCall): unknown {
    const { endpoint } = route;
    if (body === 'too-large') {
      throw fail('payload-too-large', { detail: `The body may have at most ${bodyLimitOf(endpoint)} octets.` });
    }
    if (endpoint.whileSealed !== true && options.sealed()) throw fail('sealed');
    if (endpoint.access === 'token') call.authorize(endpoint);
    // Trusted only now: the token was made while the body arrived, and the body is gone.
    if (body === 'untrusted') throw fail('invalid-token');
    if (body === 'no-room') throw fail('busy');
    requireMediaType(endpoint, request.headers, body);
    const target = endpoint.access === 'token' ? endpoint.find?.(call) : undefined;
    if (endpoint.anyQuery !== true) call.requireKnownQuery(endpoint.query ?? {});
    const input = readInput(endpoint, body);
    call.largeText = largeTextOf(body);
    const withText = (text: unknown): unknown =>
      call.largeText === undefined ? input : { ...(input as object), [endpoint.largeField ?? '']: text };
    const parameters = requestParameters(route.auditFields, withText(call.largeText));
    if (parameters !== undefined) call.noteAudit({ requestParameters: parameters });
    if (call.isConstrained) call.access.requireAllowedValues(route.constrainedInput(withText(longerThanAnyAllowed)));
    if (endpoint.audit === 'required' && !audit.writable) throw fail('audit-unavailable');
    // The entry was checked where it was defined; the registry forgot its types.
    return endpoint.access === 'token' ? endpoint.run(call, input as never, target as never) : endpoint.run(call, input as never);
  }

  function succeed(exchange: Exchange, call: RequestCall, value: unknown): void {
    let answer: Answer;
    try {
      answer = formatReply(exchange.route.endpoint, value, call.isConstrained ? call.access : undefined);
    } catch (error) {
      return refuse(exchange, call, error);
    }
    conclude(exchange, call, answer, undefined);
  }

  function refuse(exchange: Exchange, call: RequestCall, thrown: unknown): void {
    if (exchange.isConcluded) return;
    const known = problems.serviceError(thrown);
    // What fails because the keys went while it ran.
    const error = known.status >= 500 && options.sealed() ? fail('sealed') : known;
    // A key that is gone is the HSM administrator's affair: the caller alone cannot mend it.
    if (
      error.code === 'key-object-missing' ||
      (error.status >= 500 && (error.code === 'internal-error' || error.details.cause !== undefined))
    ) {
      log.error(`${error.code} in ${exchange.route.endpoint.method} ${exchange.route.endpoint.path}`, {
        requestId: exchange.requestId,
        ...describeFault(error.details.cause ?? error),
      });
    }
    conclude(exchange, call, answerOf(exchange, error), error.code);
  }

  function answerOf({ request, route, requestId }: Exchange, error: ServiceError): Answer {
    const takesPage = isPage(route) && preferenceOf(request.headers.accept) !== 'json';
    return takesPage ? refusalPage(error, requestId, clock.now()) : problemAnswer(error, requestId);
  }

  /** Nothing is answered before its record is durable; what cannot be recorded is refused, unless it changed and revealed nothing. */
  function conclude(exchange: Exchange, call: RequestCall, answer: Answer, code: string | undefined): void {
    if (exchange.isConcluded) return;
    exchange.isConcluded = true;
    stopRunning(exchange);
    const { endpoint } = exchange.route;
    const mayGoOn = endpoint.audit !== 'required' || answer.status >= 400;
    if (endpoint.audit === 'none' || (mayGoOn && !audit.writable)) return send(exchange, answer);
    const { kind, code: notedCode = code, ...note } = call.note;
    const recorded = audit.write({
      kind: kind ?? 'request',
      occurredAt: timestampOf(call.now),
      requestId: exchange.requestId,
      ...call.auditCaller,
      path: exchange.path.text,
      method: exchange.request.method ?? '',
      status: answer.status,
      ...defined({ code: notedCode }),
      requestTimeMs: Math.round((clock.monotonicMs() - exchange.startedMs) * 1000) / 1000,
      clientIp: call.clientIp,
      userAgent: call.userAgent,
      ...note,
    });
    recorded.then(
      () => settle(exchange, () => send(exchange, answer)),
      () => settle(exchange, () => send(exchange, mayGoOn ? answer : problemAnswer(fail('audit-unavailable'), exchange.requestId))),
    );
  }

  function send({ response, requestId, request, route, startedMs }: Exchange, answer: Answer): void {
    void sendAnswer(response, requestId, answer);
    options.onAnswered?.({
      method: request.method ?? '',
      route: route.endpoint.path,
      status: answer.status,
      seconds: (clock.monotonicMs() - startedMs) / 1_000,
    });
  }

  /**
   * What no endpoint answers leaves a record of callers with a token alone; what strangers try has no end, and the disk has one. The
   * record says only what is known of the path: the rest of one that does not exist can be anything, a secret too. A person who got lost
   * meets a page; below the paths of the API only where nothing is there to be called.
   */
  function refuseUnrouted(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    path: string,
    error: ServiceError,
    mayBePage: boolean,
  ): void {
    const caller = callerOf(request);
    const takesPage = mayBePage && preferenceOf(request.headers.accept) === 'html';
    const answer = (): void =>
      sendUnrouted(response, takesPage ? refusalPage(error, requestId, clock.now()) : problemAnswer(error, requestId), requestId);
    if (caller === undefined || !audit.writable) return answer();
    audit
      .write({
        kind: 'request',
        occurredAt: formatTimestamp(clock.now()),
        requestId,
        ...auditCallerOf(caller),
        path,
        method: request.method ?? '',
        status: error.status,
        code: error.code,
        clientIp: clientAddressOf(request),
        userAgent: userAgentOf(request),
      })
      .then(answer, answer);
  }

  function sendUnrouted(response: ServerResponse, answer: Answer, requestId: string): void {
    void sendAnswer(response, requestId, answer);
    options.onAnswered?.({ method: 'any', route: undefined, status: answer.status, seconds: 0 });
  }

  return receive;
}

function isPage({ endpoint }: Route): boolean {
  return endpoint.access === 'public' && endpoint.page === true;
}

/** A body as text, as a value, and the payload in it: what was seen at most, of batches. Of a large field there is no copy. */
function memoryPerOctet({ largeField }: AnyEndpoint): number {
  return largeField === undefined ? 4 : 1;
}

/** A policy lists no value of more than 1,024 characters: a text that was taken out is none of them. */
const longerThanAnyAllowed = ' '.repeat(2_048);

/** All requests of a turn have one instant: its text is made once. */
function timestampOf(instant: Temporal.Instant): string {
  if (instant !== latest.instant) latest = { instant, text: formatTimestamp(instant) };
  return latest.text;
}

let latest: { readonly instant: Temporal.Instant | undefined; readonly text: string } = { instant: undefined, text: '' };

function methodNotAllowed(allow: readonly string[]): ServiceError {
  return fail('method-not-allowed', { allow, detail: `The methods of this path are ${allow.join(', ')}.` });
}

/** The answer of an error, also for what never reaches the pipeline. */
export function problemAnswer(error: ServiceError, requestId: string): Answer {
  return {
    status: error.status,
    mediaType: problemMediaType,
    body: JSON.stringify(formatProblem(error, requestId)),
    headers: problemHeaders(error),
  };
}
