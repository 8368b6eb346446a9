// What may still be used of an amount per minute, by sums that only grow: of what this process and others have used.

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

  /** 0 while something is left, else the seconds until there is. At most the amount of a minute is saved up; what was used above it is owed. */
  waitSeconds(perMinute: number, used: number, nowMs: number): number {
    const refilled = this.#left + ((nowMs - this.#atMs) / 60_000) * perMinute;
    this.#left = Math.min(perMinute, refilled) - (used - this.#used);
    this.#used = used;
    this.#atMs = nowMs;
    // Less than nothing by rounding is nothing.
    return this.#left > 1e-6 ? 0 : Math.max(1, (-this.#left / perMinute) * 60);
  }
}
