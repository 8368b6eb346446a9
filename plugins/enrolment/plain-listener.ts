// A listener of HTTP without TLS, for protocols that protect their messages themselves, with the limits of those with TLS.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Address } from '../../core/config/schema.ts';
import type { Log } from '../../core/base/context.ts';
import { peerAddressOf } from '../../core/http/listener/client-address.ts';
import { Connections } from '../../core/http/listener/connections.ts';
import {
  type ClientError,
  handlerOf,
  listenError,
  looker,
  mostConnections,
  refuseConnection,
  sayCrowded,
} from '../../core/http/listener/listeners.ts';
import { ProxyConnections } from '../../core/http/listener/proxy-connections.ts';
import { followRequests } from '../../core/http/listener/requests.ts';
import type { OpenListener } from '../../core/plugin/services/listeners.ts';

type PlainOptions = Address & {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly headBytes: number;
  readonly log: Log;
};

/** A device sends one or two requests; slower ones are closed, so that no client holds connections. */
const limits = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 5_000, checkEveryMs: 2_000, unusedMs: 30_000 } as const;

/** Statuses of faults that node finds before there is a request; a device that is slow may try again. */
const clientErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export type PlainListener = OpenListener & { close(graceMs: number): Promise<void> };

/** Opens it; rejects with ListenError. */
export async function listenPlain(options: PlainOptions): Promise<PlainListener> {
  const { host, port, headBytes, connections: byMemory, proxies, log } = options;
  const server = createServer(
    { maxHeaderSize: headBytes, connectionsCheckingInterval: limits.checkEveryMs, requireHostHeader: false },
    handlerOf(options),
  );
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.setTimeout(limits.unusedMs, (socket) => socket.destroy());
  server.on('clientError', (error: ClientError, socket) =>
    refuseConnection(error, socket as Socket, () => {
      const status = clientErrors[error.code ?? ''] ?? '400 Bad Request';
      return `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
    }),
  );
  let requests = 0;
  server.on('request', () => requests++);
  const connections = new Connections(mostConnections(byMemory), sayCrowded(log, `${host}:${port}`));
  const accept = limitConnections(server, connections);
  const proxied = new ProxyConnections(server, proxies?.proxyProtocol ?? [], log);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)));
    server.listen(port, host, resolve);
  });
  server.removeAllListeners('error').on('error', (error) => log.error('listener fault', { error: error.message }));
  let closing: Promise<void> | undefined;
  return {
    connections,
    get handshakes() {
      return requests;
    },
    get isListening() {
      return server.listening;
    },
    take: (socket) => accept(socket, looker),
    close: (graceMs) => (closing ??= closeServer(server, proxied, graceMs)),
  };
}

/**
 * Gives each connection a place among those of all addresses, before node sees it. One without a request counts as in its handshake. Returns what
 * takes a connection of an address.
 */
function limitConnections(server: Server, connections: Connections): (socket: Socket, address: string) => void {
  const onAccepted = followRequests(server, connections, limits.unusedMs);
  const listeners = server.listeners('connection');
  const accept = (socket: Socket, address: string): void => {
    // A peer that disconnects meanwhile: `close` follows.
    socket.on('error', () => undefined);
    const connection = address === '' ? undefined : connections.add(socket, address);
    if (connection === undefined) return void socket.destroy();
    connection.secured = socket;
    onAccepted(connection);
    for (const listener of listeners) listener.call(server, socket);
  };
  server.removeAllListeners('connection').on('connection', (socket: Socket) => accept(socket, peerAddressOf(socket)));
  return accept;
}

function closeServer(server: Server, proxied: ProxyConnections, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      proxied.cut();
      server.closeAllConnections();
    }, graceMs);
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(deadline);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
