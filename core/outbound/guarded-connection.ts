// Outbound TLS whose server's certificates are judged before OpenSSL decodes them: that comes before any trust, and malicious ones take minutes.
import { once } from 'node:events';
import https from 'node:https';
import { connect as connectSocket, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { GuardedSocket } from '../tls/guarded-socket.ts';

/** Server and options of a connection. `signal`: ends connecting. */
export type GuardedOptions = ConnectionOptions & {
  readonly host: string;
  readonly port: number;
  readonly lookup?: LookupFunction;
  readonly signal?: AbortSignal;
};

/** The server's certificates would take too long to decode; `code` is one of TLS. */
class CertificateRefused extends Error {
  readonly code = 'ERR_TLS_CERT_REFUSED';
}

/** As of the system, which waits longer. */
class ConnectingTooLong extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Resolves when the server is connected, before the handshake. Rejects with the error of the system. */
export async function connectGuarded({ signal, ...options }: GuardedOptions): Promise<TLSSocket> {
  const { host, port, lookup } = options;
  const socket = connectSocket({ host, port, ...(lookup === undefined ? {} : { lookup }) });
  try {
    await once(socket, 'connect', signal === undefined ? {} : { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return secureGuarded(socket, { ...options, path: undefined }, host);
}

/** Begins TLS over a stream. `owner`: whose share of the room for certificates it takes. */
export function secureGuarded(below: Duplex, options: ConnectionOptions, owner: string): TLSSocket {
  const guarded = new GuardedSocket(below, 'server', owner, (reason) =>
    secured.destroy(new CertificateRefused(`a certificate of the server was refused before it was read: ${reason}`)),
  );
  const secured = connectTls({ ...options, socket: guarded });
  secured.on('keylog', (line: Buffer) => guarded.learn(line));
  guarded.on('error', (error) => secured.destroy(error));
  return secured;
}

type Done = (error: Error | null, stream: Duplex) => void;

/** Agent for one HTTPS request at a time. The `timeout` of a request is also the limit for connecting (`ETIMEDOUT`). */
export class GuardedAgent extends https.Agent {
  readonly #signal: AbortSignal | undefined;

  constructor(options: https.AgentOptions, signal?: AbortSignal) {
    super(options);
    this.#signal = signal;
  }

  override createConnection(options: object, done?: Done): undefined {
    const wanted = {
      ALPNProtocols: ['http/1.1'],
      ...(options as GuardedOptions),
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    };
    void this.#connect(wanted, done);
    return undefined;
  }

  async #connect({ timeout, signal, ...wanted }: GuardedOptions, done: Done = () => undefined): Promise<void> {
    const late = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
    const signals = [signal, late].filter((one) => one !== undefined);
    let secured: TLSSocket;
    try {
      secured = await connectGuarded({ ...wanted, signal: AbortSignal.any(signals) });
    } catch (error) {
      const isLate = late?.aborted === true && signal?.aborted !== true;
      return done(isLate ? new ConnectingTooLong('no connection within the limit') : (error as Error), undefined as never);
    }
    done(null, secured);
  }
}
