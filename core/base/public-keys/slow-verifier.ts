// Verifies in a thread what JavaScript alone verifies: such a signature takes up to fifteen milliseconds, in which no request would be answered.
import type { KeyObject } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../async/fair-queue.ts';
import type { Owner } from '../async/shares.ts';
import type { SlowOrder, SlowScheme } from './slow-verifier-thread.ts';

/** Idle time after which the thread ends, and its memory with it. */
const idleMs = 30_000;

type Waiting = { readonly order: () => SlowOrder; readonly answer: PromiseWithResolvers<boolean> };

/** One thread for a process, started on demand. Those who ask take turns, one signature each, so that nobody waits for the whole batch of another one. */
class SlowVerifier {
  #worker: Worker | undefined;
  #running: Waiting | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #waiting = new FairQueue<Waiting>();

  /** As ecdsaVerifiesDigest and ed25519phVerifies. `by`: who asks. Rejects when the thread is lost, for example out of memory. */
  verify(by: Owner, scheme: SlowScheme, key: KeyObject, input: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const answer = Promise.withResolvers<boolean>();
    // Copied when it is sent: what waits shares its octets with the request.
    const order = (): SlowOrder => ({
      ...{ scheme, publicKey: new Uint8Array(key.export({ type: 'spki', format: 'der' })) },
      ...{ input: new Uint8Array(input), signature: new Uint8Array(signature) },
    });
    this.#waiting.push(by, { order, answer });
    if (this.#running === undefined) this.#next();
    return answer.promise;
  }

  #next(): void {
    this.#running = this.#waiting.take();
    clearTimeout(this.#idle);
    if (this.#running === undefined) {
      this.#idle = setTimeout(() => this.#end(), idleMs).unref();
      return;
    }
    try {
      this.#worker ??= this.#start();
      const order = this.#running.order();
      this.#worker.postMessage(order, [order.input.buffer as ArrayBuffer]);
    } catch (error) {
      // The machine has no room for another thread.
      const { reject } = this.#running.answer;
      reject(error);
      this.#next();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('./slow-verifier-thread.ts', import.meta.url));
    worker.on('message', (valid: boolean) => {
      this.#running?.answer.resolve(valid);
      this.#next();
    });
    for (const event of ['error', 'messageerror'] as const) worker.on(event, (error: Error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error('the thread that verifies signatures ended')));
    worker.unref();
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** The signature that it had fails, and the next one gets a new thread. */
  #lose(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#end();
    this.#running?.answer.reject(error);
    this.#next();
  }
}

export const slowVerifier = new SlowVerifier();
