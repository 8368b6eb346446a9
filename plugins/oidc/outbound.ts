// The only way out to identity providers: TLS with the trust of one service, bounded in time and size, no redirects followed.
import http from 'node:http';
import https from 'node:https';
import { getCACertificates } from 'node:tls';
import type { Clock } from '../../core/context.ts';

/** Whom a service trusts to vouch for its provider. */
export type Trust = {
  readonly useRootCaCerts: boolean;
  /** PEM certificates of the service's own */
  readonly caCerts: string | undefined;
};

/** One finished call, for verbose logging: no query, no header, no body. */
export type OutboundCall = { readonly method: string; readonly url: string; readonly status: number | undefined; readonly ms: number };

/** Why a call failed: `forbidden-url` never left this machine; `tls` means the certificate was not accepted. */
export type OutboundFailure = 'forbidden-url' | 'timeout' | 'unreachable' | 'tls' | 'too-large';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundFailure;
  /** name of the system's or TLS library's error: `ECONNREFUSED`, `CERT_HAS_EXPIRED` */
  readonly systemCode: string | undefined;

  constructor(kind: OutboundFailure, message: string, cause?: NodeJS.ErrnoException) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.systemCode = cause?.code;
  }
}

export type OutboundOptions = {
  readonly trust: Trust;
  /** plain http to loopback hosts, for development only */
  readonly allowHttpLoopback: boolean;
  readonly clock: Clock;
  /** for one call; the answer must be complete by then */
  readonly callSeconds?: number;
  /** for all calls together, from the first on */
  readonly totalSeconds?: number;
  readonly maxBytes?: number;
  /** ends with this one at the latest */
  readonly within?: Outbound;
};

/** What openid-client and our own code send: the shape of its custom fetch. */
export type OutboundRequest = {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: unknown;
};

export type Outbound = {
  /** Resolves with the whole answer, whatever its status; rejects with OutboundError. */
  fetch(url: string | URL, request?: OutboundRequest): Promise<Response>;
  readonly calls: readonly OutboundCall[];
  /** Starts the time for all calls, if none has been made yet. */
  deadline(): AbortSignal;
};

/** Opens the way out for one login. Time limits: 5 s a call, 15 s in all; answers up to 1 MiB. */
export function openOutbound(options: OutboundOptions): Outbound {
  const { trust, clock, callSeconds = 5, totalSeconds = 15, maxBytes = 1_048_576 } = options;
  const calls: OutboundCall[] = [];
  const ca = trustedCertificates(trust);
  let started: AbortSignal | undefined;

  function deadline(): AbortSignal {
    const own = (started ??= AbortSignal.timeout(totalSeconds * 1000));
    return options.within === undefined ? own : AbortSignal.any([own, options.within.deadline()]);
  }

  async function fetch(address: string | URL, request: OutboundRequest = {}): Promise<Response> {
    const url = new URL(address);
    const method = request.method ?? 'GET';
    if (!isAllowedUrl(url, options.allowHttpLoopback)) throw new OutboundError('forbidden-url', 'only https is spoken to providers');
    const signal = AbortSignal.any([deadline(), AbortSignal.timeout(callSeconds * 1000)]);
    const startedMs = clock.monotonicMs();
    let status: number | undefined;
    try {
      const response = await exchange(url, method, request, { ca, signal, maxBytes });
      status = response.status;
      return response;
    } finally {
      calls.push({ method, url: url.origin + url.pathname, status, ms: Math.round(clock.monotonicMs() - startedMs) });
    }
  }
  return { fetch, calls, deadline };
}

/** https without credentials, or http to a loopback host where that is allowed (reference R1, R5). */
export function isAllowedUrl(url: URL, allowHttpLoopback: boolean): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && allowHttpLoopback && isLoopback(url.hostname));
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Undefined means Node's default roots. An empty list trusts nobody, which is what a service without roots and own CAs gets (R8). */
export function trustedCertificates(trust: Trust): string[] | undefined {
  const own = trust.caCerts === undefined ? [] : [trust.caCerts];
  if (!trust.useRootCaCerts) return own;
  return own.length === 0 ? undefined : [...getCACertificates('default'), ...own];
}

type Limits = { readonly ca: string[] | undefined; readonly signal: AbortSignal; readonly maxBytes: number };

function exchange(url: URL, method: string, request: OutboundRequest, limits: Limits): Promise<Response> {
  const headers = new Headers(request.headers);
  headers.set('accept-encoding', 'identity');
  headers.set('connection', 'close');
  const body = request.body === undefined || request.body === null ? undefined : formatBody(request.body);
  if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
  const options = { method, headers: Object.fromEntries(headers), signal: limits.signal, agent: false as const };

  return new Promise((resolve, reject) => {
    const give = (error: NodeJS.ErrnoException): void => reject(error instanceof OutboundError ? error : explain(error, limits.signal));
    const sent =
      url.protocol === 'https:'
        ? https.request(url, { ...options, ...(limits.ca === undefined ? {} : { ca: limits.ca }), minVersion: 'TLSv1.2' })
        : http.request(url, options);
    sent.on('error', give);
    sent.on('response', (incoming) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      incoming.on('error', give);
      incoming.on('data', (part: Buffer) => {
        bytes += part.length;
        parts.push(part);
        if (bytes <= limits.maxBytes) return;
        // Refused before the connection is cut: the end may already have arrived, and half an answer must not count as one.
        give(new OutboundError('too-large', `the answer is over ${limits.maxBytes} octets`));
        sent.destroy();
      });
      incoming.on('end', () => resolve(formatResponse(incoming, Buffer.concat(parts))));
    });
    sent.end(body);
  });
}

function formatBody(body: unknown): string {
  return body instanceof URLSearchParams ? body.toString() : String(body);
}

function formatResponse(incoming: http.IncomingMessage, body: Buffer): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct)) for (const one of value ?? []) headers.append(name, one);
  const status = incoming.statusCode ?? 502;
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : new Uint8Array(body), { status, headers });
}

function explain(error: NodeJS.ErrnoException, signal: AbortSignal): OutboundError {
  if (signal.aborted) return new OutboundError('timeout', 'the provider did not answer in time', error);
  const code = error.code ?? '';
  const tls = /CERT|TLS|SSL|SELF_SIGNED|VERIFY|EPROTO/.test(code);
  return new OutboundError(tls ? 'tls' : 'unreachable', tls ? 'the provider’s TLS identity is not accepted' : 'no connection', error);
}
