// EST over HTTP: finds the CA and the operation of a request, answers it, and writes an audit record of every outcome.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { defined } from '../../core/base/defined.ts';
import type { AuditRecord } from '../../core/audit/record.ts';
import type { Log } from '../../core/base/context.ts';
import { inCourseOf } from '../../core/base/async/last-resort.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { type Admit, readBody } from '../../core/http/request/body.ts';
import { clientAddressOf, userAgentOf } from '../../core/http/context/request-context.ts';
import { createProblems, describeFault } from '../../core/http/response/problem.ts';
import { repeatedHeader } from '../../core/http/request/repeated-header.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import type { Listeners } from '../../core/plugin/services/listeners.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { CertificateAuthority } from '../../core/plugin/services/certificate-authority.ts';
import { estErrors } from './errors.ts';
import type { EstCall, EstContext } from './context.ts';
import { type EstOperation, operations } from './operations/operations.ts';
import { sendAnswer } from './listener/send-answer.ts';
import { answerText, type EstAnswer, retryAfterSeconds } from './listener/transport.ts';

/** Requests have at most this many octets: an ML-DSA-87 request has about 10,000 (api 67). */
const bodyLimitBytes = 64 * 1024;

export type EstAppOptions = EstContext & { readonly log: Log; sealed(): boolean; refresh(): void } & Pick<Listeners, 'onAnswered'>;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The request handler of the EST listener. Nothing but EST is answered here (spec, EST endpoints). */
export function createEstApp(options: EstAppOptions): Handler {
  const problems = createProblems([estErrors]);
  const refresh = oncePerTurn(() => options.refresh());
  return (request, response) => {
    const estRequest = new EstRequest(options, request, response);
    const refuse = (thrown: unknown): Promise<void> => estRequest.refuse(problems.serviceError(thrown));
    // An unhandled rejection would end the process.
    const settle = async (work: Promise<void>): Promise<void> => {
      try {
        await work;
      } catch (error) {
        options.log.error('an EST request could not be answered', describeFault(error));
        response.destroy();
      }
    };
    inCourseOf(
      (error) => void settle(refuse(error)),
      () => void settle(estRequest.run(refresh).then((answer) => estRequest.conclude(answer), refuse)),
    );
  };
}

/** Requests of one turn of the event loop are decided on one state of the store. */
function oncePerTurn(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    run();
    isDone = true;
    setImmediate(() => {
      isDone = false;
    });
  };
}

class EstRequest {
  readonly #options: EstAppOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #requestId = randomUUID();
  readonly #startedMs: number;
  #target: Target | undefined;
  #note: Readonly<Record<string, unknown>> = {};
  #isConcluded = false;

  constructor(options: EstAppOptions, request: IncomingMessage, response: ServerResponse) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#startedMs = options.clock.monotonicMs();
  }

  async run(refresh: () => void): Promise<EstAnswer> {
    const repeated = repeatedHeader(this.#request);
    if (repeated !== undefined) throw repeated;
    if (this.#options.sealed()) throw fail('sealed');
    refresh();
    const target = findTarget(this.#options, this.#request.url ?? '');
    this.#target = target;
    if (target === undefined) throw fail('not-found', { detail: 'Nothing is served here.' });
    const { method } = this.#request;
    if (method !== target.operation.method && !(method === 'HEAD' && target.operation.method === 'GET')) {
      throw fail('method-not-allowed', { allow: target.operation.method === 'GET' ? ['GET', 'HEAD'] : ['POST'] });
    }
    return target.operation.run(this.#options, this.#callOf(target));
  }

  /** Every outcome is recorded before it is sent; a certificate whose record cannot be written is not handed out. */
  async conclude(answer: EstAnswer): Promise<void> {
    if (this.#isConcluded) return;
    this.#isConcluded = true;
    const isIssue = answer.status === 200 && this.#target?.operation.method === 'POST';
    const isRecorded = await this.#record(answer.status, undefined);
    await this.#send(isRecorded || !isIssue ? answer : this.#answerOf(fail('audit-unavailable')));
  }

  async refuse(thrown: ServiceError): Promise<void> {
    if (this.#isConcluded) return;
    this.#isConcluded = true;
    const { log } = this.#options;
    // A device can only try again later when the HSM has lost the key; while sealing, requests fail because the keys are gone.
    const isKeyAway = thrown.code === 'key-object-missing' || thrown.code === 'token-not-configured';
    const known = isKeyAway ? fail('hsm-unavailable', { cause: thrown.details.cause }) : thrown;
    const error = known.status >= 500 && this.#options.sealed() ? fail('sealed') : known;
    if (error.status >= 500 && (error.code === 'internal-error' || error.details.cause !== undefined)) {
      log.error(`${error.code} in EST`, { requestId: this.#requestId, ...describeFault(error.details.cause ?? error) });
    }
    if (error.status < 500 && error.details.detail !== undefined) this.#note = { ...this.#note, reason: error.details.detail };
    await this.#record(error.status, error.code);
    await this.#send(this.#answerOf(error));
  }

  async #send(answer: EstAnswer): Promise<void> {
    const { onAnswered, clock } = this.#options;
    const target = this.#target;
    onAnswered?.({
      // Methods of unknown paths are not distinguished, so that unauthenticated callers cannot create series.
      method: target?.operation.method ?? 'any',
      route: target === undefined ? undefined : `/.well-known/est/{tenant}/{ca}/${target.name}`,
      status: answer.status,
      seconds: (clock.monotonicMs() - this.#startedMs) / 1_000,
    });
    await sendAnswer(this.#request, this.#response, answer);
  }

  #callOf({ ca }: Target): EstCall {
    return {
      ca,
      headers: this.#request.headers,
      socket: this.#request.socket as TLSSocket,
      clientIp: clientAddressOf(this.#request),
      readBody: () => this.#readBody(),
      note: (parameters) => {
        this.#note = { ...this.#note, ...parameters };
      },
    };
  }

  #readBody(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      // Read only after the sender was accepted, so the whole limit is allowed.
      readBody(this.#request, bodyLimitBytes, admitted, (body) => {
        if (!(body instanceof Uint8Array))
          reject(fail('payload-too-large', { detail: `A request may have at most ${bodyLimitBytes} octets.` }));
        else resolve(body);
      });
    });
  }

  #answerOf(error: ServiceError): EstAnswer {
    const { allow, detail, retryAfterSeconds: wait } = error.details;
    const line =
      error.status < 500 ? (detail ?? `${error.title}.`) : `${error.title} (${this.#requestId}). ${error.advice ?? ''}`.trimEnd();
    const retryAfter = wait ?? (error.status === 503 ? retryAfterSeconds : undefined);
    const answer = answerText(error.status, line, {
      ...defined({ Allow: allow?.join(', ') }),
      // Seconds, never a date: one widespread client reads nothing else.
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(error.status === 401 ? { 'WWW-Authenticate': this.#challenge } : {}),
    });
    return error.status === 401 && this.#asksForSecret ? { ...answer, body: '' } : answer;
  }

  /**
   * Whether a 401 asks for a secret from a client that has shown no credential. It has no body: the stock client of Bouncy Castle closes it
   * unread, throws when there is more of it, and would never send its secret.
   */
  get #asksForSecret(): boolean {
    const { headers, socket } = this.#request;
    return this.#takesSecret && headers.authorization === undefined && !(socket as TLSSocket).getPeerX509Certificate();
  }

  get #takesSecret(): boolean {
    return this.#target?.name === 'simpleenroll' && this.#target.ca.enrolment.initialEnrollSecret !== undefined;
  }

  /** RFC 9110 15.5.2 wants a challenge on every 401; Basic only where a secret would help, or clients would ask people for one. */
  get #challenge(): string {
    return this.#takesSecret ? 'Basic realm="est"' : 'TLS-Client-Certificate realm="est"';
  }

  /** Whether the record is on the disk. */
  async #record(status: number, code: string | undefined): Promise<boolean> {
    try {
      await this.#options.audit.write(this.#recordOf(status, code));
      return true;
    } catch {
      return false;
    }
  }

  #recordOf(status: number, code: string | undefined): AuditRecord {
    const { clock } = this.#options;
    const target = this.#target;
    return {
      kind: 'est',
      occurredAt: formatTimestamp(clock.now()),
      requestId: this.#requestId,
      ...defined({ tenantId: target?.ca.tenantId }),
      path: (this.#request.url ?? '').replace(/\?.*/s, '').slice(0, 256),
      method: this.#request.method ?? '',
      status,
      ...defined({ code }),
      requestTimeMs: Math.round((clock.monotonicMs() - this.#startedMs) * 1000) / 1000,
      clientIp: clientAddressOf(this.#request),
      userAgent: userAgentOf(this.#request),
      ...(target === undefined ? {} : { requestParameters: { operation: target.name, ca: target.ca.name, ...this.#note } }),
    };
  }
}

const admitted: Admit = (_, decide) => decide(undefined);

/** A request's operation and CA. */
type Target = { readonly name: string; readonly operation: EstOperation; readonly ca: CertificateAuthority };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `/.well-known/est/<tenant_uuid>/<ca_name>/<operation>`, or with `<tenant_uuid>~<ca_name>` for clients that take one label (api 68).
 * Unknown, foreign and disabled are one answer (R2).
 */
function findTarget({ authorities }: EstContext, url: string): Target | undefined {
  const [wellKnown, est, ...rest] = readRequestPath(url)?.segments ?? [];
  if (wellKnown !== '.well-known' || est !== 'est') return undefined;
  const [tenantId = '', caName = '', name = '', ...more] = rest.length === 2 ? [...splitLabel(rest[0]), rest[1]] : rest;
  const operation = operations.get(name);
  if (operation === undefined || more.length > 0 || !uuid.test(tenantId)) return undefined;
  const ca = authorities.find(tenantId, caName);
  return ca?.enrolment.enabled === true ? { name, operation, ca } : undefined;
}

function splitLabel(label = ''): readonly string[] {
  const tilde = label.indexOf('~');
  return tilde === -1 ? ['', ''] : [label.slice(0, tilde), label.slice(tilde + 1)];
}
