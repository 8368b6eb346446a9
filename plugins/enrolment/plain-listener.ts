// A listener of HTTP without TLS, for protocols that protect their messages themselves.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Address } from '../../core/config/schema.ts';
import type { Log } from '../../core/base/context.ts';
import { connectionsThatFit } from '../../core/config/open-files.ts';
import { handlerOf, listenError, refuseConnection } from '../../core/http/listener/listeners.ts';

type PlainOptions = Address & {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly headBytes: number;
  readonly log: Log;
};

/** A device sends one or two requests; slower ones are closed, so that no client holds connections. */
const limits = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 5_000, checkEveryMs: 2_000, unusedMs: 30_000 } as const;

/** Opens it; rejects with ListenError. */
export async function listenPlain(options: PlainOptions): Promise<{ close(graceMs: number): Promise<void> }> {
  const { host, port, headBytes, connections = Infinity, log } = options;
  const server = createServer(
    { maxHeaderSize: headBytes, connectionsCheckingInterval: limits.checkEveryMs, requireHostHeader: false },
    handlerOf(options),
  );
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = Math.min(connectionsThatFit(), connections);
  server.setTimeout(limits.unusedMs, (socket) => socket.destroy());
  server.on('clientError', (error, socket) =>
    refuseConnection(
      error,
      socket as Parameters<typeof refuseConnection>[1],
      () => 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
    ),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)));
    server.listen(port, host, resolve);
  });
  server.removeAllListeners('error').on('error', (error) => log.error('listener fault', { error: error.message }));
  let closing: Promise<void> | undefined;
  return {
    close(graceMs) {
      closing ??= new Promise((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearTimeout(deadline);
          clearInterval(sweep);
          resolve();
        });
        server.closeIdleConnections();
      });
      return closing;
    },
  };
}
