// TLS handshakes take turns: a listener works on a limited number at once, and waiting for a turn closes no connection.
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** Limits for connections whose handshake is not complete. */
export type HandshakeLimits = {
  /** handshakes in progress at once */
  readonly turns: number;
  /** A peer that takes longer loses its turn to the next and continues beside it, so that stalled peers delay no others. */
  readonly turnMs: number;
  /** for the first octets, and for the handshake from the start of its turn */
  readonly deadlineMs: number;
  /** the same while more handshakes are open than there are turns: peers may then be slow because of the queue */
  readonly crowdedDeadlineMs: number;
  /** Beyond it, each new connection closes the oldest that is silent or slow. */
  readonly mostOpen: number;
};

const usualLimits: HandshakeLimits = { turns: 64, turnMs: 1_000, deadlineMs: 10_000, crowdedDeadlineMs: 120_000, mostOpen: 3_072 };

const sweepEveryMs = 250;

/**
 * A connection before the end of its handshake: nothing received yet, waiting `in-line`, at its `turn`, or continuing `slow` after it.
 * `sinceMs`: when that began; for `slow`, when its turn began.
 */
type Handshake = { readonly socket: Socket; stage: 'silent' | 'in-line' | 'turn' | 'slow'; sinceMs: number };

/**
 * The connections of a TLS server before the end of their handshake. Node would start all at once, with a deadline from when each
 * was accepted, and does not list them, so that nothing could close them when the listener closes.
 */
export class Handshakes {
  readonly #limits: HandshakeLimits;
  readonly #begin: (socket: Socket) => void;
  /** by peer: the secured socket is another object than the accepted one */
  readonly #open = new Map<string, Handshake>();
  readonly #line = new Set<Handshake>();
  #turns = 0;
  #finished = 0;
  #sweep: NodeJS.Timeout | undefined;

  /** Takes over the new connections of the server. */
  constructor(server: Server, limits: HandshakeLimits = usualLimits) {
    this.#limits = limits;
    const listeners = server.listeners('connection');
    this.#begin = (socket) => listeners.forEach((listener): unknown => listener.call(server, socket));
    server.removeAllListeners('connection').on('connection', (socket: Socket) => this.#accept(socket));
    server.on('secureConnection', (socket: Socket) => this.#finish(socket));
  }

  /** Number of completed handshakes. */
  get finished(): number {
    return this.#finished;
  }

  /** Closes every connection whose handshake is not complete. */
  cut(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#open.size >= this.#limits.mostOpen) this.#cutOldest();
    const handshake: Handshake = { socket, stage: 'silent', sinceMs: performance.now() };
    const peer = peerOf(socket);
    this.#open.set(peer, handshake);
    this.#sweep ??= setInterval(() => this.#sweepSoon(), sweepEveryMs).unref();
    socket.once('readable', () => this.#hear(handshake));
    // A peer that disconnects while it waits: `close` follows.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#leave(peer, handshake));
  }

  /** What was received stays in the socket until the turn, when TLS reads it. */
  #hear(handshake: Handshake): void {
    if (handshake.socket.readableLength === 0) return void handshake.socket.destroy();
    handshake.stage = 'in-line';
    this.#line.add(handshake);
    this.#giveTurns();
  }

  #giveTurns(): void {
    for (const next of this.#line) {
      if (this.#turns >= this.#limits.turns) return;
      this.#line.delete(next);
      this.#turns++;
      next.stage = 'turn';
      next.sinceMs = performance.now();
      this.#begin(next.socket);
    }
  }

  #finish(secured: Socket): void {
    this.#finished++;
    const peer = peerOf(secured);
    const handshake = this.#open.get(peer);
    if (handshake !== undefined) this.#leave(peer, handshake);
  }

  #leave(peer: string, handshake: Handshake): void {
    if (this.#open.get(peer) !== handshake) return;
    this.#open.delete(peer);
    this.#line.delete(handshake);
    if (handshake.stage === 'turn') this.#turns--;
    this.#giveTurns();
    if (this.#open.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Timers run before I/O: after a pause of this process, what peers sent is read before they are judged. */
  #sweepSoon(): void {
    setImmediate(() => {
      const nowMs = performance.now();
      const { turns, turnMs, deadlineMs, crowdedDeadlineMs } = this.#limits;
      const patienceMs = this.#open.size > turns ? crowdedDeadlineMs : deadlineMs;
      for (const handshake of this.#open.values()) {
        if (handshake.stage === 'in-line') continue;
        const ageMs = nowMs - handshake.sinceMs;
        if (ageMs >= patienceMs) handshake.socket.destroy();
        if (handshake.stage !== 'turn' || ageMs < turnMs) continue;
        handshake.stage = 'slow';
        this.#turns--;
      }
      this.#giveTurns();
    });
  }

  #cutOldest(): void {
    const oldest = this.#open.values().find(({ stage }) => stage === 'silent' || stage === 'slow');
    oldest?.socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
