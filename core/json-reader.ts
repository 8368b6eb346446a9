// Reads large JSON bodies in a thread of its own: four megabytes would hold up everybody's requests for ten milliseconds.
import { Worker } from 'node:worker_threads';
import { fail } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { JsonReading } from './json-thread.ts';

/** How long the thread waits for another body. It ends then, and what it has read goes from memory with it. */
const idleMs = 10_000;

type Waiting = PromiseWithResolvers<JsonObject>;

/** One thread, started when it is needed; bodies take turns. */
export class JsonReader {
  readonly #waiting: Waiting[] = [];
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** As parseJsonObject, which is what the thread does. The memory of a body that has it to itself is given away, and zeroed. */
  read(body: Uint8Array): Promise<JsonObject> {
    clearTimeout(this.#idle);
    const own = body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.length ? body : new Uint8Array(body);
    const waiting = Promise.withResolvers<JsonObject>();
    this.#waiting.push(waiting);
    this.#thread ??= this.#start();
    this.#thread.postMessage(own, [own.buffer as ArrayBuffer]);
    return waiting.promise;
  }

  #start(): Worker {
    const thread = new Worker(new URL('./json-thread.ts', import.meta.url));
    thread.on('message', (reading: JsonReading) => this.#take(reading));
    // Out of memory, for example: what it had is lost, and the next body gets a new thread.
    thread.on('error', (error) => this.#lose(thread, error));
    thread.unref();
    return thread;
  }

  #take(reading: JsonReading): void {
    const waiting = this.#waiting.shift();
    if ('value' in reading) waiting?.resolve(reading.value);
    else waiting?.reject(fail('invalid-json', reading.refusal === undefined ? {} : { detail: reading.refusal }));
    if (this.#waiting.length === 0) this.#idle = setTimeout(() => this.#end(), idleMs).unref();
  }

  #end(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  #lose(thread: Worker, error: unknown): void {
    if (this.#thread === thread) this.#thread = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
