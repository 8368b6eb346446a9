// Reads large JSON bodies in a worker thread: parsing four megabytes would block every request for ten milliseconds.
import { Worker } from 'node:worker_threads';
import { coreErrors, ServiceError } from '../base/errors.ts';
import type { LargeJson } from './json-large.ts';
import type { JsonOrder, JsonReading, JsonRefusal } from './json-thread.ts';

/** Idle time after which the thread ends, which frees the memory of the bodies it has read. */
const idleMs = 10_000;

/** The thread, and the promises of the answers it owes. */
type Thread = { readonly worker: Worker; readonly waiting: Map<number, PromiseWithResolvers<LargeJson>> };

/** One thread, started on demand; it reads one body at a time. */
export class JsonReader {
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #orders = 0;

  /**
   * As parseJsonObject, or parseAround with a `largeField`. The body's ArrayBuffer is transferred when the body has it to itself; it comes
   * back with the text that was taken out, or is zeroed.
   */
  async read(body: Uint8Array, largeField?: string): Promise<LargeJson> {
    const own = body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.length ? body : new Uint8Array(body);
    // Throws here when the machine has no room for another thread.
    const { worker, waiting } = (this.#thread ??= this.#start());
    const order: JsonOrder = { id: this.#orders++, body: own, largeField };
    worker.postMessage(order, [own.buffer as ArrayBuffer]);
    clearTimeout(this.#idle);
    const answer = Promise.withResolvers<LargeJson>();
    waiting.set(order.id, answer);
    return answer.promise;
  }

  #start(): Thread {
    const thread: Thread = { worker: new Worker(new URL('./json-thread.ts', import.meta.url)), waiting: new Map() };
    const { worker } = thread;
    worker.on('message', (reading: JsonReading) => this.#take(thread, reading));
    // For example out of memory: the bodies it had fail, and the next body gets a new thread.
    for (const event of ['error', 'messageerror'] as const) worker.on(event, (error: Error) => this.#lose(thread, error));
    worker.on('exit', () => this.#lose(thread, new Error('the thread that reads JSON ended')));
    worker.unref();
    return thread;
  }

  #take({ waiting }: Thread, { id, ...reading }: JsonReading): void {
    const answer = waiting.get(id);
    waiting.delete(id);
    if ('value' in reading) answer?.resolve(reading);
    else answer?.reject(errorOf(reading.refusal));
    if (waiting.size === 0) this.#idle = setTimeout(() => this.#end(), idleMs).unref();
  }

  #end(): void {
    void this.#thread?.worker.terminate();
    this.#thread = undefined;
  }

  #lose(thread: Thread, error: Error): void {
    if (this.#thread === thread) this.#end();
    for (const { reject } of thread.waiting.values()) reject(error);
    thread.waiting.clear();
  }
}

/** Restores an error that the thread sent as plain values. */
function errorOf({ code, details }: JsonRefusal): ServiceError {
  return new ServiceError(code, coreErrors[code as keyof typeof coreErrors], details);
}
