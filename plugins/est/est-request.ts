// EST request: its target, its record, and its answers, which are lines of text in the form that EST clients accept.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { hasCredential } from '../../core/audit/record.ts';
import { defined } from '../../core/base/defined.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { HttpExchange } from '../../core/http/context/exchange.ts';
import { RequestContext, type Answered, type RequestServer } from '../../core/http/context/request-context.ts';
import { admitAny, readBody } from '../../core/http/request/body.ts';
import { isKeyAway } from '../../core/http/response/problem.ts';
import { repeatedHeader, unmetHeader } from '../../core/http/request/header-rules.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../../core/plugin/services/certificate-authority.ts';
import type { EstCall, EstContext } from './context.ts';
import { sendAnswer } from './listener/send-answer.ts';
import { answerText, type EstAnswer, retryAfterSeconds } from './listener/transport.ts';
import { type EstOperation, operations } from './operations/operations.ts';

/** Requests have at most this many octets: an ML-DSA-87 request has about 10,000 (api 67). */
const bodyLimitBytes = 64 * 1024;

/** The operation and the CA that a request names. */
type Target = {
  readonly name: string;
  readonly operation: EstOperation;
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
};

/**
 * Parts shared by all EST requests. `refresh` brings the store up to date. Requests whose bodies arrive in one round of the event loop go
 * on together after `nextTurn`: token, store and audit trail then get their work in one piece.
 */
export type EstServer = RequestServer & EstContext & { refresh(): void; nextTurn(): Promise<void> };

export class EstRequest extends RequestContext<EstAnswer, HttpExchange> {
  readonly #server: EstServer;
  #target: Target | undefined;
  #note: Readonly<Record<string, unknown>> = {};
  #isAccepted = false;

  constructor(server: EstServer, request: IncomingMessage, response: ServerResponse) {
    super(server, new HttpExchange(request, response));
    this.#server = server;
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<EstAnswer> {
    const repeated = repeatedHeader(this.exchange.request) ?? unmetHeader(this.exchange.request);
    if (repeated !== undefined) throw repeated;
    if (this.#server.sealed()) throw fail('sealed');
    this.#server.refresh();
    const target = findTarget(this.#server, this.exchange.target);
    this.#target = target;
    if (target === undefined) throw fail('not-found', { detail: 'Nothing is served here.' });
    const { method } = this.exchange.request;
    if (method !== target.operation.method && !(method === 'HEAD' && target.operation.method === 'GET')) {
      throw fail('method-not-allowed', { allow: target.operation.method === 'GET' ? ['GET', 'HEAD'] : ['POST'] });
    }
    return target.operation.run(this.#server, this.#callOf(target));
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.#target === undefined) return { method: 'any', route: undefined };
    return { method: this.#target.operation.method, route: `/.well-known/est/{tenant}/{ca}/${this.#target.name}` };
  }

  protected get place(): string {
    return 'EST';
  }

  protected formatAnswer(value: unknown): EstAnswer {
    return value as EstAnswer;
  }

  /** A device can do nothing about a key or a token that the HSM does not have, but try again later. */
  protected override translated(error: ServiceError): ServiceError {
    return isKeyAway(error) ? fail('hsm-unavailable', { cause: error.details.cause }) : error;
  }

  protected answerOf(error: ServiceError): EstAnswer {
    const { allow, detail = error.advice, retryAfterSeconds: wait } = error.details;
    const general = `${error.title}${error.status < 500 ? '' : ` (${this.requestId})`}. ${error.advice}`;
    const line = error.status < 500 && detail !== error.advice ? detail : general;
    const retryAfter = wait ?? (error.status === 503 ? retryAfterSeconds : undefined);
    const answer = answerText(error.status, line, {
      ...defined({ Allow: allow?.join(', ') }),
      // Seconds, never a date: one widespread client reads nothing else.
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(error.status === 401 ? { 'WWW-Authenticate': this.#challenge } : {}),
    });
    return error.status === 401 && this.#asksForSecret ? { ...answer, body: '' } : answer;
  }

  /** Records every outcome before it is answered. */
  protected record(status: number, error: ServiceError | undefined): Promise<void> {
    const { audit, clock } = this.#server;
    const target = this.#target;
    const reason = error === undefined || error.status >= 500 ? undefined : error.details.detail;
    const parameters = target && { operation: target.name, ca: target.ca.name, ...this.#note, ...defined({ reason }) };
    const record = this.recordOf({
      kind: 'est',
      occurredAt: formatTimestamp(clock.now()),
      owner: defined({ tenantId: target?.ca.tenantId }),
      path: this.exchange.target.replace(/\?.*/s, '').slice(0, 256),
      status,
      code: error?.code,
    });
    return audit.write({ ...record, ...defined({ requestParameters: parameters }), [hasCredential]: this.#isAccepted });
  }

  /** A certificate whose record cannot be written is not handed out. */
  protected mayGoUnrecorded(status: number): boolean {
    return status !== 200 || this.#target?.operation.method !== 'POST';
  }

  protected send(answer: EstAnswer): Promise<void> {
    const headers = { ...answer.headers, 'Request-Id': this.requestId };
    return sendAnswer(this.exchange.request, this.exchange.response, { ...answer, headers });
  }

  #callOf({ ca, settings }: Target): EstCall {
    const note = (parameters: Readonly<Record<string, unknown>>): void => {
      this.#note = { ...this.#note, ...parameters };
    };
    return {
      ca,
      settings,
      headers: this.exchange.request.headers,
      socket: this.exchange.request.socket as TLSSocket,
      clientIp: this.clientIp,
      readBody: () => this.#readBody(),
      note,
      accept: (parameters) => {
        this.#isAccepted = true;
        note(parameters);
      },
    };
  }

  async #readBody(): Promise<Uint8Array> {
    // The sender was accepted, so the request counts as one of the tenant: an unproven one does not.
    if (this.#target !== undefined) this.#server.admit?.(this.#target.ca.tenantId);
    const body = await new Promise<Uint8Array>((resolve, reject) => {
      // Read only after the sender was accepted, so the whole limit is allowed.
      readBody(this.exchange.request, bodyLimitBytes, admitAny, (body) => {
        if (!(body instanceof Uint8Array))
          reject(fail('payload-too-large', { detail: `A request may have at most ${bodyLimitBytes} octets.` }));
        else resolve(body);
      });
    });
    await this.#server.nextTurn();
    return body;
  }

  /**
   * True if a 401 asks for a secret from a client that has shown no credential. It has no body: the stock client of Bouncy Castle closes it
   * unread, throws when there is more of it, and would never send its secret.
   */
  get #asksForSecret(): boolean {
    const { headers, socket } = this.exchange.request;
    return this.#takesSecret && headers.authorization === undefined && !(socket as TLSSocket).getPeerX509Certificate();
  }

  get #takesSecret(): boolean {
    return this.#target?.name === 'simpleenroll' && this.#target.settings.sharedSecret !== undefined;
  }

  /** RFC 9110 15.5.2 wants a challenge on every 401; Basic only where a secret would help, or clients would ask people for one. */
  get #challenge(): string {
    return this.#takesSecret ? 'Basic realm="est"' : 'TLS-Client-Certificate realm="est"';
  }
}

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
  const settings = ca?.enrolment('est');
  return ca === undefined || settings === undefined ? undefined : { name, operation, ca, settings };
}

function splitLabel(label = ''): readonly string[] {
  const tilde = label.indexOf('~');
  return tilde === -1 ? ['', ''] : [label.slice(0, tilde), label.slice(tilde + 1)];
}
