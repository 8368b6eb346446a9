// The HTTP client of all tests: requests with any body over HTTP or TLS, and raw connections for what no client would send.
import { type Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type SecureVersion, type TLSSocket } from 'node:tls';
import { defined } from '../../core/base/defined.ts';

/** Parsed JSON, which tests look into freely: one that reads a wrong field fails anyway. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Json = any;

export type Asking = {
  readonly method?: string | undefined;
  /** an object is sent as JSON, a string or octets as they are */
  readonly body?: unknown;
  /** sent as a bearer token */
  readonly token?: string | null | undefined;
  /** a list is sent as one line per item; these replace the headers that token and body imply */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** PEM of the trusted CA; without it no server certificate is checked */
  readonly ca?: string | undefined;
  /** loopback address of the client */
  readonly from?: string | undefined;
  /** PEM of a client certificate, followed by those of its issuers, and of its key */
  readonly client?: { readonly key: string; readonly cert: string } | undefined;
  readonly maxVersion?: SecureVersion | undefined;
  /** groups of the key exchange, in the words of OpenSSL, the first with a share */
  readonly ecdhCurve?: string | undefined;
  /** keeps connections; without it each request has a connection of its own */
  readonly agent?: HttpAgent | undefined;
  /** no Content-Length: chunked */
  readonly chunked?: boolean | undefined;
  /** makes the body when the handshake is done, for channel bindings */
  readonly bodyFor?: ((socket: TLSSocket) => Promise<string | Buffer>) | undefined;
};

export type Answer = {
  readonly status: number;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** names as sent */
  readonly rawHeaders: ReadonlyMap<string, string>;
  readonly octets: Buffer;
  readonly text: string;
  /** the parsed body of a JSON answer, otherwise the text */
  readonly body: Json;
  /** version of TLS, empty without TLS */
  readonly protocol: string;
};

/** Sends one request. The target is sent as given, not normalised. Rejects when the connection breaks before the whole answer. */
export function ask(origin: string, target: string, asking: Asking = {}): Promise<Answer> {
  const { method = 'GET', ca, agent, bodyFor } = asking;
  const { protocol, hostname, port } = new URL(origin);
  const body = bodyOf(asking.body);
  const options = {
    ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, path: target, method, headers: headersOf(asking, body) },
    agent: agent ?? false,
    ...defined({ localAddress: asking.from }),
  };
  return new Promise((resolve, reject) => {
    const request =
      protocol === 'http:'
        ? httpRequest(options)
        : httpsRequest({
            ...options,
            rejectUnauthorized: ca !== undefined,
            ...defined({
              ca,
              maxVersion: asking.maxVersion,
              ecdhCurve: asking.ecdhCurve,
              key: asking.client?.key,
              cert: asking.client?.cert,
            }),
          });
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      // A kept connection is no longer the response's when it ends.
      const tlsVersion = (response.socket as TLSSocket).getProtocol?.() ?? '';
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const octets = Buffer.concat(chunks);
        const text = octets.toString();
        const isJson = /^application\/([a-z-]+\+)?json/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          headers: response.headers,
          rawHeaders: pairsOf(response.rawHeaders),
          octets,
          text,
          body: isJson ? JSON.parse(text) : text,
          protocol: tlsVersion,
        });
      });
    });
    if (bodyFor === undefined) request.end(body);
    else {
      request.once('socket', (socket) => {
        socket.once('secureConnect', () => {
          bodyFor(socket as TLSSocket).then((made) => request.end(made), reject);
        });
      });
    }
  });
}

/** Keeps connections between requests, one at a time by default. Destroy it at the end. */
export function keepConnections(options: { readonly ca?: string | undefined; readonly atOnce?: number } = {}): Agent {
  return new Agent({ keepAlive: true, maxSockets: options.atOnce ?? 1, ...defined({ ca: options.ca }) });
}

/** A TLS connection after its handshake. The server certificate is checked only where `ca` is given. */
export function openTls(port: number | string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: options.ca !== undefined, ...options }, () =>
      resolve(socket),
    );
    // Later errors end in 'close'.
    socket.on('error', reject);
  });
}

/** Everything a connection sends until it is closed or breaks. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(isRaw(body) ? body : JSON.stringify(body));
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function headersOf(asking: Asking, body: Buffer | undefined): Record<string, string | string[]> {
  const { token, headers, chunked = false } = asking;
  const isJson = body !== undefined && !isRaw(asking.body);
  return {
    ...(token === undefined || token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...(body === undefined || chunked ? {} : { 'content-length': String(body.length) }),
    ...(headers as Record<string, string | string[]>),
  };
}

function pairsOf(raw: readonly string[]): ReadonlyMap<string, string> {
  return new Map(raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : [])));
}
