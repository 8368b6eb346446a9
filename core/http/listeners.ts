// The TLS doors: the management listener on listhen, and a plain https listener for other protocols; both with the same limits.
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpsServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { listen } from 'listhen';
import type { Address } from '../config.ts';
import type { Log } from '../context.ts';
import { coreErrors, fail } from '../errors.ts';
import { formatProblem, problemMediaType } from './problem.ts';

/** Key and certificate chain, PEM. */
export type TlsIdentity = { readonly key: string; readonly cert: string };

/** Port 0 takes any free one. */
export type ListenOptions = Address & {
  readonly identity: TlsIdentity;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** told of faults of the open listener, such as too many open files */
  readonly log?: Log;
};

export type Listener = {
  /** `https://host:port` with the port that was taken */
  readonly url: string;
  readonly port: number;
  /** New connections get the new certificate; those that are open keep theirs. */
  setIdentity(identity: TlsIdentity): void;
  /** Takes no new connections, lets running requests finish, cuts what is left after the grace. Safe to call twice. */
  close(graceMs: number): Promise<void>;
  /** the node server, for listeners with needs of their own */
  readonly server: Server;
};

/** Why a listener could not be opened, fit for the terminal: it names the address and the fix. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Limits of every door. A request that is slower than this is cut; one client cannot hold all connections for ever. */
const limits = {
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  keepAliveMs: 65_000,
  handshakeMs: 10_000,
  /** for handshakes that have begun when the listener closes */
  lastHandshakesMs: 1_000,
  maxConnections: 4_096,
} as const;

/**
 * Opens the management listener. listhen hands only key and certificate on to node, so TLS settings and limits are put on the
 * server it made, before the first connection can finish its handshake. Rejects with ListenError.
 */
export async function listenManagement(options: ListenOptions): Promise<Listener> {
  const { host, port, descriptor, identity, handler } = options;
  // It knows addresses only.
  if (descriptor !== undefined) return listenHttps(options);
  const refusal = watchForRefusal(host, port);
  const listening = listen(handler, {
    hostname: host,
    port,
    https: { key: identity.key, cert: identity.cert },
    // Only as production it fails on a taken port instead of taking another; only otherwise it takes any port for 0.
    isProd: port !== 0,
    isTest: port === 0,
    showURL: false,
    clipboard: false,
    open: false,
    tunnel: false,
    // Stopping is the composition root's: it would end the process on the first signal.
    autoClose: false,
    qr: false,
  });
  try {
    const { server } = await Promise.race([listening, refusal.refused]);
    return listenerOf(server as Server, options, {});
  } finally {
    refusal.forget();
  }
}

/** Opens a listener of another protocol over HTTPS; `tls` adds to the settings (client certificates, for example). Rejects with ListenError. */
export async function listenHttps(options: ListenOptions & { readonly tls?: ServerOptions }): Promise<Listener> {
  const { host, port, descriptor, identity, handler, tls = {} } = options;
  const server = createHttpsServer({ ...tls, ...secureContext(identity, tls), maxHeaderSize: limits.headerBytes }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)));
    if (descriptor === undefined) server.listen(port, host, resolve);
    // By its number, node:cluster would have the supervisor listen, and it closes what the last worker has used.
    else server.listen(new Socket({ fd: descriptor, readable: false, writable: false }), resolve);
  });
  return listenerOf(server, options, tls);
}

function listenerOf(server: Server, { host, identity, log }: ListenOptions, tls: ServerOptions): Listener {
  server.setSecureContext(secureContext(identity, tls));
  server.headersTimeout = limits.headersTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = limits.maxConnections;
  server.on('clientError', answerClientError);
  // Half handshakes, plain HTTP, port scans: there is no way to answer, and what waits to be answered is never closed.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  const handshakes = watchHandshakes(server);
  server.removeAllListeners('error').on('error', (error) => log?.error('listener fault', { error: error.message }));
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    server,
    setIdentity: (next) => server.setSecureContext(secureContext(next, tls)),
    close: (graceMs) => (closing ??= closeServer(server, handshakes, graceMs)),
  };
}

/** TLS 1.2 at least (RFC 9325); the suites are node's, which are all AEAD or ECDHE for 1.2 and all of 1.3. */
function secureContext(identity: TlsIdentity, tls: ServerOptions): ServerOptions {
  return { ...tls, key: identity.key, cert: identity.cert, minVersion: 'TLSv1.2' };
}

/**
 * Connections of which the handshake is not over. Node's list of connections has none of them, so nothing else would cut them when the
 * listener closes, and a server that is made by listhen gives them two minutes.
 */
type Handshakes = { cut(): void };

function watchHandshakes(server: Server): Handshakes {
  const waiting = new Map<string, Socket>();
  const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    waiting.set(
      peer,
      socket.setTimeout(limits.handshakeMs, () => socket.destroy()),
    );
    socket.once('close', () => waiting.get(peer) === socket && waiting.delete(peer));
  });
  server.on('secureConnection', (socket: Socket) => {
    const peer = peerOf(socket);
    waiting.get(peer)?.setTimeout(0);
    waiting.delete(peer);
  });
  return { cut: () => waiting.forEach((socket) => socket.destroy()) };
}

async function closeServer(server: Server, handshakes: Handshakes, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections that were busy when close() was called turn idle later.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const unheard = setTimeout(() => handshakes.cut(), Math.min(graceMs, limits.lastHandshakesMs));
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(unheard);
  clearTimeout(deadline);
}

/** What node refuses before there is a request: unreadable, headers too large, too slow. */
function answerClientError(error: Error & { readonly code?: string; readonly rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, reason, problem] = clientErrors[error.code ?? ''] ?? [400, 'Bad Request', unreadable];
  const body = problem === undefined ? '' : JSON.stringify(formatProblem(problem, randomUUID()));
  // As far as it can be seen: of a head that came in several packets, node shows the last one.
  const isHead = error.rawPacket?.subarray(0, 5).equals(headMethod) === true;
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      'connection: close',
      ...(problem === undefined ? [] : [`content-type: ${problemMediaType}`]),
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      isHead ? '' : body,
    ].join('\r\n'),
  );
}

const headMethod = Buffer.from('HEAD ');

const unreadable = fail('invalid-value', {
  detail: 'The request cannot be read: send HTTP/1.1 as RFC 9112 has it, with a method that is registered, in capitals.',
});

const clientErrors: Readonly<Record<string, readonly [number, string, ReturnType<typeof fail> | undefined]>> = {
  HPE_HEADER_OVERFLOW: [coreErrors['headers-too-large'].status, 'Request Header Fields Too Large', fail('headers-too-large')],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', undefined],
};

const listenBegins = 'tracing:net.server.listen:asyncStart';

/** Rejects with ListenError when the address cannot be had: listhen waits for a server of its own and listens to no error of it. */
function watchForRefusal(host: string, port: number): { readonly refused: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const attach = (message: unknown): void => {
    const { server, options } = message as { readonly server: Server; readonly options: { readonly port?: number } };
    if (options.port === port) server.once('error', (error) => reject(listenError(host, port, error)));
  };
  subscribe(listenBegins, attach);
  return { refused: promise, forget: () => void unsubscribe(listenBegins, attach) };
}

function listenError(host: string, port: number, error: Error & { readonly code?: string }): ListenError {
  return new ListenError(`cannot listen on ${host}:${port}, which ${explainNoListener(error.code ?? error.message)}`, { cause: error });
}

/** What is wrong with an address that cannot be listened on, by the code of the error, and how to mend it; to stand after the address. */
export function explainNoListener(code: string): string {
  return listenFaults[code] ?? `cannot be used (${code})`;
}

const notOurs = 'is no address of this machine: give one that is, or 0.0.0.0 for all';
const listenFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another process or the other listener: stop that process, or choose another port',
  EACCES: 'may not be taken by this user: choose a port above 1023, or grant CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: notOurs,
  ENOTFOUND: notOurs,
};
