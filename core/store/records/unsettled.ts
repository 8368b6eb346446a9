// Which records of a replica others may not have yet. An answer that rests on one of them waits until they have it: else a caller could read a
// change here, ask another appliance afterwards, and read the state before it there.
import type { Span } from '../environment.ts';
import { keyBytes } from '../keys.ts';

/** What was touched is kept for the whole process: an answer may rest on what was read for another one. */
export class Unsettled {
  readonly #settled: () => number;
  /** revision of the shared store in which each of them changed or went, or a later one */
  readonly #changed = new Map<string, number>();
  #touched = 0;

  /** `settled`: everything up to this revision of the shared store is on every appliance that may answer. */
  constructor(settled: () => number) {
    this.#settled = settled;
  }

  /** Reads find the state of a revision from now on. `texts`: of the keys that changed; undefined: that is not known. */
  moved(texts: readonly string[] | undefined, revision: number): void {
    this.#forgetSettled();
    if (revision <= this.#settled()) return;
    if (texts === undefined) this.#touched = revision;
    else for (const text of texts) this.#changed.set(text, revision);
  }

  /** A record is looked for, whether it is there or not. */
  look(text: string): void {
    if (this.#changed.size > 0) this.#touch(this.#changed.get(text) ?? 0);
  }

  /** Keys are searched. */
  search({ low, high }: Span): void {
    for (const [text, revision] of this.#changed) {
      const key = keyBytes(text);
      if (Buffer.compare(low, key) <= 0 && Buffer.compare(key, high) < 0) this.#touch(revision);
    }
  }

  /** The revision that must be everywhere before anything is answered; undefined: nothing was read that is not. */
  get touched(): number | undefined {
    return this.#touched > this.#settled() ? this.#touched : undefined;
  }

  #touch(revision: number): void {
    this.#touched = Math.max(this.#touched, revision);
  }

  #forgetSettled(): void {
    const settled = this.#settled();
    for (const [text, revision] of this.#changed) if (revision <= settled) this.#changed.delete(text);
  }
}
