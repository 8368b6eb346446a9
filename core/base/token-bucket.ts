// A token bucket in memory: an action is allowed while there are tokens, and tokens come back evenly over time.

export class TokenBucket {
  readonly #capacity: number;
  readonly #perMinute: number;
  #tokens: number;
  #filledAtMs: number;

  /** Starts full. `nowMs` is monotonic time here and below. */
  constructor(capacity: number, perMinute: number, nowMs: number) {
    this.#capacity = capacity;
    this.#perMinute = perMinute;
    this.#tokens = capacity;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token; returns 0, or, when there is none, the seconds until there is. */
  take(nowMs: number): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((nowMs - this.#filledAtMs) / 60_000) * this.#perMinute);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return ((1 - this.#tokens) / this.#perMinute) * 60;
    this.#tokens -= 1;
    return 0;
  }
}
