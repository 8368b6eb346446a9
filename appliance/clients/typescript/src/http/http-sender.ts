// Sends the requests of all operations: with the token, within the time limit, and once more after a token has ended.
import { ConnectionError, Problem } from '../problem.ts';
import type { ApiRequest, CallOptions, Sender } from '../sender.ts';
import type { TransportAnswer } from '../transport/transport.ts';
import { nextPage, readJson, readOctets, readText } from './answers.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { Deadline } from './deadline.ts';
import { type Credentials, Session } from './session.ts';
import { loginOf } from './workload.ts';

export type HttpSenderOptions = {
  readonly attempts: Attempts;
  readonly credentials: Credentials | undefined;
  readonly timeoutMs: number;
  /** undefined where the platform sets it: browsers do */
  readonly userAgent: string | undefined;
};

/** An answer: its document, its status and its headers. */
export type Answer = {
  readonly status: number;
  /** `name` in lower case */
  header(this: void, name: string): string | undefined;
  /** undefined for an answer without a body */
  readonly body: unknown;
};

/** The base of the URL of a request is the address; only the rest is taken from it. */
const noAddress = 'https://appliance';

export class HttpSender implements Sender {
  readonly #options: HttpSenderOptions;
  readonly #session: Session | undefined;

  readonly #headers: Readonly<Record<string, string>>;

  /** `from`: another one whose session is shared; `headers`: of every request. */
  constructor(options: HttpSenderOptions, from?: HttpSender, headers: Readonly<Record<string, string>> = {}) {
    this.#options = options;
    this.#headers = headers;
    const { credentials } = options;
    const shared = from === undefined ? undefined : from.#session;
    this.#session =
      from !== undefined || credentials === undefined
        ? shared
        : new Session(credentials, {
            login: async (given) =>
              'roleId' in given
                ? this.#withoutSession('/v1/approle-login', { 'role-id': given.roleId, 'secret-id': given.secretId })
                : this.#withoutSession('/v1/jwt-login', await loginOf(given)),
            info: (token) => this.#withoutSession('/v1/state/keystore/token/info', {}, token),
            refresh: (token) => this.#withoutSession('/v1/state/keystore/token/refresh', {}, token),
          });
  }

  /** One that shares everything, and sends these headers with every request but those of its session. */
  withHeaders(headers: Readonly<Record<string, string>>): HttpSender {
    return new HttpSender(this.#options, this, headers);
  }

  /** Forgets the token: the next request obtains one. */
  forget(): void {
    this.#session?.end();
  }

  async nothing(request: ApiRequest, options: CallOptions): Promise<void> {
    await this.#within(request, options, readOctets);
  }

  json<T>(request: ApiRequest, options: CallOptions): Promise<T> {
    return this.#within(request, options, readJson) as Promise<T>;
  }

  text(request: ApiRequest, options: CallOptions): Promise<string> {
    return this.#within(request, options, readText);
  }

  octets(request: ApiRequest, options: CallOptions): Promise<Uint8Array> {
    return this.#within(request, options, readOctets);
  }

  answer(request: ApiRequest, options: CallOptions): Promise<Answer> {
    return this.#within(request, options, async (answer) => ({
      status: answer.status,
      header: (name) => answer.header(name),
      body: await readJson(answer),
    }));
  }

  async *pages<T>(request: ApiRequest, options: CallOptions): AsyncGenerator<T, void, undefined> {
    let page: ApiRequest | undefined = request;
    while (page !== undefined) {
      const { body, header } = await this.answer(page, options);
      yield* body as T[];
      const next = nextPage({ header });
      // The link has the query of the first request as well.
      page = next === undefined ? undefined : { method: request.method, path: next, isIdempotent: request.isIdempotent };
    }
  }

  stream(request: ApiRequest, options: CallOptions): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#read(request, options, () => undefined);
  }

  async *lines(request: ApiRequest, options: CallOptions): AsyncGenerator<unknown, void, undefined> {
    // In the order of time: further answers to a search for the newest are older.
    const newer: unknown[][] = [];
    for (let page: ApiRequest | undefined = request; page !== undefined;) {
      const { method, isIdempotent } = request;
      let next: string | undefined;
      const documents = this.#documents(page, options, (answer) => (next = nextPage(answer)));
      const first = await documents.next();
      if (next !== undefined && new URL(next, noAddress).searchParams.has('before'))
        newer.push([...(first.done === true ? [] : [first.value]), ...(await collected(documents))]);
      else if (first.done !== true) {
        yield first.value;
        yield* documents;
      }
      page = next === undefined ? undefined : { method, path: next, isIdempotent };
    }
    for (const documents of newer.toReversed()) yield* documents;
  }

  async *#read(
    request: ApiRequest,
    options: CallOptions,
    onAnswer: (answer: TransportAnswer) => void,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const deadline = new Deadline(options.timeoutMs ?? this.#options.timeoutMs, options.signal);
    try {
      const answer = await this.#authorised(request, deadline, (one) => one);
      // The limit is for the beginning of the answer: the rest takes as long as its reader.
      deadline.lift();
      onAnswer(answer);
      yield* throwingConnectionErrors(answer.body, deadline);
    } finally {
      deadline.stop();
    }
  }

  async *#documents(
    request: ApiRequest,
    options: CallOptions,
    onAnswer: (answer: TransportAnswer) => void,
  ): AsyncGenerator<unknown, void, undefined> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of this.#read(request, options, onAnswer)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown;
    }
    rest += decoder.decode();
    if (rest !== '') yield JSON.parse(rest) as unknown;
  }

  async #within<T>(request: ApiRequest, options: CallOptions, read: (answer: TransportAnswer) => T | Promise<T>): Promise<T> {
    const deadline = new Deadline(options.timeoutMs ?? this.#options.timeoutMs, options.signal);
    try {
      return await this.#authorised(request, deadline, read);
    } finally {
      deadline.stop();
    }
  }

  /** With the token; after 401 once more with another, if there is one. A refusal with 401 has changed nothing. */
  async #authorised<T>(request: ApiRequest, deadline: Deadline, read: (answer: TransportAnswer) => T | Promise<T>): Promise<T> {
    const session = request.isPublic === true ? undefined : this.#session;
    const attempts = (token?: string): Promise<T> =>
      this.#options.attempts.send(
        this.#attemptOf({ ...request, headers: { ...this.#headers, ...request.headers } }, token),
        deadline,
        read,
      );
    if (session === undefined) return attempts();
    const token = await deadline.race(session.token());
    try {
      return await attempts(token);
    } catch (error) {
      const isUnknown = error instanceof Problem && error.status === 401 && error.code === 'invalid-token';
      if (!isUnknown || !session.refused(token)) throw error;
      return await attempts(await deadline.race(session.token()));
    }
  }

  /** A request of the session itself. It has a time limit of its own: several calls may wait for it. */
  async #withoutSession<T>(path: string, body: unknown, token?: string): Promise<T> {
    const deadline = new Deadline(this.#options.timeoutMs, undefined);
    try {
      // Each may be repeated: a second login gives a second token, and the first one ends by itself.
      const attempt = this.#attemptOf({ method: 'POST', path, body, isIdempotent: true }, token);
      return (await this.#options.attempts.send(attempt, deadline, readJson)) as T;
    } finally {
      deadline.stop();
    }
  }

  #attemptOf({ method, path, query = {}, headers = {}, body, octets, mediaType, isIdempotent }: ApiRequest, token?: string): Attempt {
    const { userAgent } = this.#options;
    const url = new URL(path, noAddress);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const content = octets ?? (body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body)));
    const all: Record<string, string | undefined> = {
      accept: 'application/json, */*;q=0.5',
      'user-agent': userAgent,
      'content-type': content === undefined ? undefined : (mediaType ?? 'application/json'),
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      ...headers,
    };
    const present = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { method, path: url.pathname + url.search, headers: Object.fromEntries(present), body: content, isIdempotent };
  }
}

async function collected(documents: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const one of documents) all.push(one);
  return all;
}

async function* throwingConnectionErrors(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw new ConnectionError([{ address: 'the answer ended early', error }], true);
  }
}
