// One request as endpoints see it, on top of the node request; parts that few endpoints need are made when asked for.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessControl, Decision, FieldAccess } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';
import type { PolicyOperation } from '../access/policy/policy.ts';
import { needsSystemRoot, reservedRefusal, type Reserved } from '../access/reserved.ts';
import type { AuditRecord } from '../audit/record.ts';
import { fail } from '../base/errors.ts';
import type { AuditNote, EndpointCall } from './endpoint.ts';
import { queryOf, type RequestPath } from './request/path.ts';

const emptyQuery: ReadonlyMap<string, string> = new Map();

/** What the pipeline knows when a request takes its turn. */
export type Arrival = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly path: RequestPath;
  readonly params: Readonly<Record<string, string>>;
};

/** The call of one request. Caller and decision are set by the pipeline before an endpoint sees it. */
export class RequestCall implements EndpointCall {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly now: Temporal.Instant;
  readonly headers: Readonly<Record<string, string | undefined>>;
  largeText: Uint8Array | undefined;
  /** what endpoints added for the audit record */
  note: AuditNote = {};

  readonly #arrival: Arrival;
  readonly #control: AccessControl;
  #caller: Caller | undefined;
  #decision: Decision | undefined;
  #clientIp: string | undefined;
  #query: ReadonlyMap<string, string> | undefined;

  constructor(arrival: Arrival, control: AccessControl, now: Temporal.Instant) {
    this.#arrival = arrival;
    this.#control = control;
    this.requestId = arrival.requestId;
    this.params = arrival.params;
    this.now = now;
    // Node joins repeated headers into one text; only set-cookie, which no request has, comes as a list.
    this.headers = arrival.request.headers as Record<string, string | undefined>;
  }

  /**
   * Proves who calls, that the policies allow it and that it is for this caller; throws `invalid-token`, `policy-denied` or, for what
   * other tenants do not have, `not-found`.
   */
  authorize({ operation, reservedFor }: { readonly operation: PolicyOperation; readonly reservedFor?: Reserved }): void {
    this.#caller = this.#control.authenticate(this.headers['authorization'], this.now, this.clientIp);
    if (this.#caller === undefined) throw fail('invalid-token');
    this.#decision = this.#control.decide(this.#caller, this.#arrival.path.segments, operation);
    if (!this.#decision.allowed) {
      throw fail('policy-denied', { detail: `The policies of tenant and token must both allow "${operation}" on this path.` });
    }
    const refusal = reservedRefusal(reservedFor, this.#caller);
    if (refusal !== undefined) throw fail(refusal, refusal === 'policy-denied' ? { detail: needsSystemRoot } : {});
  }

  get caller(): Caller {
    if (this.#caller === undefined) throw new Error('a public endpoint has no caller');
    return this.#caller;
  }

  /** For the audit record, which also exists for callers that were refused. */
  get auditCaller(): Pick<AuditRecord, 'tenant' | 'tenantId' | 'user' | 'accessor'> {
    return this.#caller === undefined ? {} : auditCallerOf(this.#caller);
  }

  get access(): FieldAccess {
    const caller = this.caller;
    const constraints = this.#decision?.constraints;
    return {
      allows: (operation) => this.#control.decide(caller, this.#arrival.path.segments, operation).allowed,
      requireAllowedValues: (wire) => constraints?.requireAllowedValues(wire),
      withoutHidden: (wire) => (constraints === undefined ? wire : constraints.withoutHidden(wire)),
    };
  }

  /** Whether values or fields are restricted at all. */
  get isConstrained(): boolean {
    return this.#decision?.constraints !== undefined;
  }

  get rawQuery(): string {
    return queryOf(this.#arrival.request.url ?? '');
  }

  get query(): ReadonlyMap<string, string> {
    return (this.#query ??= this.rawQuery === '' ? emptyQuery : new Map(new URLSearchParams(this.rawQuery)));
  }

  /** Throws `unknown-parameter` or, for one that stands twice, `invalid-value`. */
  requireKnownQuery(known: Readonly<Record<string, unknown>>): void {
    if (this.rawQuery === '') return;
    const seen = new Set<string>();
    for (const [name] of new URLSearchParams(this.rawQuery)) {
      if (!Object.hasOwn(known, name)) {
        const names = Object.keys(known);
        throw fail('unknown-parameter', {
          detail: names.length === 0 ? 'This operation takes no query parameters.' : `The query parameters here are ${names.join(', ')}.`,
        });
      }
      if (seen.has(name))
        throw fail('invalid-value', {
          detail: `The query parameter ${name} stands twice.`,
          items: [{ message: 'stands twice', info: name }],
        });
      seen.add(name);
    }
  }

  get clientIp(): string {
    return (this.#clientIp ??= clientAddressOf(this.#arrival.request));
  }

  get userAgent(): string {
    return userAgentOf(this.#arrival.request);
  }

  get signal(): AbortSignal {
    const controller = new AbortController();
    this.#arrival.response.once('close', () => controller.abort());
    return controller.signal;
  }

  noteAudit(fields: AuditNote): void {
    this.note = { ...this.note, ...fields };
  }
}

/** How audit records name a caller. */
export function auditCallerOf({
  tenantName,
  tenantId,
  user,
  accessor,
}: Caller): Pick<AuditRecord, 'tenant' | 'tenantId' | 'user' | 'accessor'> {
  return { tenant: tenantName, tenantId, user, accessor };
}

/** What the client says it is, as far as a record takes it. */
export function userAgentOf({ headers }: IncomingMessage): string {
  return (headers['user-agent'] ?? '').slice(0, 256);
}

/** Whom the connection comes from. Headers that claim otherwise do not count: anybody can send them. */
export function clientAddressOf(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? '';
  // An IPv4 client of a socket that takes both families.
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
