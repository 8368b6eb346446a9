// EST request: its target, its record, and its answers, which are lines of text in the form that EST clients accept.
import type { TLSSocket } from 'node:tls';
import { defined } from '../../core/base/defined.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { EnrolmentRequest, type EnrolmentServer } from '../../core/enrolment/enrolment-request.ts';
import type { Answered } from '../../core/http/context/request-context.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../../core/plugin/services/certificate-authority.ts';
import type { EstCall, EstContext } from './context.ts';
import { sendAnswer } from './listener/send-answer.ts';
import { answerText, type EstAnswer } from './listener/transport.ts';
import { type EstOperation, operations } from './operations/operations.ts';

/** Requests have at most this many octets: an ML-DSA-87 request has about 10,000. */
const bodyLimitBytes = 64 * 1024;

/** The operation and the CA that a request names. */
type Target = {
  readonly name: string;
  readonly operation: EstOperation;
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
};

/**
 * Parts shared by all EST requests. Requests whose bodies arrive in one round of the event loop go
 * on together after `nextTurn`: token, store and audit trail then get their work in one piece.
 */
export type EstServer = EnrolmentServer & EstContext & { nextTurn(): Promise<void> };

export class EstRequest extends EnrolmentRequest<Target, EstAnswer, EstServer> {
  protected readonly kind = 'est';

  protected findTarget(): Target | undefined {
    return findTarget(this.server, this.exchange.target);
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<EstAnswer> {
    const target = this.begin();
    const { method } = this.exchange.request;
    if (method !== target.operation.method && !(method === 'HEAD' && target.operation.method === 'GET')) {
      throw fail('method-not-allowed', { allow: target.operation.method === 'GET' ? ['GET', 'HEAD'] : ['POST'] });
    }
    return target.operation.run(this.server, this.#callOf(target));
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.target === undefined) return { method: 'any', route: undefined };
    return { method: this.target.operation.method, route: `/.well-known/est/{tenant}/{ca}/${this.target.name}` };
  }

  protected get place(): string {
    return 'EST';
  }

  protected answerOf(error: ServiceError): EstAnswer {
    const { allow, detail = error.advice } = error.details;
    const general = `${error.title}${error.status < 500 ? '' : ` (${this.requestId})`}. ${error.advice}`;
    const line = error.status < 500 && detail !== error.advice ? detail : general;
    const retryAfter = this.retryAfterOf(error);
    const answer = answerText(error.status, line, {
      ...defined({ Allow: allow?.join(', ') }),
      // Seconds, never a date: one widespread client reads nothing else.
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(error.status === 401 ? { 'WWW-Authenticate': this.#challenge } : {}),
    });
    return error.status === 401 && this.#asksForSecret ? { ...answer, body: '' } : answer;
  }

  /** A certificate whose record cannot be written is not handed out. */
  protected mayGoUnrecorded(status: number): boolean {
    return status !== 200 || this.target?.operation.method !== 'POST';
  }

  protected send(answer: EstAnswer): Promise<void> {
    const headers = { ...answer.headers, 'Request-Id': this.requestId };
    return sendAnswer(this.exchange.request, this.exchange.response, { ...answer, headers });
  }

  #callOf({ ca, settings }: Target): EstCall {
    return {
      ca,
      settings,
      headers: this.exchange.request.headers,
      socket: this.exchange.request.socket as TLSSocket,
      clientIp: this.clientIp,
      readBody: () => this.#readBody(),
      note: this.note,
      accept: (parameters) => {
        this.isAccepted = true;
        this.note(parameters);
      },
    };
  }

  async #readBody(): Promise<Uint8Array> {
    // The sender was accepted, so the request counts as one of the tenant: an unproven one does not.
    if (this.target !== undefined) this.server.admit?.(this.target.ca.tenantId);
    // Read only after the sender was accepted, so the whole limit is allowed.
    const body = await this.readOctets('request', bodyLimitBytes);
    await this.server.nextTurn();
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
    return firstEnrolments.has(this.target?.name ?? '') && this.target?.settings.sharedSecret !== undefined;
  }

  /** RFC 9110 15.5.2 wants a challenge on every 401; Basic only where a secret would help, or clients would ask people for one. */
  get #challenge(): string {
    return this.#takesSecret ? 'Basic realm="est"' : 'TLS-Client-Certificate realm="est"';
  }
}

/** Operations that take the shared secret. */
const firstEnrolments: ReadonlySet<string> = new Set(['simpleenroll', 'serverkeygen']);

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `/.well-known/est/<tenant_uuid>/<ca_name>/<operation>`, or with `<tenant_uuid>~<ca_name>` for clients that take one label.
 * Unknown, foreign and disabled are one answer.
 */
function findTarget({ authorities }: EstContext, url: string): Target | undefined {
  const [wellKnown, est, ...rest] = readRequestPath(url)?.segments ?? [];
  if (wellKnown !== '.well-known' || est !== 'est') return undefined;
  const [tenantId = '', caName = '', name = '', ...more] = rest.length === 2 ? [...splitLabel(rest[0]), rest[1]] : rest;
  const operation = operations.get(name);
  if (operation === undefined || more.length > 0 || !uuid.test(tenantId)) return undefined;
  const ca = authorities.find(tenantId, caName);
  const settings = ca?.enrolment('est');
  if (ca === undefined || settings === undefined || operation.isOffered?.(settings) === false) return undefined;
  return { name, operation, ca, settings };
}

function splitLabel(label = ''): readonly string[] {
  const tilde = label.indexOf('~');
  return tilde === -1 ? ['', ''] : [label.slice(0, tilde), label.slice(tilde + 1)];
}
