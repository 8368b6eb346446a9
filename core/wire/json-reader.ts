// Reads large JSON bodies in a thread of its own: four megabytes would hold up everybody's requests for ten milliseconds.
import { Worker } from 'node:worker_threads';
import { coreErrors, ServiceError } from '../base/errors.ts';
import type { LargeJson } from './json-large.ts';
import type { JsonOrder, JsonReading, JsonRefusal } from './json-thread.ts';

/** How long the thread waits for another body. It ends then, and what it has read goes from memory with it. */
const idleMs = 10_000;

/** The thread, and who waits for which of its answers. */
type Thread = { readonly worker: Worker; readonly waiting: Map<number, PromiseWithResolvers<LargeJson>> };

/** One thread, started when it is needed; bodies take turns. */
export class JsonReader {
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #orders = 0;

  /**
   * As parseJsonObject, or parseAround with a `largeField`, which is what the thread does. The memory of a body that has it to itself is
   * given away; it comes back with the text that was taken out, or is zeroed.
   */
  async read(body: Uint8Array, largeField?: string): Promise<LargeJson> {
    const own = body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.length ? body : new Uint8Array(body);
    // A machine that has no room for another thread refuses it here.
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
    // Out of memory, for example: what it had is lost, and the next body gets a new thread.
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

/** An error that came from the thread as plain values. */
function errorOf({ code, details }: JsonRefusal): ServiceError {
  return new ServiceError(code, coreErrors[code as keyof typeof coreErrors], details);
}
