// Counts the running requests of this process on every port, and routes requests to the sealed handler once the process is sealed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Interval at which running requests are counted while settling, which happens once in the life of a process. */
const lookEveryMs = 5;

export class RequestGate {
  readonly #running = new Set<object>();
  #isSealed = false;

  get isSealed(): boolean {
    return this.#isSealed;
  }

  /** From now on no request reaches a handler that could use a key. */
  seal(): void {
    this.#isSealed = true;
  }

  /** `open` until the process is sealed, `sealed` from then on; each answer is then the last on its connection. */
  guard(open: Handler, sealed: Handler): Handler {
    return (request, response) => {
      if (this.#isSealed) {
        response.shouldKeepAlive = false;
        return sealed(request, response);
      }
      this.#running.add(response);
      response.once('close', () => this.#running.delete(response));
      open(request, response);
    };
  }

  /** Counts a request of another protocol until the returned function is called; undefined once the process is sealed. */
  begin(): (() => void) | undefined {
    if (this.#isSealed) return undefined;
    const request = {};
    this.#running.add(request);
    return () => void this.#running.delete(request);
  }

  /** Resolves when at most `others` of the admitted requests still run, or the time is over. */
  async settled(others: number, mostMs: number): Promise<void> {
    const deadline = performance.now() + mostMs;
    while (this.#running.size > others && performance.now() < deadline) await setTimeout(lookEveryMs);
  }
}
