// Requests to the API in the name of the person who is signed in, and the refusals as errors.
import { titleOfRefusal } from '../language/told.ts';
import { refuseSecret, secret } from './session.ts';
import { endVisit, visit } from './visit.ts';

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** an answer that is the same for everybody: the browser keeps it, and asks whether it is still the present one */
  readonly isKept?: true;
  /** statuses beside 2xx that carry an answer: health answers 503 while something is not well */
  readonly otherStatuses?: readonly number[];
};

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export type Finding = { readonly message: string; readonly info?: string };

/** A refusal of the API (RFC 9457), or what became of a request that got no answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string | undefined;
  readonly requestId: string | undefined;
  readonly findings: readonly Finding[];

  constructor(status: number, problem: Readonly<Record<string, unknown>>, requestId: string | undefined) {
    super(textOf(problem['title']) ?? `The answer has status ${status}`);
    this.status = status;
    this.code = textOf(problem['code']) ?? `status-${status}`;
    this.detail = textOf(problem['detail']);
    this.requestId = requestId;
    const { errors } = problem;
    this.findings = Array.isArray(errors) ? errors.flatMap((one) => findingOf(one as Readonly<Record<string, unknown>> | null)) : [];
  }
}

/** The target of a request: path and query. */
export function targetOf({ path, query = {} }: Request): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Sends a request. Rejects with Refusal, or with AbortError after `signal`. */
export async function send(request: Request, signal?: AbortSignal): Promise<Answer> {
  const response = await open(request, signal);
  return { status: response.status, headers: response.headers, body: await contentOf(response) };
}

/**
 * As send, for requests that belong together: none is sent once another secret has come, since that may be of another person. Rejects with
 * Refusal then.
 */
export function sendAsNow(): typeof send {
  const begun = [secret.value, visit.value];
  return async (request, signal) => {
    if (secret.value !== begun[0] || visit.value !== begun[1]) throw new Refusal(401, otherSession, undefined);
    return send(request, signal);
  };
}

const otherSession = {
  title: 'Another session has begun',
  code: 'other-session',
  detail: 'Somebody has signed in in this browser meanwhile. The rest was not sent.',
};

/**
 * As send, for a continuing answer: JSON, one value a line, in the pieces in which it comes, after an empty one when the answer begins. A
 * line that is not JSON is left out. If an answer says that another one continues it, that is read, too.
 */
export async function* follow(request: Request, signal: AbortSignal): AsyncGenerator<readonly unknown[]> {
  for (let next: Request | undefined = request; next !== undefined;) {
    const { body, headers }: Response = await open(next, signal);
    yield [];
    if (body !== null) yield* linesOf(body);
    const target = /^<(\/[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    next = target === undefined ? undefined : { method: request.method, path: target };
  }
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<readonly unknown[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield lines.map(parse).filter((one) => one !== undefined);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Sends a request and answers when its answer begins: for what is read piece by piece. Rejects as `send` does. */
export async function open(request: Request, signal: AbortSignal | undefined): Promise<Response> {
  const known = secret.value ?? '';
  const visiting = visit.value;
  const { method, headers = {}, body, otherStatuses = [] } = request;
  let response: Response;
  try {
    response = await fetch(targetOf(request), {
      method,
      credentials: 'same-origin',
      cache: request.isKept === true ? 'no-cache' : 'no-store',
      redirect: 'error',
      headers: {
        accept: 'application/json',
        authorization: visiting === undefined ? `Console ${known}` : `Bearer ${visiting.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal(0, unreachable, undefined);
  }
  if (response.ok || otherStatuses.includes(response.status)) return response;
  const content = await contentOf(response);
  const problem = typeof content === 'object' && content !== null ? (content as Readonly<Record<string, unknown>>) : {};
  if (response.status === 401 && problem['code'] === 'invalid-token') {
    if (visiting === undefined) refuseSecret(known);
    else void endVisit();
  }
  const title = titleOfRefusal(problem['code'], problem['title']);
  throw new Refusal(response.status, { ...problem, title }, response.headers.get('request-id') ?? undefined);
}

/** Problem of a request that got no answer. */
export const unreachable = {
  title: 'The appliance did not answer',
  code: 'no-answer',
  detail: 'Check the network and try again. A change that was sent may have been made: look before you repeat it.',
};

/** JSON as a value, other texts as they are, anything else as octets; undefined for nothing. */
async function contentOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type !== '' && !/^text\/|json|pem/.test(type)) return response.blob();
  const text = await response.text();
  if (text === '') return undefined;
  const value = type.includes('json') && !type.includes('ndjson') ? parse(text) : undefined;
  return value === undefined ? text : value;
}

/** Parses JSON; undefined for other text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Members as the API spells them; anything else says nothing. */
function findingOf(item: Readonly<Record<string, unknown>> | null): readonly Finding[] {
  const [message, info] = [textOf(item?.['error-message']), textOf(item?.['error-info'])];
  return message === undefined ? [] : [{ message, ...(info === undefined ? {} : { info }) }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
