// A counting semaphore: limits how many tasks run at the same time; the others wait in turns.
import { FairQueue } from './fair-queue.ts';
import type { Owner } from './shares.ts';

/** Tasks of nobody in particular wait in order. */
const anybody: Owner = { tenant: '', origin: '' };

export class Semaphore {
  #free: number;
  readonly #waiting = new FairQueue<() => void>();

  constructor(places: number) {
    this.#free = places;
  }

  /** Runs the work as soon as a permit is free. `by`: who asks, in turns with others. */
  async run<T>(work: () => Promise<T>, by: Owner = anybody): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(by, resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.take();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
