// Open parts of a process, and their closing: parts that work beside the requests rest first, all at once; the others close in the reverse
// order of their opening.
import { once } from '../../core/base/async/once.ts';

export class Closing {
  readonly #opened = new AsyncDisposableStack();
  readonly #working: (() => unknown)[] = [];

  /** `close` runs after later opened parts have closed. */
  onClose(close: () => unknown): void {
    this.#opened.defer(async () => {
      await close();
    });
  }

  /** `rest` stops something beside the requests that uses keys or the store. Called twice where a process is sealed before it stops. */
  onRest(rest: () => unknown): void {
    this.#working.push(rest);
  }

  /** Resolves when all of it rests. */
  async rest(): Promise<void> {
    await Promise.all(this.#working.map((rest) => rest()));
  }

  /** Idempotent. */
  readonly close = once(async (): Promise<void> => {
    await this.rest();
    await this.#opened.disposeAsync();
  });
}
