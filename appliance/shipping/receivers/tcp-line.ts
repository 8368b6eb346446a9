// TCP below TLS. TLS put on a socket of Node takes the socket over; over this stream, the end of TCP and a reset after it are still seen.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/** A receiver that waits for the end of TCP, not only for that of TLS, gets it after this time. */
const silentMs = 1_000;
const leastSettleMs = 100;

/** The end of the stream is that of TLS alone: it reaches the receiver as close_notify, and TCP stays open. */
export class TcpLine extends Duplex {
  readonly #tcp: Socket;
  #roundTripMs = 0;

  constructor(address: { readonly host: string; readonly port: number }) {
    super();
    // Waiting calls are rejected; before TLS uses the line, nobody listens.
    this.on('error', () => undefined);
    this.#tcp = connect({ ...address, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 })
      .on('data', (octets: Buffer) => {
        if (!this.destroyed && !this.push(octets)) this.#tcp.pause();
      })
      .on('end', () => this.push(null))
      .on('error', (error) => this.destroy(error));
  }

  /** octets received so far */
  get bytesRead(): number {
    return this.#tcp.bytesRead;
  }

  /** Rejects with the error of the system, or with `AbortError` after `patienceMs`. */
  async connected(patienceMs: number): Promise<void> {
    const begunMs = performance.now();
    await this.#once('connect', patienceMs);
    this.#roundTripMs = performance.now() - begunMs;
  }

  /**
   * Call it when the end of TLS was sent. Resolves when the receiver has ended TCP and has taken every octet; rejects with the error of the
   * system, or with `AbortError` after `patienceMs`.
   *
   * A receiver that is being ended itself may send the end of TLS and of TCP just after ours was sent, without having read what came
   * before. What is unread then, or arrives later, its kernel answers with a reset. After the end of TCP that shows only in a write, and
   * only while our own side is open.
   */
  async ended(patienceMs: number): Promise<void> {
    const tcp = this.#tcp;
    const silence = globalThis.setTimeout(() => tcp.end(), silentMs);
    try {
      if (!tcp.readableEnded) await this.#once('end', patienceMs);
    } finally {
      clearTimeout(silence);
    }
    if (tcp.writableEnded) return;
    await setTimeout(Math.max(leastSettleMs, 4 * this.#roundTripMs));
    // RFC 8446 section 6.1: whatever follows the end of TLS is ignored.
    await new Promise<void>((resolve, reject) => void tcp.write(Buffer.alloc(1), (error) => (error ? reject(error) : resolve())));
  }

  /** Lets go of TCP at once; waiting calls are rejected. */
  close(): void {
    this.#tcp.destroy(new Error('the connection was given up'));
  }

  override _read(): void {
    this.#tcp.resume();
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#tcp.write(octets, done);
  }

  override _final(done: () => void): void {
    done();
  }

  /** TCP outlives TLS until close(): its end has still to be seen. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#tcp.resume();
    done(error);
  }

  async #once(event: 'connect' | 'end', patienceMs: number): Promise<void> {
    if (this.#tcp.destroyed) throw this.#tcp.errored ?? new Error('the connection was lost');
    await once(this.#tcp, event, { signal: AbortSignal.timeout(patienceMs) });
  }
}
