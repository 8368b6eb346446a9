// Starts TLS handshakes one after another, with turns by address, once the peer has sent its complete first message.
import type { Socket } from 'node:net';
import type { Server } from 'node:tls';
import { subscriberOf } from '../../base/addresses.ts';
import { HelloReader } from './client-hello.ts';
import type { Connection, Connections } from './connections.ts';
import { acceptedSocketOf, peerAddressOf } from './client-address.ts';

/** Limits for connections whose handshake is not complete. */
export type HandshakeLimits = {
  /** limit for the complete first message since the connection was accepted, and for the rest of the handshake since its turn */
  readonly deadlineMs: number;
  /** as deadlineMs, while more than `crowd` handshakes are open: peers may then be slow because of each other */
  readonly crowdedDeadlineMs: number;
  readonly crowd: number;
  /** time for which handshakes begin one after another, before other work of the process gets its turn */
  readonly sliceMs: number;
};

const usualLimits: HandshakeLimits = { deadlineMs: 10_000, crowdedDeadlineMs: 60_000, crowd: 64, sliceMs: 5 };

const sweepEveryMs = 250;

/** The fatal alert `handshake_failure` (RFC 8446 section 6). */
const handshakeFailure = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

/** Another server on the same port, for the connections of peers that ask for a name, or for none. */
export type ServerBeside = { readonly server: Server; takes(name: string | undefined): boolean };

type Begin = (socket: Socket) => void;

/**
 * The connections of a TLS server before the end of their handshake. Node would begin each with its first octet, with a deadline from when
 * it was accepted, and does not list them, so that nothing could close them when the listener closes. A handshake costs once its first message
 * is complete; a peer that sends it at once waits only for earlier ones of its address, and for one handshake of each other address at a time.
 */
export class Handshakes {
  readonly #limits: HandshakeLimits;
  readonly #connections: Connections;
  readonly #begin: Begin;
  readonly #beside: { readonly begin: Begin; takes: ServerBeside['takes'] } | undefined;
  /** those that begin at the server beside */
  readonly #besides = new WeakSet<Connection>();
  readonly #ofSocket = new WeakMap<Socket, Connection>();
  /** waiting connections by subscriber; one that has just had a turn comes last */
  readonly #line = new Map<string, Set<Connection>>();
  readonly #onSecured: (connection: Connection) => void;
  #finished = 0;
  #sweep: NodeJS.Timeout | undefined;
  #isAtWork = false;

  /** Takes over the new connections of the server. `onSecured` receives each one with a complete handshake. */
  constructor(
    server: Server,
    connections: Connections,
    options: {
      readonly limits?: HandshakeLimits;
      readonly onSecured?: (connection: Connection) => void;
      readonly beside?: ServerBeside | undefined;
    } = {},
  ) {
    this.#connections = connections;
    this.#limits = options.limits ?? usualLimits;
    this.#onSecured = options.onSecured ?? (() => undefined);
    this.#begin = beginningAt(server);
    const { beside } = options;
    if (beside !== undefined) {
      this.#beside = { begin: beginningAt(beside.server), takes: (name) => beside.takes(name) };
      beside.server.on('secureConnection', (secured: Socket) => this.#finish(secured));
    }
    server.removeAllListeners('connection').on('connection', (socket: Socket) => this.accept(socket));
    server.on('secureConnection', (secured: Socket) => this.#finish(secured));
  }

  /** Number of completed handshakes. */
  get finished(): number {
    return this.#finished;
  }

  /** Closes every connection whose handshake is not complete. */
  cut(): void {
    for (const { socket } of [...this.#connections.ofStage('silent', 'in-line', 'answered')]) socket.destroy();
  }

  /** Begins with a new connection. One without an address was reset before it was accepted. */
  accept(socket: Socket, address: string = peerAddressOf(socket)): void {
    // A peer that disconnects while it waits: `close` follows.
    socket.on('error', () => undefined);
    const connection = address === '' ? undefined : this.#connections.add(socket, address);
    if (connection === undefined) return void socket.destroy();
    this.#ofSocket.set(socket, connection);
    this.#sweep ??= setInterval(() => this.#sweepSoon(), sweepEveryMs).unref();
    this.#hear(connection, subscriberOf(address));
  }

  /** Reads until the first message is complete, and puts it back for TLS. */
  #hear(connection: Connection, subscriber: string): void {
    const { socket } = connection;
    const hello = new HelloReader();
    const hear = (): void => {
      const octets = socket.read() as Buffer | null;
      if (octets === null) return void socket.destroy();
      const judged = hello.read(octets);
      if (judged === 'part') return;
      socket.off('readable', hear);
      if (judged === 'refused') return void socket.end(handshakeFailure, () => socket.destroy());
      socket.unshift(hello.heard);
      if (this.#beside?.takes(hello.serverName) === true) this.#besides.add(connection);
      this.#waitInLine(connection, subscriber);
    };
    socket.on('readable', hear);
  }

  #waitInLine(connection: Connection, subscriber: string): void {
    this.#connections.move(connection, 'in-line');
    const own = this.#line.get(subscriber) ?? new Set();
    this.#line.set(subscriber, own.add(connection));
    connection.socket.once('close', () => own.delete(connection));
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    setImmediate(() => this.#work());
  }

  #work(): void {
    const beganMs = performance.now();
    for (const [subscriber, own] of this.#line) {
      const [next] = own;
      this.#line.delete(subscriber);
      if (next === undefined) continue;
      own.delete(next);
      // A deleted key that is set again comes last, in this loop, too.
      if (own.size > 0) this.#line.set(subscriber, own);
      if (next.socket.destroyed) continue;
      this.#connections.move(next, 'answered');
      if (this.#beside !== undefined && this.#besides.has(next)) this.#beside.begin(next.socket);
      else this.#begin(next.socket);
      if (performance.now() - beganMs >= this.#limits.sliceMs) break;
    }
    if (this.#line.size > 0) setImmediate(() => this.#work());
    else this.#isAtWork = false;
  }

  #finish(secured: Socket): void {
    this.#finished++;
    const connection = this.#ofSocket.get(acceptedSocketOf(secured));
    if (connection === undefined) return void secured.destroy();
    connection.secured = secured;
    this.#connections.move(connection, 'idle');
    this.#onSecured(connection);
  }

  /** Checks deadlines after I/O: timers run first, and after a pause of this process, peers' data must be read before they are judged. */
  #sweepSoon(): void {
    setImmediate(() => {
      const nowMs = performance.now();
      const { crowd, deadlineMs, crowdedDeadlineMs } = this.#limits;
      const { handshake } = this.#connections.counts;
      const patienceMs = handshake > crowd ? crowdedDeadlineMs : deadlineMs;
      for (const connection of [...this.#connections.ofStage('silent', 'answered')]) {
        if (nowMs - connection.sinceMs >= patienceMs) this.#connections.close(connection, 'handshake-timeout');
      }
      if (this.#connections.counts.handshake > 0) return;
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    });
  }
}

function beginningAt(server: Server): Begin {
  const listeners = server.listeners('connection');
  return (socket) => listeners.forEach((listener): unknown => listener.call(server, socket));
}
