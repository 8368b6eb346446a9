// TLS handshakes take turns: a listener works on so many at once, the others wait in line, and waiting cuts nobody off.
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** How a listener shares itself out among connections whose handshake is not over. */
export type HandshakeLimits = {
  /** handshakes that are worked on at once */
  readonly turns: number;
  /** A peer that takes longer leaves its turn to the next in line and goes on beside it: stalled peers hold up nobody. */
  readonly turnMs: number;
  /** for the first octets, and for the handshake from the beginning of its turn */
  readonly deadlineMs: number;
  /** the same while more handshakes are open than there are turns: then a peer may be slow because all of them are */
  readonly crowdedDeadlineMs: number;
  /** Beyond it the oldest of those that say nothing is cut for each that comes. */
  readonly mostOpen: number;
};

const usualLimits: HandshakeLimits = { turns: 64, turnMs: 1_000, deadlineMs: 10_000, crowdedDeadlineMs: 120_000, mostOpen: 3_072 };

const sweepEveryMs = 250;

/**
 * A connection before the end of its handshake: it has said nothing yet, waits `in-line`, has its `turn`, or goes on `slow` without one.
 * `sinceMs`: when that began; a turn that has passed on still counts from its beginning.
 */
type Handshake = { readonly socket: Socket; stage: 'silent' | 'in-line' | 'turn' | 'slow'; sinceMs: number };

/**
 * The connections of a TLS server before the end of their handshake. Node would begin with all at once, give each the same time from
 * when it was accepted, and lists none of them, so that nothing else could cut them when the listener closes.
 */
export class Handshakes {
  readonly #limits: HandshakeLimits;
  readonly #begin: (socket: Socket) => void;
  /** by peer: what is secured is another object than what was accepted */
  readonly #open = new Map<string, Handshake>();
  readonly #line = new Set<Handshake>();
  #turns = 0;
  #finished = 0;
  #sweep: NodeJS.Timeout | undefined;

  /** Takes over what the server does with a new connection. */
  constructor(server: Server, limits: HandshakeLimits = usualLimits) {
    this.#limits = limits;
    const listeners = server.listeners('connection');
    this.#begin = (socket) => listeners.forEach((listener): unknown => listener.call(server, socket));
    server.removeAllListeners('connection').on('connection', (socket: Socket) => this.#accept(socket));
    server.on('secureConnection', (socket: Socket) => this.#finish(socket));
  }

  /** How many handshakes have come to a good end. */
  get finished(): number {
    return this.#finished;
  }

  /** Cuts every connection whose handshake is not over. */
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
    // Whoever goes away in line: what follows is `close`.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#leave(peer, handshake));
  }

  /** What was received stays where it is until the turn: TLS reads it first. */
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

  /** Timers come before what was received meanwhile: after a pause of this process, peers are heard first and judged then. */
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
