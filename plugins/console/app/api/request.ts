// Requests to the API in the name of the person who is signed in, and the refusals as errors.
import { refuseSecret, secret } from './session.ts';

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
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
    this.findings = Array.isArray(errors)
      ? errors.filter((one): one is Finding => typeof (one as Finding | null)?.message === 'string')
      : [];
  }
}

/** The target of a request: path and query. */
export function targetOf({ path, query = {} }: Request): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Sends a request. Rejects with Refusal, or with AbortError after `signal`. */
export async function send(request: Request, signal?: AbortSignal): Promise<Answer> {
  const known = secret.value ?? '';
  const { method, headers = {}, body } = request;
  let response: Response;
  try {
    response = await fetch(targetOf(request), {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: {
        accept: 'application/json',
        authorization: `Console ${known}`,
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
  const content = await contentOf(response);
  if (response.ok) return { status: response.status, headers: response.headers, body: content };
  const problem = typeof content === 'object' && content !== null ? (content as Readonly<Record<string, unknown>>) : {};
  if (response.status === 401 && problem['code'] === 'invalid-token') refuseSecret(known);
  throw new Refusal(response.status, problem, response.headers.get('request-id') ?? undefined);
}

const unreachable = {
  title: 'The appliance did not answer',
  code: 'no-answer',
  detail: 'Check the network and try again. A change that was sent may have been made: look before you repeat it.',
};

async function contentOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  if (!(response.headers.get('content-type') ?? '').includes('json') || response.headers.get('content-type')?.includes('ndjson') === true)
    return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
