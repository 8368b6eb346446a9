// Connections of proxies that pass TLS on: the header of the PROXY protocol is read before the handshake.
import type { Server, Socket } from 'node:net';
import { isWithin } from '../../base/addresses.ts';
import type { Log } from '../../base/context.ts';
import { nameClient, peerAddressOf } from './client-address.ts';
import { fixedOctets, HeaderRefused, octetsBehind, readHeader } from './proxy-header.ts';

/** Limit for the header, which a proxy sends before anything else. */
const headerMs = 5_000;
/** Interval of log lines: a misconfigured proxy would fill the log. */
const sayEveryMs = 60_000;

/**
 * Requires the PROXY protocol, version 2, from the proxies in `ranges`: without it, all their clients would have one address.
 * From other peers such a header is not a TLS handshake, and the connection ends.
 */
export class ProxyConnections {
  readonly #ranges: readonly string[];
  readonly #log: Log | undefined;
  readonly #passOn: (socket: Socket) => void;
  readonly #waiting = new Set<Socket>();
  #saidAtMs = Number.NEGATIVE_INFINITY;

  /** Intercepts connections before the present listeners of the server. */
  constructor(server: Server, ranges: readonly string[], log?: Log) {
    this.#ranges = ranges;
    this.#log = log;
    if (ranges.length === 0) {
      this.#passOn = () => undefined;
      return;
    }
    const listeners = server.listeners('connection');
    this.#passOn = (socket) => listeners.forEach((listener): unknown => listener.call(server, socket));
    server.removeAllListeners('connection').on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Ends every connection whose header is not complete. */
  cut(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #accept(socket: Socket): void {
    const proxy = peerAddressOf(socket);
    if (!isWithin(this.#ranges, proxy)) return this.#passOn(socket);
    this.#waiting.add(socket);
    const late = setTimeout(() => socket.destroy(), headerMs);
    let fixed: Buffer | null = null;
    const read = (): void => {
      try {
        fixed ??= socket.read(fixedOctets) as Buffer | null;
        if (fixed === null) return;
        const octets = octetsBehind(fixed);
        const behind = octets === 0 ? Buffer.alloc(0) : (socket.read(octets) as Buffer | null);
        if (behind === null) return;
        const { client } = readHeader(fixed, behind);
        if (client !== undefined) nameClient(socket, client);
      } catch (error) {
        if (!(error instanceof HeaderRefused)) throw error;
        this.#say(proxy, error.message);
        return void socket.destroy();
      }
      socket.off('readable', read);
      leave();
      // The rest is passed to the next reader only after node has noticed that this one stopped reading.
      setImmediate(() => (socket.destroyed ? undefined : this.#passOn(socket)));
    };
    const leave = (): void => {
      clearTimeout(late);
      this.#waiting.delete(socket);
    };
    // A proxy that disconnects: `close` follows.
    socket
      .on('error', () => undefined)
      .once('close', leave)
      .on('readable', read);
  }

  #say(proxy: string, reason: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#saidAtMs < sayEveryMs) return;
    this.#saidAtMs = nowMs;
    this.#log?.warn('a connection of a proxy was ended', { proxy, reason });
  }
}
