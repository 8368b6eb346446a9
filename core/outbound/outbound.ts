// The only outbound calls to identity providers: TLS with the trust of one service, limits on time and size, no redirects.
import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../base/context.ts';
import { defined } from '../base/defined.ts';
import type { SecureContext } from 'node:tls';
import type { Destinations, Way } from './destinations.ts';
import { GuardedAgent } from './guarded-connection.ts';
import { OutboundError, type OutboundFailure } from './outbound-error.ts';
import { secureContextOf, type Trust } from './trust.ts';

/** One finished call, for verbose logging, without query, headers and body. */
export type OutboundCall = { readonly method: string; readonly url: string; readonly status: number | undefined; readonly ms: number };

export type OutboundOptions = {
  readonly trust: Trust;
  /** plain http to loopback hosts, for development only */
  readonly allowHttpLoopback: boolean;
  readonly destinations: Destinations;
  readonly clock: Clock;
  /** for one call, including the whole answer */
  readonly callSeconds?: number;
  /** for all calls together, from the start of the first */
  readonly totalSeconds?: number;
  readonly maxBytes?: number;
  /** ends when this one ends, at the latest */
  readonly within?: Outbound;
};

/** A request, in the form of openid-client's custom fetch. */
export type OutboundRequest = {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: unknown;
};

export type Outbound = {
  /** Resolves with the whole answer, whatever its status; rejects with OutboundError. */
  fetch(url: string | URL, request?: OutboundRequest): Promise<Response>;
  readonly calls: readonly OutboundCall[];
  /** Starts the time limit for all calls, if it is not running yet. */
  deadline(): AbortSignal;
};

/** Outbound calls of one login. Limits: 5 s per call, 15 s in all, 1 MiB per answer. */
export function openOutbound(options: OutboundOptions): Outbound {
  const { trust, clock, callSeconds = 5, totalSeconds = 15, maxBytes = 1_048_576 } = options;
  const calls: OutboundCall[] = [];
  const secureContext = secureContextOf(trust);
  let started: AbortSignal | undefined;

  function deadline(): AbortSignal {
    const own = (started ??= AbortSignal.timeout(totalSeconds * 1000));
    return options.within === undefined ? own : AbortSignal.any([own, options.within.deadline()]);
  }

  async function fetch(address: string | URL, request: OutboundRequest = {}): Promise<Response> {
    const url = new URL(address);
    const method = request.method ?? 'GET';
    if (!isAllowedUrl(url, options.allowHttpLoopback)) throw new OutboundError('forbidden-url', 'providers are called over https only');
    const { lookup } = options.destinations.wayTo(url);
    const signal = AbortSignal.any([deadline(), AbortSignal.timeout(callSeconds * 1000)]);
    const startedMs = clock.monotonicMs();
    let status: number | undefined;
    try {
      const response = await perform(url, method, request, { secureContext, lookup, signal, maxBytes });
      status = response.status;
      return response;
    } finally {
      calls.push({ method, url: url.origin + url.pathname, status, ms: Math.round(clock.monotonicMs() - startedMs) });
    }
  }
  return { fetch, calls, deadline };
}

/** https without credentials, or http to a loopback host where that is allowed (R1, R5). */
export function isAllowedUrl(url: URL, allowHttpLoopback: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && allowHttpLoopback && isLoopback(url.hostname));
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** `isUnverified`: whose certificate the server shows does not matter. */
export type Limits = Way & {
  readonly secureContext?: SecureContext;
  readonly isUnverified?: boolean;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
};

/**
 * Sends one request and resolves with the whole answer, whatever its status; follows no redirect. Rejects with OutboundError.
 *
 * No checks run inside an event listener: an exception there would end the process, not the call. */
export async function perform(url: URL, method: string, request: OutboundRequest, limits: Limits): Promise<Response> {
  try {
    const sent = send(url, method, request, limits);
    try {
      const incoming = await answerTo(sent);
      return formatResponse(incoming, await readWhole(incoming, limits.maxBytes));
    } finally {
      sent.destroy();
    }
  } catch (error) {
    throw error instanceof OutboundError ? error : explain(error as NodeJS.ErrnoException, limits.signal);
  }
}

function send(url: URL, method: string, request: OutboundRequest, limits: Limits): http.ClientRequest {
  const { secureContext, isUnverified = false, lookup, signal } = limits;
  const headers = new Headers(request.headers);
  headers.set('accept-encoding', 'identity');
  headers.set('connection', 'close');
  const body = request.body === undefined || request.body === null ? undefined : formatBody(request.body);
  if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
  const options = { method, headers: Object.fromEntries(headers), signal, lookup, agent: false as const };
  const sent =
    url.protocol === 'https:'
      ? https.request(url, {
          ...options,
          agent: new GuardedAgent({ ...defined({ secureContext }), rejectUnauthorized: !isUnverified }, signal),
        })
      : http.request(url, options);
  return sent.end(body);
}

/** The head of the answer. Rejects when the connection ends without one, or switches to another protocol. */
function answerTo(sent: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', resolve);
    sent.on('close', () => reject(new OutboundError('malformed', 'the connection ended without an answer')));
  });
}

async function readWhole(incoming: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new OutboundError('too-large', `the answer is over ${maxBytes} octets`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function formatBody(body: unknown): string | Uint8Array {
  if (body instanceof Uint8Array) return body;
  return body instanceof URLSearchParams ? body.toString() : String(body);
}

/** Node accepts any three digits as a status; a Response accepts only the final ones of HTTP (RFC 9110 section 15). */
function formatResponse(incoming: http.IncomingMessage, body: Buffer): Response {
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) throw new OutboundError('malformed', `the answer has the status ${status}`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct)) for (const one of value ?? []) headers.append(name, one);
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : new Uint8Array(body), { status, headers });
}

function explain(error: NodeJS.ErrnoException, signal: AbortSignal): OutboundError {
  // The connection ended because this end gave up: its code would blame a reset on the network.
  if (signal.aborted) return new OutboundError('timeout', 'the provider did not answer in time');
  const code = error.code ?? '';
  const [kind, message] = faults.find(([pattern]) => pattern.test(code))?.[1] ?? (['unreachable', 'no connection'] as const);
  return new OutboundError(kind, message, error);
}

/** The failure by the error code of the system or of Node. */
const faults: readonly (readonly [RegExp, readonly [OutboundFailure, string]])[] = [
  [/^HPE_|^ERR_(?:HTTP|STREAM)_/, ['malformed', 'the answer is not HTTP']],
  [/CERT|TLS|SSL|SELF_SIGNED|VERIFY|EPROTO/, ['tls', 'the provider’s TLS identity is not accepted']],
];
