// References whose binding MAC was checked, by their digests: the check depends on these octets and the binding key alone, and takes longer
// than the digest.
import { hash } from 'node:crypto';

/** A bounded memory: above `most` it begins again. A digest takes about 80 octets. */
export class CheckedReferences {
  readonly #most: number;
  readonly #digests = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs the check of these octets unless it has passed before. Throws what it throws. */
  check(reference: Uint8Array, run: () => void): void {
    const digest = hash('sha256', reference, 'binary');
    if (this.#digests.has(digest)) return;
    run();
    if (this.#digests.size >= this.#most) this.#digests.clear();
    this.#digests.add(digest);
  }

  /** After the binding key was found again: it may be another one. */
  forgetAll(): void {
    this.#digests.clear();
  }
}
