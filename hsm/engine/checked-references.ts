// Remembers references whose binding MAC was checked, by their digests: the check depends only on these octets and the binding key, and takes longer
// than the digest.
import { hash } from 'node:crypto';

/** Bounded set of checked references, emptied above `most` entries. A digest takes about 80 octets. */
export class CheckedReferences {
  readonly #most: number;
  readonly #digests = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs the check of these octets unless it has passed before. Errors of the check are passed on. */
  check(reference: Uint8Array, run: () => void): void {
    const digest = hash('sha256', reference, 'binary');
    if (this.#digests.has(digest)) return;
    run();
    if (this.#digests.size >= this.#most) this.#digests.clear();
    this.#digests.add(digest);
  }

  /** Forgets all references. Called after the binding key was found again, because it may be another one. */
  forgetAll(): void {
    this.#digests.clear();
  }
}
