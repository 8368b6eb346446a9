// The TLS listeners, all with the same limits: management, EST, and those of a sealed appliance.
import { constants, randomUUID } from 'node:crypto';
import { createServer as createHttpsServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Address } from '../../config/config.ts';
import { connectionsThatFit } from '../../config/open-files.ts';
import type { Log } from '../../base/context.ts';
import { coreErrors, fail } from '../../base/errors.ts';
import { transportSecurity } from '../response/answer.ts';
import { askingForCertificates, guardCertificates } from './certificate-guard.ts';
import { noteForwarded } from './client-address.ts';
import { groups } from './client-hello.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { Handshakes, type ServerBeside } from './handshakes.ts';
import { inTurn } from './in-turn.ts';
import { ProxyConnections } from './proxy-connections.ts';
import { takeListMethod } from './list-method.ts';
import { followRequests } from './requests.ts';
import { formatProblem, problemMediaType } from '../response/problem.ts';

/**
 * Key and certificate chain, PEM; or a key that an engine of OpenSSL uses in place. `rsa`: beside an ECDSA key that is here, for clients that know no ECDSA; OpenSSL shows
 * each client the one that it can verify, and the first to one that can verify both.
 */
export type TlsIdentity = {
  readonly key: string | { readonly engine: string; readonly identifier: string };
  readonly cert: string;
  readonly rsa?: { readonly key: string; readonly cert: string } | undefined;
};

/** Port 0 takes any free one. */
export type ListenOptions = Address & {
  readonly identity: TlsIdentity;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** true if the handler serves the method LIST */
  readonly takesList?: boolean;
  /** for faults of the open listener, such as too many open files, and for crowds */
  readonly log?: Log;
  /** clients that ask for one of these hosts are asked for their certificate, at `*` all */
  readonly certificateHosts?: readonly string[];
  /** absent: the usual ones */
  readonly most?: ConnectionLimits;
};

export type Listener = {
  /** `https://host:port` with the actual port */
  readonly url: string;
  readonly port: number;
  /** New connections get the new certificate; open ones keep theirs. */
  setIdentity(identity: TlsIdentity): void;
  /** Sets ticket keys of 48 octets, as for Node. Sessions under the former keys are not resumed: the next connection makes a full handshake. */
  setTicketKeys(keys: Buffer): void;
  /** Accepts no new connections, lets running requests finish, closes the rest after the grace period. Idempotent. */
  close(graceMs: number): Promise<void>;
  /** open connections, and numbers of closed ones */
  readonly connections: Pick<Connections, 'counts' | 'closed' | 'limits'>;
  /** Number of completed handshakes. */
  readonly handshakes: number;
  /** false once it was closed */
  readonly isListening: boolean;
  /** Takes a connection as if it had been accepted: for the check that handshakes are completed here. */
  take(socket: Socket): void;
  /** the node server, for listeners with needs of their own */
  readonly server: Server;
};

/** Error of a listener that could not be opened, for the terminal: with the address and the fix. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Limits of every listener: slower requests are closed, so that one client cannot hold all connections. */
const limits = {
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  /** time after which a peer that reads an answer below the lowest rate is closed */
  unreadMs: 30_000,
  /** interval at which Node looks for connections past their deadline */
  checkEveryMs: 2_000,
  keepAliveMs: 65_000,
  /** After the listener closed: connections still in their handshake are closed when none completed for this long. */
  lastHandshakesMs: 2_000,
  /** time for which a session can be resumed without another use of the private key */
  sessionSeconds: 3_600,
  sayCrowdedMs: 60_000,
  /** for a peer to read the answer to an unreadable request, and to close */
  lastAnswerMs: 2_000,
  shareOfHandshakes: 0.75,
  /** Connections the kernel queues while the process is busy, at most net.core.somaxconn. */
  backlog: 4_096,
} as const;

/** Opens a listener over HTTPS; `tls` adds to the settings (client certificates, for example). Rejects with ListenError. */
export async function listenHttps(options: ListenOptions & { readonly tls?: ServerOptions }): Promise<Listener> {
  const { host, port, descriptor, identity, tls = {} } = options;
  // A request without Host is refused as others are, with a body and a record; node would answer it itself.
  const settings = { connectionsCheckingInterval: limits.checkEveryMs, maxHeaderSize: limits.headerBytes, requireHostHeader: false };
  const server = createHttpsServer({ ...settings, ...tls, ...secureContext(identity, tls) }, handlerOf(options));
  const { certificateHosts: hosts = [] } = options;
  const beside = hosts.length === 0 ? undefined : askingBeside(server, hosts, identity, settings);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)));
    const { backlog } = limits;
    if (descriptor === undefined) server.listen(port, host, backlog, resolve);
    // With a bare descriptor, node:cluster would listen in the supervisor and close it with the last worker.
    else server.listen(new Socket({ fd: descriptor, readable: false, writable: false }), backlog, resolve);
  });
  return listenerOf(server, options, tls, beside);
}

/** The server that asks for certificates on the port of another, whose handler serves its requests. */
function askingBeside(
  main: Server,
  hosts: readonly string[],
  identity: TlsIdentity,
  settings: ServerOptions,
): ServerBeside & { server: Server } {
  const tls = { ...settings, ...askingForCertificates, ...secureContext(identity, askingForCertificates) };
  const server = createHttpsServer(tls, (request, response) => main.emit('request', request, response));
  // It never listens itself; only then would node watch how long its requests take.
  main.once('listening', () => server.emit('listening'));
  return { server, takes: (name) => hosts.includes('*') || (name !== undefined && hosts.includes(name)) };
}

/** The handler of a listener: requests of a connection in turn, with the addresses that trusted proxies forward. */
export function handlerOf({ handler, proxies }: Pick<ListenOptions, 'handler' | 'proxies'>): ListenOptions['handler'] {
  if (proxies === undefined || proxies.forwarded.length === 0) return inTurn(handler);
  return inTurn((request, response) => {
    noteForwarded(request, proxies);
    handler(request, response);
  });
}

function listenerOf(
  server: Server,
  options: ListenOptions,
  first: ServerOptions,
  beside: (ServerBeside & { readonly server: Server }) | undefined,
): Listener {
  const { host, identity, log, proxies, connections: byMemory, most = mostConnections(byMemory) } = options;
  let tls = first;
  const asking = beside?.server;
  const setIdentity = (next: TlsIdentity): void => {
    server.setSecureContext(secureContext(next, tls));
    asking?.setSecureContext(secureContext(next, askingForCertificates));
  };
  setIdentity(identity);
  for (const one of asking === undefined ? [server] : [server, asking]) limit(one);
  if (options.takesList === true && asking !== undefined) takeListMethod(asking, limits.headerBytes);
  if (asking !== undefined) guardCertificates(asking, log);
  const { port } = server.address() as AddressInfo;
  const connections = new Connections(most, sayCrowded(log, `${host}:${port}`));
  if (first.requestCert === true) guardCertificates(server, log);
  if (options.takesList === true) takeListMethod(server, limits.headerBytes);
  const handshakes = new Handshakes(server, connections, { onSecured: followRequests(server, connections, limits.unreadMs), beside });
  const proxied = new ProxyConnections(server, proxies?.proxyProtocol ?? [], log);
  server.removeAllListeners('error').on('error', (error) => log?.error('listener fault', { error: error.message }));
  let closing: Promise<void> | undefined;
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    connections,
    get handshakes() {
      return handshakes.finished;
    },
    get isListening() {
      return server.listening;
    },
    take: (socket) => handshakes.accept(socket, looker),
    server,
    setIdentity,
    setTicketKeys(ticketKeys) {
      tls = { ...tls, ticketKeys };
      server.setTicketKeys(ticketKeys);
    },
    close: (graceMs) => (closing ??= closeServer(server, asking, [handshakes, proxied], graceMs)),
  };
}

/** Sets the limits of node, and the answers to octets that are not a request. */
function limit(server: Server): void {
  server.headersTimeout = limits.headersTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.on('clientError', answerClientError);
  // The same for an expectation that node does not know.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Half handshakes, plain HTTP, port scans: they cannot be answered, and node would leave them open.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
}

/** Address of the check from within the appliance, which shares its turns with no peer. */
export const looker = 'looker';

/** Limits of the connections of each listener of a process, and of those before the end of their handshake. */
export function mostConnections(byMemory = Infinity): ConnectionLimits {
  const open = Math.min(connectionsThatFit(), byMemory);
  return { open, handshakes: Math.ceil(open * limits.shareOfHandshakes) };
}

/** Logs one line a minute about connections closed for others, with the largest address. */
export function sayCrowded(log: Log | undefined, listener: string): (address: string) => void {
  let silentUntilMs = 0;
  let closed = 0;
  return (address) => {
    closed++;
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + limits.sayCrowdedMs;
    log?.warn('a listener has as many connections as it takes: it closes some of the address that has most', { listener, address, closed });
    closed = 0;
  };
}

/**
 * TLS 1.2 or newer (RFC 9325), with the cipher suites of node for 1.2 that are forward secret, unless `tls` names others, and all of 1.3. Of the groups that node offers, those that
 * cost a multiple of the others are left out (P-521 and finite fields: three milliseconds and more), because anyone can request them with
 * one message; for the same reason renegotiation is disabled.
 */
export function secureContext(identity: TlsIdentity, tls: TlsOptions): TlsOptions {
  const { key, cert, rsa } = identity;
  const alone = typeof key === 'string' ? { key } : { privateKeyEngine: key.engine, privateKeyIdentifier: key.identifier };
  const both = rsa === undefined || typeof key !== 'string' ? {} : { key: [key, rsa.key], cert: [cert, rsa.cert] };
  return {
    ...tls,
    cert,
    ...alone,
    ...both,
    ciphers: tls.ciphers ?? forwardSecretSuites,
    secureOptions: (tls.secureOptions ?? 0) | constants.SSL_OP_NO_RENEGOTIATION,
    minVersion: 'TLSv1.2',
    ecdhCurve: tls.ecdhCurve ?? groups.names,
    sessionTimeout: limits.sessionSeconds,
  };
}

/** The cipher suites of node, of which it prefers RSA in TLS 1.2: a client that can verify both gets the cheaper one. Has RSA key exchange too. */
export const allSuites = constants.defaultCipherList
  .split(':')
  .toSorted((one, other) => Number(other.includes('ECDSA')) - Number(one.includes('ECDSA')))
  .join(':');

/** Those without RSA key exchange: who gets the key of the certificate later can read nothing that was recorded (RFC 9325 4.1). */
const forwardSecretSuites = `${allSuites}:!kRSA`;

async function closeServer(
  server: Server,
  asking: Server | undefined,
  [handshakes, proxied]: readonly [Handshakes, ProxyConnections],
  graceMs: number,
): Promise<void> {
  // The connections of the other one were accepted here.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections that were busy when close() was called become idle later.
  const closeIdle = (): void => [server, asking].forEach((one) => one?.closeIdleConnections());
  const sweep = setInterval(closeIdle, 50);
  let finished = handshakes.finished;
  const lastHandshakes = setInterval(() => {
    if (handshakes.finished === finished) {
      proxied.cut();
      handshakes.cut();
    }
    finished = handshakes.finished;
  }, limits.lastHandshakesMs);
  const deadline = setTimeout(() => {
    proxied.cut();
    handshakes.cut();
    for (const one of [server, asking]) one?.closeAllConnections();
  }, graceMs);
  closeIdle();
  await closed;
  // It does not listen: this ends the watch over its requests.
  asking?.close();
  clearInterval(sweep);
  clearInterval(lastHandshakes);
  clearTimeout(deadline);
}

/** A fault of a connection before there was a request, as node reports it. */
export type ClientError = Error & {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  /** the part of OpenSSL that found it */
  readonly library?: string;
};

/** Answers a request that node refuses before it exists: unreadable, headers too large, too slow. */
function answerClientError(error: ClientError, socket: Socket): void {
  refuseConnection(error, socket, () => {
    const [status, reason, problem] = clientErrors[error.code ?? ''] ?? [400, 'Bad Request', unreadable];
    const body = problem === undefined ? '' : JSON.stringify(formatProblem(problem, randomUUID()));
    // Best effort: of a header in several packets, node shows the last one.
    const isHead = error.rawPacket?.subarray(0, 5).equals(headMethod) === true;
    return [
      `HTTP/1.1 ${status} ${reason}`,
      'connection: close',
      ...(problem === undefined ? [] : [`content-type: ${problemMediaType}`]),
      transportSecurity.join(': '),
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      isHead ? '' : body,
    ].join('\r\n');
  });
}

/**
 * Sends the last answer of a connection. Further octets of the same request are another fault and are ignored: closing at once would
 * discard the answer. A peer that keeps the connection open is closed a moment later.
 */
export function refuseConnection(error: ClientError, socket: Socket, answer: () => string): void {
  if (socket.writableEnded) return;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const running = (socket as Answering)._httpMessage;
  // The fault is after a complete request: its answer is neither replaced nor cut.
  if (running?.req.complete === true) return void running.once('close', () => refuseConnection(error, socket, answer));
  if (running?.headersSent === true) return void socket.destroy();
  socket.end(answer());
  const late = setTimeout(() => socket.destroy(), limits.lastAnswerMs);
  socket.once('close', () => clearTimeout(late));
}

/** The answer whose turn it is, by the name that node gives it. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null };

const headMethod = Buffer.from('HEAD ');

const unreadable = fail('invalid-value', {
  detail: 'The request cannot be read: send HTTP/1.1 as RFC 9112 has it, with a method that is registered, in capitals.',
});

const clientErrors: Readonly<Record<string, readonly [number, string, ReturnType<typeof fail> | undefined]>> = {
  HPE_HEADER_OVERFLOW: [coreErrors['headers-too-large'].status, 'Request Header Fields Too Large', fail('headers-too-large')],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', undefined],
};

/** The error of a listener that cannot be opened. */
export function listenError(host: string, port: number, error: Error & { readonly code?: string }): ListenError {
  return new ListenError(`cannot listen on ${host}:${port}, which ${explainNoListener(error.code ?? error.message)}`, { cause: error });
}

/** Explains by error code why a listener cannot be opened, with the fix; follows the address. */
export function explainNoListener(code: string): string {
  return listenFaults[code] ?? `cannot be used (${code})`;
}

const notOurs = 'is not an address of this machine: give one that is, or 0.0.0.0 for all';
const listenFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another process or the other listener: stop that process, or choose another port',
  EACCES: 'may not be taken by this user: choose a port above 1023, or grant CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: notOurs,
  ENOTFOUND: notOurs,
};
