// Records of a replica that other appliances may not have yet. An answer based on one of them waits until they have it: otherwise a caller
// could read a change here, ask another appliance afterwards, and read the earlier state there.
import type { Span } from '../environment.ts';
import { keyBytes } from '../keys.ts';

/** Reads of unsettled records, tracked for the whole process: an answer may be based on a read for another one. */
export class Unsettled {
  readonly #settled: () => number;
  /** revision of the shared store in which each record changed or was removed, or a later one */
  readonly #changed = new Map<string, number>();
  #touched = 0;

  /** `settled`: returns the revision of the shared store that every appliance that may answer has applied. */
  constructor(settled: () => number) {
    this.#settled = settled;
  }

  /** Records that reads see the state of a revision from now on. `texts`: of the keys that changed; undefined: unknown. */
  moved(texts: readonly string[] | undefined, revision: number): void {
    this.#forgetSettled();
    if (revision <= this.#settled()) return;
    if (texts === undefined) this.#touched = revision;
    else for (const text of texts) this.#changed.set(text, revision);
  }

  /** Records that a record was looked up, whether it exists or not. */
  look(text: string): void {
    if (this.#changed.size > 0) this.#touch(this.#changed.get(text) ?? 0);
  }

  /** Records that a span of keys was searched. */
  search({ low, high }: Span): void {
    for (const [text, revision] of this.#changed) {
      const key = keyBytes(text);
      if (Buffer.compare(low, key) <= 0 && Buffer.compare(key, high) < 0) this.#touch(revision);
    }
  }

  /** Revision that every appliance must have applied before anything is answered; undefined: all reads are settled. */
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
