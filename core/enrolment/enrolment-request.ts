// Request of a protocol of enrolment over HTTP: what it has found out about the CA and the sender, when a refused device comes again, and its record.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Audit, type AuditRecord, hasCredential } from '../audit/record.ts';
import { defined } from '../base/defined.ts';
import { fail, type ServiceError } from '../base/errors.ts';
import { formatTimestamp } from '../base/time.ts';
import { HttpExchange } from '../http/context/exchange.ts';
import { RequestContext, type RequestServer } from '../http/context/request-context.ts';
import { admitAny, readBody } from '../http/request/body.ts';
import { repeatedHeader, unmetHeader } from '../http/request/header-rules.ts';
import { isKeyAway } from '../http/response/problem.ts';

/** Retry-After in seconds while the HSM is unavailable or the appliance is sealed. */
export const retryAfterSeconds = 30;

/** The operation and the CA that a request names. */
type EnrolmentTarget = { readonly name: string; readonly ca: { readonly name: string; readonly tenantId: string } };

/** `refresh` brings the store up to date. */
export type EnrolmentServer = RequestServer & { readonly audit: Audit; refresh(): void };

/** `Target`: as far as the protocol needs it. */
export abstract class EnrolmentRequest<
  Target extends EnrolmentTarget,
  Answer extends { readonly status: number },
  Server extends EnrolmentServer,
> extends RequestContext<Answer, HttpExchange> {
  protected readonly server: Server;
  /** undefined until the URL is read, and for one that names nothing */
  protected target: Target | undefined;
  /** parts of the record that the protocol has found */
  protected noted: Readonly<Record<string, unknown>> = {};
  /** the sender has shown who it is */
  protected isAccepted = false;
  /** code of a refusal that is inside a message of its own */
  protected refusal: string | undefined;

  constructor(server: Server, request: IncomingMessage, response: ServerResponse) {
    super(server, new HttpExchange(request, response));
    this.server = server;
  }

  /** Kind of its records. */
  protected abstract readonly kind: AuditRecord['kind'];

  /** The target of the URL; undefined for one that names nothing. */
  protected abstract findTarget(): Target | undefined;

  /** The target, when the request may go on. Throws the ServiceError that refuses it. */
  protected begin(): Target {
    const { request } = this.exchange;
    const repeated = repeatedHeader(request) ?? unmetHeader(request);
    if (repeated !== undefined) throw repeated;
    if (this.server.sealed()) throw fail('sealed');
    this.server.refresh();
    this.target = this.findTarget();
    if (this.target === undefined) throw fail('not-found', { detail: 'Nothing is served here.' });
    return this.target;
  }

  protected readonly note = (parameters: Readonly<Record<string, unknown>>): void => {
    this.noted = { ...this.noted, ...parameters };
  };

  protected formatAnswer(value: unknown): Answer {
    return value as Answer;
  }

  /** A device can do nothing about a key or a token that the HSM does not have, but try again later. */
  protected override translated(error: ServiceError): ServiceError {
    return isKeyAway(error) ? fail('hsm-unavailable', { cause: error.details.cause }) : error;
  }

  /** Seconds after which the sender may ask again; undefined where that is of no use. */
  protected retryAfterOf({ status, details }: ServiceError): number | undefined {
    return details.retryAfterSeconds ?? (status === 503 ? retryAfterSeconds : undefined);
  }

  /** Reads the body. `thing`: what it is, for the refusal. Rejects with `payload-too-large`. */
  protected readOctets(thing: string, limitBytes: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      readBody(this.exchange.request, limitBytes, admitAny, (body) => {
        if (body instanceof Uint8Array) resolve(body);
        else reject(fail('payload-too-large', { detail: `A ${thing} may have at most ${limitBytes} octets.` }));
      });
    });
  }

  /** Records every outcome before it is answered. */
  protected record(status: number, error: ServiceError | undefined): Promise<void> {
    const { audit, clock } = this.server;
    const { target } = this;
    const reason = error === undefined || error.status >= 500 ? undefined : error.details.detail;
    const parameters = target && { operation: target.name, ca: target.ca.name, ...this.noted, ...defined({ reason }) };
    const record = this.recordOf({
      kind: this.kind,
      occurredAt: formatTimestamp(clock.now()),
      owner: defined({ tenantId: target?.ca.tenantId }),
      path: this.exchange.target.replace(/\?.*/s, '').slice(0, 256),
      status,
      code: error?.code ?? this.refusal,
    });
    return audit.write({ ...record, ...defined({ requestParameters: parameters }), [hasCredential]: this.isAccepted });
  }
}
