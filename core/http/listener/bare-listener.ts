// A listener over TLS for a protocol that is not HTTP, with the limits of the others: turns of handshakes, places by address, trusted proxies.
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Log } from '../../base/context.ts';
import type { Address } from '../../config/schema.ts';
import { guardCertificates } from './certificate-guard.ts';
import { peerAddressOf } from './client-address.ts';
import { type Connection, Connections } from './connections.ts';
import { Handshakes } from './handshakes.ts';
import { type Listener, listenError, looker, mostConnections, sayCrowded, secureContext, type TlsIdentity } from './listeners.ts';
import { ProxyConnections } from './proxy-connections.ts';

export type BareOptions = Address & {
  readonly identity: TlsIdentity;
  readonly tls: TlsOptions;
  readonly log: Log;
  /** called with each connection after its handshake */
  readonly onSecured: (secured: Secured) => void;
};

/** A connection after its handshake. `move`: says whether a request is under way, by which places are given. */
export type Secured = {
  readonly socket: TLSSocket;
  /** address of the peer */
  readonly address: string;
  /** monotonic */
  readonly connection: Pick<Connection, 'stage' | 'sinceMs'>;
  move(stage: 'idle' | 'request'): void;
};

export type BareListener = Pick<Listener, 'port' | 'setIdentity' | 'close' | 'connections' | 'handshakes' | 'isListening' | 'take'>;

const checks = { sweepMs: 50, lastHandshakesMs: 2_000, backlog: 4_096 } as const;

/** Opens it; rejects with ListenError. */
export async function listenBare(options: BareOptions): Promise<BareListener> {
  const { host, port, identity, tls, log, proxies, connections: byMemory, onSecured } = options;
  const server = createServer({ ...tls, ...secureContext(identity, tls) });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)));
    server.listen(port, host, checks.backlog, resolve);
  });
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy());
  const connections = new Connections(mostConnections(byMemory), sayCrowded(log, `${host}:${port}`));
  if (tls.requestCert === true) guardCertificates(server, log);
  const handshakes = new Handshakes(server, connections, { onSecured: (connection) => begin(connection, connections, onSecured) });
  const proxied = new ProxyConnections(server, proxies?.proxyProtocol ?? [], log);
  server.removeAllListeners('error').on('error', (error) => log.error('listener fault', { error: error.message }));
  let closing: Promise<void> | undefined;
  const close = async (graceMs: number): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = (...stages: readonly Connection['stage'][]): void => {
      for (const { socket, secured } of [...connections.ofStage(...stages)]) (secured ?? socket).destroy();
    };
    const sweep = setInterval(() => cut('idle'), checks.sweepMs);
    const deadline = setTimeout(() => {
      proxied.cut();
      handshakes.cut();
      cut('idle', 'request');
    }, graceMs);
    const lastHandshakes = setTimeout(() => {
      proxied.cut();
      handshakes.cut();
    }, checks.lastHandshakesMs);
    cut('idle');
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
    clearTimeout(lastHandshakes);
  };
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    get handshakes() {
      return handshakes.finished;
    },
    get isListening() {
      return server.listening;
    },
    take: (socket) => handshakes.accept(socket, looker),
    setIdentity: (next) => server.setSecureContext(secureContext(next, tls)),
    close: (graceMs) => (closing ??= close(graceMs)),
  };
}

function begin(connection: Connection, connections: Connections, onSecured: BareOptions['onSecured']): void {
  const socket = connection.secured as TLSSocket | undefined;
  if (socket === undefined) return;
  connection.owes = () => socket.writableLength > 0;
  onSecured({ socket, address: peerAddressOf(socket), connection, move: (stage) => connections.move(connection, stage) });
}
