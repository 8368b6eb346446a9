// Meter of an amount per minute, from ever-growing sums of the use by this and other processes.

export class Meter {
  #left: number;
  #used: number;
  #atMs: number;

  /** Begins full. `used`: the sum until now, here and below; `nowMs`: monotonic time. */
  constructor(perMinute: number, used: number, nowMs: number) {
    this.#left = perMinute;
    this.#used = used;
    this.#atMs = nowMs;
  }

  /** Returns 0 while some amount is left, otherwise the seconds until then. At most the amount of a minute accumulates; excess use is owed. */
  waitSeconds(perMinute: number, used: number, nowMs: number): number {
    const refilled = this.#left + ((nowMs - this.#atMs) / 60_000) * perMinute;
    this.#left = Math.min(perMinute, refilled) - (used - this.#used);
    this.#used = used;
    this.#atMs = nowMs;
    // A tiny rest is a rounding error.
    return this.#left > 1e-6 ? 0 : Math.max(1, (-this.#left / perMinute) * 60);
  }
}
