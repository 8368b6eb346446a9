// The pipeline of every request, in this order: routing (routing.ts), body (body-intake.ts), checks (checks/order.ts), the
// endpoint, audit record and answer (context/request-context.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openApprovals } from '../approvals/rules.ts';
import type { Caller } from '../access/caller.ts';
import { spendUse } from '../access/tokens/tokens.ts';
import type { Store } from '../store/store.ts';
import { AliasExchange } from './context/alias-exchange.ts';
import { callerOfRequest } from './authentication.ts';
import { BodyIntake } from './body-intake.ts';
import { fail } from '../base/errors.ts';
import { authorizedCallOf, requireAuthorization } from './checks/authorization.ts';
import { checks, checksBeforeBody } from './checks/order.ts';
import { findTarget } from './checks/target.ts';
import { ApiRequest, type ApiServer, type Routed } from './context/api-request.ts';
import {
  actsOf,
  approvedTargetOf,
  AskedForApproval,
  isSameTarget,
  passGate,
  requireFreeFurther,
  subjectOfAction,
} from './context/approval-gate.ts';
import { UnauthenticatedCall } from './context/call.ts';
import { DirectExchange, type Invocation, type Invoke, type Invoked } from './context/direct-exchange.ts';
import { type ApiExchange, HttpExchange } from './context/exchange.ts';
import { UnroutedRequest, type Unrouted } from './context/unrouted-request.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { BodyRoom } from './request/body-room.ts';
import type { RouteTable } from './route-table.ts';
import type { Route } from './routes.ts';
import { Router } from './routing.ts';

export type PipelineOptions = Omit<ApiServer, 'approvals'> & {
  readonly routes: RouteTable<Route>;
  readonly store: Store;
  /** room in which large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom | undefined;
};

/** A handler for node's http and https servers. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Entries of requests: of HTTP, and of other protocols. */
export type Entrances = { readonly handler: Handler; readonly invoke: Invoke };

/** Requests that arrive in one turn of the event loop are decided on one state of the store, one after another. */
export function createPipeline(options: PipelineOptions): Entrances {
  const pipeline = new Pipeline(options);
  return {
    handler: (request, response) => pipeline.receive(request, response),
    invoke: (invocation) => pipeline.invoke(invocation),
  };
}

class Pipeline {
  readonly #server: ApiServer;
  readonly #store: Store;
  readonly #router: Router;
  readonly #bodies: BodyIntake;
  readonly #awaitTurn = (context: ApiRequest): void => {
    if (this.#waiting.length === 0) setImmediate(this.#takeTurn);
    this.#waiting.push(context);
  };
  #waiting: ApiRequest[] = [];

  constructor({ routes, store, bodyRoom = new BodyRoom(), ...server }: PipelineOptions) {
    this.#server = { ...server, approvals: openApprovals(store) };
    this.#store = store;
    this.#router = new Router(routes);
    this.#bodies = new BodyIntake(bodyRoom, (context) => this.#judgeEarly(context));
  }

  /** Receives a request. Never throws: it is called by a listener. */
  receive(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new HttpExchange(request, response);
    try {
      this.#serve(exchange, this.#router.find(exchange));
    } catch (fault) {
      this.#refuse(exchange, nowhere, fault);
    }
  }

  /** Runs an invocation. Rejects as its exchange does. */
  invoke(invocation: Invocation): Promise<Invoked> {
    const exchange = new DirectExchange(invocation);
    try {
      this.#serve(exchange, this.#router.findTarget(exchange));
    } catch (fault) {
      this.#refuse(exchange, nowhere, fault);
    }
    return exchange.answered;
  }

  #serve(exchange: ApiExchange, found: Routed | Unrouted): void {
    if (!('route' in found)) return this.#refuse(exchange, found, found.refusal, this.#callerOf(exchange));
    const { alias } = found.route;
    if (alias === undefined) return this.#take(exchange, found);
    const foreign = new AliasExchange(exchange, alias, found.params, (invocation) => this.invoke(invocation));
    let routed: Routed;
    try {
      routed = foreign.route(found.route, (target) => this.#router.pathOf(target));
    } catch (error) {
      return this.#refuse(foreign, { path: found.route.endpoint.path, mayBePage: false }, error, this.#callerOf(foreign));
    }
    this.#take(foreign, routed);
  }

  #take(exchange: ApiExchange, routed: Routed): void {
    this.#bodies.receive(new ApiRequest(this.#server, exchange, routed), this.#awaitTurn);
  }

  #refuse(exchange: ApiExchange, known: Omit<Unrouted, 'refusal'>, refusal: unknown, caller?: Caller): void {
    new UnroutedRequest(this.#server, exchange, known, caller).refuse(refusal);
  }

  readonly #takeTurn = (): void => {
    const turn = this.#waiting;
    this.#waiting = [];
    const now = this.#server.clock.now();
    const failure = this.#refreshStore();
    for (const context of turn) {
      context.now = now;
      // Answers that a sealed process gives as well need no store: health reports its fault.
      if (failure === undefined || context.route.endpoint.whileSealed === true) context.serve(() => checkAndRun(context));
      else context.refuse(failure.error);
    }
  };

  /** Refreshes the store. If it cannot be read, each request of the turn fails, never the process. */
  #refreshStore(): { readonly error: unknown } | undefined {
    if (this.#server.sealed()) return undefined;
    try {
      this.#store.refresh();
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /** Throws the refusal of a request before its turn, as far as it does not depend on the body. */
  #judgeEarly(context: ApiRequest): void {
    const failure = this.#refreshStore();
    if (failure !== undefined && context.route.endpoint.whileSealed !== true) throw failure.error;
    context.now = this.#server.clock.now();
    for (const check of checksBeforeBody) check(context);
  }

  /** Caller of a request before its turn; undefined if it cannot be determined. */
  #callerOf(exchange: ApiExchange): Caller | undefined {
    if (this.#server.sealed() || this.#refreshStore() !== undefined) return undefined;
    try {
      return callerOfRequest(this.#server, exchange, this.#server.clock.now());
    } catch {
      return undefined;
    }
  }
}

const nowhere = { path: undefined, mayBePage: false } as const;

/** The types of an entry were checked where it was defined; the table of routes does not know them. */
function checkAndRun(context: ApiRequest): unknown {
  for (const check of checks) check(context);
  const { endpoint } = context.route;
  if (endpoint.access === 'public') return endpoint.run(new UnauthenticatedCall(context), context.input as never);
  requireFreeFurther(context);
  return context.caller?.isCounted === true ? spendAndRun(context, endpoint, context.caller) : runGuarded(context, endpoint);
}

/** Takes one use of the caller's token. One that is refused before takes none. */
async function spendAndRun(context: ApiRequest, endpoint: Endpoint<never, never, never>, caller: Caller): Promise<unknown> {
  const { store } = context.server.approvals;
  if (!(await spendUse(store, caller.tenantId, caller.accessor))) throw fail('invalid-token');
  store.refresh();
  findTarget(context);
  return runGuarded(context, endpoint);
}

function runGuarded(context: ApiRequest, endpoint: Endpoint<never, never, never>): unknown {
  const acts = actsOf(endpoint, authorizedCallOf(context), context.input, context.found);
  const passing = acts === undefined ? undefined : passGate(context, acts, () => subjectOfAction(context));
  const ran = passing === undefined ? runOnce(context, endpoint) : passing.then(() => runApproved(context, endpoint));
  return ran instanceof Promise ? ran.catch(replyIfAsked) : ran;
}

function runOnce(context: ApiRequest, endpoint: Endpoint<never, never, never>): unknown {
  return endpoint.run(authorizedCallOf(context), context.input as never, context.found as never);
}

/** Runs an action whose approval is spent, unless its caller has lost the right or its target has changed since it was decided. */
function runApproved(context: ApiRequest, endpoint: Endpoint<never, never, never>): unknown {
  const { approvals } = context.server;
  approvals.store.refresh();
  const { found } = context;
  requireAuthorization(context);
  findTarget(context);
  if (!isSameTarget(approvals, approvedTargetOf(context, found), approvedTargetOf(context, context.found)))
    throw fail('precondition-failed', {
      detail: 'What this changes has changed meanwhile, and the approval is spent: ask for another one.',
    });
  return runOnce(context, endpoint);
}

/** Answers that approval was asked for; any other error refuses the request. */
function replyIfAsked(error: unknown): Reply {
  if (error instanceof AskedForApproval) return error.reply;
  throw error;
}
