// Request of SCEP over HTTP (RFC 8894 section 4): its target, its record, and its answers, which are lines of text where no message can be answered.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defined } from '../../../core/base/defined.ts';
import { fail, type ServiceError } from '../../../core/base/errors.ts';
import { EnrolmentRequest } from '../../../core/enrolment/enrolment-request.ts';
import type { Answered, RequestServer } from '../../../core/http/context/request-context.ts';
import { repeatedHeader, unmetHeader } from '../../../core/http/request/header-rules.ts';
import { queryOf, readRequestPath } from '../../../core/http/request/path.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../../../core/plugin/services/certificate-authority.ts';
import type { ScepAnswer, ScepCall, ScepContext } from '../context.ts';
import { messageLimits } from '../message/limits.ts';
import { decodeMessage, readQuery, type ScepQuery } from '../message/query.ts';
import { operations, type ScepOperation } from '../operations/operations.ts';

/** Parts shared by all requests. `refresh` brings the store up to date. */
export type ScepServer = RequestServer & ScepContext & { refresh(): void };

type Target = {
  readonly name: string;
  readonly operation: ScepOperation;
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
  readonly query: ScepQuery;
};

export class ScepHttpRequest extends EnrolmentRequest<Target, ScepAnswer> {
  protected readonly kind = 'scep';
  readonly #server: ScepServer;

  constructor(server: ScepServer, request: IncomingMessage, response: ServerResponse) {
    super(server, request, response);
    this.#server = server;
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<ScepAnswer> {
    const { request } = this.exchange;
    const repeated = repeatedHeader(request) ?? unmetHeader(request);
    if (repeated !== undefined) throw repeated;
    if (this.#server.sealed()) throw fail('sealed');
    this.#server.refresh();
    const target = findTarget(this.#server, this.exchange.target);
    this.target = target;
    if (target === undefined) throw fail('not-found', { detail: 'Nothing is served here.' });
    const { methods } = target.operation;
    if (!methods.includes(request.method ?? '')) throw fail('method-not-allowed', { allow: [...methods] });
    return target.operation.run(this.#server, this.#callOf(target));
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.target === undefined) return { method: 'any', route: undefined };
    return { method: this.exchange.method, route: `/scep/{tenant}/{ca}?operation=${this.target.name}` };
  }

  protected get place(): string {
    return 'SCEP';
  }

  protected answerOf(error: ServiceError): ScepAnswer {
    const { allow, detail = error.advice } = error.details;
    const line = error.status < 500 ? detail : `${error.title} (${this.requestId}). ${error.advice}`;
    const retryAfter = this.retryAfterOf(error);
    return {
      status: error.status,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        ...defined({ allow: allow?.join(', ') }),
        ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      },
      body: `${line.replaceAll(/\s+/g, ' ')}\n`,
    };
  }

  /** A certificate whose record cannot be written is not handed out. */
  protected mayGoUnrecorded(status: number): boolean {
    return status !== 200 || this.target?.name !== 'PKIOperation';
  }

  protected send({ status, headers, body }: ScepAnswer): undefined {
    const { response, request } = this.exchange;
    if (response.destroyed || response.headersSent) return;
    // The rest of a refused message is dropped.
    request.resume();
    response.writeHead(status, {
      ...headers,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'request-id': this.requestId,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  #callOf({ ca, settings, query }: Target): ScepCall {
    return {
      ca,
      settings,
      clientIp: this.clientIp,
      readMessage: () => (this.exchange.method === 'POST' ? this.#readBody() : Promise.resolve(decoded(query))),
      note: this.note,
      noted: () => this.noted,
      noteRefusal: (code) => (this.refusal = code),
      accept: (parameters) => {
        this.isAccepted = true;
        // The sender was accepted, so the request counts as one of the tenant: an unproven one does not.
        this.#server.admit?.(ca.tenantId);
        this.note(parameters);
      },
      isAccepted: () => this.isAccepted,
    };
  }

  /** The body of a POST, whatever its Content-Type says: two of five clients send none. */
  #readBody(): Promise<Uint8Array> {
    return this.readOctets('message', messageLimits.octets);
  }
}

function decoded({ message }: ScepQuery): Uint8Array {
  const octets = message === undefined ? undefined : decodeMessage(message);
  if (octets !== undefined) return octets;
  throw fail('invalid-value', { detail: 'The query parameter message of PKIOperation must be a message of SCEP in base64.' });
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ends that devices append to the URL that they are given. */
const tails: ReadonlySet<string> = new Set(['', 'pkiclient.exe', 'cgi-bin/pkiclient.exe']);

/** `/scep/<tenant_uuid>/<ca_name>?operation=<operation>`. Unknown, foreign and disabled are one answer. */
function findTarget({ authorities }: ScepContext, url: string): Target | undefined {
  const [scep, tenantId = '', caName = '', ...tail] = readRequestPath(url)?.segments ?? [];
  const query = readQuery(queryOf(url));
  const operation = operations.get(query?.operation ?? '');
  if (scep !== 'scep' || !uuid.test(tenantId) || !tails.has(tail.join('/'))) return undefined;
  if (operation === undefined || query?.operation === undefined) return undefined;
  const ca = authorities.find(tenantId, caName);
  const settings = ca?.enrolment('scep');
  return ca === undefined || settings === undefined ? undefined : { name: query.operation, operation, ca, settings, query };
}
