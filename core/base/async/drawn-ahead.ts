// Random octets from a slow source, drawn many at a time: a call to the token for each took longer than the work that needed them.

/** Parts drawn in one call. */
const drawnAtOnce = 64;

/** Returns parts of `octets` random octets, each once; callers during a running call share it. */
export class DrawnAhead {
  readonly #draw: (octets: number) => Promise<Uint8Array>;
  readonly #octets: number;
  readonly #ready: Uint8Array[] = [];
  #drawing: Promise<void> | undefined;

  constructor(draw: (octets: number) => Promise<Uint8Array>, octets: number) {
    this.#draw = draw;
    this.#octets = octets;
  }

  /** Returns the next part. Rejects as the source does. */
  async next(): Promise<Uint8Array> {
    for (;;) {
      const one = this.#ready.pop();
      if (one !== undefined) return one;
      await (this.#drawing ??= this.#refill().finally(() => (this.#drawing = undefined)));
    }
  }

  async #refill(): Promise<void> {
    const drawn = await this.#draw(this.#octets * drawnAtOnce);
    if (drawn.length !== this.#octets * drawnAtOnce) throw new Error('the source gave another number of random octets');
    // Copies: the source may return a Buffer, whose slices share its memory, and a returned part must be the only copy.
    for (let start = 0; start < drawn.length; start += this.#octets) {
      this.#ready.push(Uint8Array.from(drawn.subarray(start, start + this.#octets)));
    }
    drawn.fill(0);
  }
}
