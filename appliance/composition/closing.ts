// What a process has open, and how that ends: what works beside the requests rests first, all at once; the rest closes in the reverse order of
// its opening.
import { once } from '../../core/base/async/once.ts';

export class Closing {
  readonly #opened = new AsyncDisposableStack();
  readonly #working: (() => unknown)[] = [];

  /** `close` runs after what was opened later has closed. */
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

  /** Safe to call twice. */
  readonly close = once(async (): Promise<void> => {
    await this.rest();
    await this.#opened.disposeAsync();
  });
}
