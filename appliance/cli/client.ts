// HTTPS client for one appliance, or for several that share a store: sends requests with the token, returns answers unchanged, throws
// refusals as CommandFailed.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { defined } from '../../core/base/defined.ts';
import { type Connection, defaultUrl } from './connection-options.ts';
import { CommandFailed, exitCodeOf, exitCodes } from './terminal/failure.ts';
import { userAgent as ownUserAgent } from './version.ts';

export type Request = {
  readonly method: string;
  /** already percent-encoded */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  /** sent as JSON; octets as they are, with a content-type among the headers */
  readonly body?: unknown;
  /** longest time without data; default five minutes */
  readonly answerMs?: number;
  /** true if it may be sent once more when no answer came; default: GET and HEAD */
  readonly isIdempotent?: boolean | undefined;
  /** ends the request when it is aborted */
  readonly signal?: AbortSignal;
};

export type ClientOptions = {
  /** default: that of keystorectl */
  readonly userAgent?: string;
  /** connections to an address at the same time; default: as many as there are requests */
  readonly atOnce?: number;
  /** the addresses of the connection in the order in which they are asked; default: as they are written */
  readonly order?: readonly string[];
};

export type Answer = {
  readonly status: number;
  readonly mediaType: string;
  readonly headers: IncomingHttpHeaders;
  /** when to try again, if the answer has Retry-After */
  readonly retryAfterSeconds: number | undefined;
  readonly body: Buffer;
};

/** An answer of RFC 9457. */
export type Problem = {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly 'request-id'?: string;
  readonly errors?: readonly { readonly 'error-message': string; readonly 'error-info'?: string }[];
};

/** Refused by the appliance. */
export class Refused extends CommandFailed {
  readonly code: string;
  readonly answer: Answer;
  constructor(answer: Answer, { title, detail, code = '', errors = [], 'request-id': requestId }: Problem) {
    const said = detail ?? errors[0]?.['error-message'] ?? `${title ?? 'Refused'}.`;
    const items = errors
      .filter(({ 'error-message': message }) => !said.includes(message))
      .map(({ 'error-message': message, 'error-info': info }) => (info === undefined ? message : `${info}: ${message}`));
    const first = `${answer.status} ${code}: ${said}`;
    super(exitCodeOf(answer.status), [first, ...items, ...(requestId === undefined ? [] : [`request-id ${requestId}`])].join('\n  '));
    this.code = code;
    this.answer = answer;
  }
}

/** Nobody has answered. `mayBeDone`: the request may have arrived. */
class Unanswered extends CommandFailed {
  readonly mayBeDone: boolean;
  constructor(message: string, mayBeDone: boolean) {
    super(exitCodes.unavailable, message);
    this.mayBeDone = mayBeDone;
  }
}

const quietMs = 300_000;
/** The longest time until a connection is there, where there is another address. */
const connectingMs = 5_000;

export class Client {
  readonly connection: Connection;
  readonly #agent: Agent;
  readonly #userAgent: string;
  /** connections whose handshake is done */
  readonly #connected = new WeakSet<Duplex>();
  /** the address that answered last is first */
  #addresses: readonly string[];

  constructor(
    connection: Connection,
    { userAgent = ownUserAgent, atOnce = Infinity, order = connection.url.split(',') }: ClientOptions = {},
  ) {
    this.connection = connection;
    this.#userAgent = userAgent;
    this.#addresses = order;
    const { ca, identity } = connection;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce, ...defined({ ca, cert: identity?.cert, key: identity?.key }) });
  }

  /** The addresses, with the one that is asked next first. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** The whole answer; throws Refused from status 400 up, CommandFailed without an answer. */
  async exchange(request: Request): Promise<Answer> {
    return this.#anywhere(request, async (url) => this.#read(await this.#openAt(url, request), url));
  }

  /** The answer as a stream, for endless and large ones. Refusals as above. */
  async open(request: Request): Promise<IncomingMessage> {
    return this.#anywhere(request, (url) => this.#openAt(url, request));
  }

  /** At each address in turn, while it is certain that nothing was done, or that doing it twice does no harm. Throws as the last one. */
  async #anywhere<T>(request: Request, ask: (url: string) => Promise<T>): Promise<T> {
    for (let left = this.#addresses.length - 1; ; left--) {
      const [url = '', ...others] = this.#addresses;
      try {
        return await ask(url);
      } catch (error) {
        if (!mayBeRepeated(error, request)) throw error;
        // Another request may have come here first.
        if (this.#addresses[0] === url) this.#addresses = [...others, url];
        if (left === 0 || request.signal?.aborted === true) throw error;
      }
    }
  }

  async #openAt(url: string, request: Request): Promise<IncomingMessage> {
    const response = await this.#send(url, request);
    if ((response.statusCode ?? 500) < 400) return response;
    const answer = await this.#read(response, url);
    throw new Refused(answer, this.#ourWords(problemOf(answer)));
  }

  /** The JSON of an answer; undefined for an empty one. */
  async json(request: Request): Promise<unknown> {
    const { body } = await this.exchange(request);
    return body.length === 0 ? undefined : (JSON.parse(body.toString()) as unknown);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Throws CommandFailed when the connection ends before the answer does. */
  async #read(response: IncomingMessage, url: string): Promise<Answer> {
    const { statusCode: status = 500, headers } = response;
    const body = await buffer(response).catch((error: unknown) => {
      throw connectionFailure(error as NodeJS.ErrnoException, url, true);
    });
    return { status, mediaType: mediaTypeOf(response), headers, retryAfterSeconds: secondsOf(headers['retry-after']), body };
  }

  /** The appliance's message names an HTTP header; a person at the command line needs a login, or an option. */
  #ourWords(problem: Problem): Problem {
    if (problem.code === 'approval-needed')
      return {
        ...problem,
        ...defined({ detail: problem.detail?.replace('Send it with the header Approval-Reason', 'Give --ask-approval REASON') }),
      };
    if (problem.code !== 'invalid-token') return problem;
    const detail =
      this.connection.token === undefined
        ? 'No token was given: log in with "keystorectl login", or set KEYSTORED_TOKEN or KEYSTORED_TOKEN_FILE.'
        : 'The token is unknown here, has expired or was ended: log in again with "keystorectl login", or set KEYSTORED_TOKEN.';
    return { ...problem, detail, errors: [] };
  }

  #send(url: string, { method, path, query, headers = {}, body, answerMs = quietMs, signal }: Request): Promise<IncomingMessage> {
    const { token } = this.connection;
    const { length } = this.#addresses;
    const patienceMs = length > 1 ? Math.min(answerMs / length, connectingMs) : answerMs;
    const payload = body === undefined ? undefined : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    const search = query === undefined || query.size === 0 ? '' : `?${query}`;
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${url}${path}${search}`, {
        method,
        agent: this.#agent,
        timeout: answerMs,
        ...defined({ signal }),
        headers: {
          'user-agent': this.#userAgent,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length }),
          ...headers,
        },
      });
      let isConnected = false;
      let connecting: NodeJS.Timeout | undefined;
      const tooLate = (ms: number) => (): void => void request.destroy(new Error(`no answer within ${ms / 1000} s`));
      // A request that has waited for another one to end gets a connection that is there already, and no event.
      request.on('socket', (socket) => {
        isConnected = this.#connected.has(socket);
        if (isConnected) return;
        connecting = setTimeout(tooLate(patienceMs), patienceMs);
        socket.once('secureConnect', () => {
          isConnected = true;
          this.#connected.add(socket);
          clearTimeout(connecting);
        });
      });
      request.on('timeout', tooLate(answerMs));
      request.on('close', () => clearTimeout(connecting));
      request.on('error', (error) => reject(connectionFailure(error, url, isConnected)));
      request.on('response', resolve);
      request.end(payload);
    });
  }
}

function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';')[0]?.trim() ?? '';
}

/** Retry-After is a number of seconds here; a date, which gateways may send, counts as none. */
function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function problemOf({ mediaType, body }: Answer): Problem {
  if (!/^application\/([a-z-]+\+)?json$/.test(mediaType)) return {};
  try {
    return JSON.parse(body.toString()) as Problem;
  } catch {
    return {};
  }
}

/** `mayBeDone`: the request may have arrived. */
function connectionFailure(error: NodeJS.ErrnoException, url: string, mayBeDone: boolean): CommandFailed {
  const code = error.code ?? '';
  // The server's verdict on the client's certificate comes after the handshake.
  const silent = `${url} does not answer (${code || error.message}): is keystored running there?`;
  const advice = url === defaultUrl ? `${silent} Another address is given with --url or KEYSTORED_URL.` : silent;
  if (mayBeDone) return new Unanswered(advice, mayBeDone);
  if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SIGNATURE') || code.includes('ISSUER')) {
    const remedy = 'give the CA certificate of the appliance with --ca (tls/ca.pem in its data directory)';
    return new CommandFailed(exitCodes.usage, `the certificate of ${url} is not trusted (${code}): ${remedy}`);
  }
  return new Unanswered(advice, mayBeDone);
}

/** As the API description has it: 503 with Retry-After says that nothing was done. */
function mayBeRepeated(error: unknown, { method, isIdempotent = method === 'GET' || method === 'HEAD' }: Request): boolean {
  if (error instanceof Refused) {
    const { status, retryAfterSeconds } = error.answer;
    // The answer of a proxy, without a code, does not tell whether anything was done.
    if (status === 503 && retryAfterSeconds !== undefined && error.code !== '') return true;
    return isIdempotent && (status === 502 || status === 503 || status === 504);
  }
  return error instanceof Unanswered && (isIdempotent || !error.mayBeDone);
}
