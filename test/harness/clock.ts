// A clock that moves only when a test moves it.
import type { Clock } from '../../core/base/context.ts';

/** The wall clock can step either way, the monotonic clock only forward. */
export class TestClock implements Clock {
  #now: Temporal.Instant;
  #monotonicMs = 0;

  constructor(start = '2026-01-01T00:00:00Z') {
    this.#now = Temporal.Instant.from(start);
  }

  now(): Temporal.Instant {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Advances both clocks. */
  advance(seconds: number): void {
    this.#now = this.#now.add({ milliseconds: Math.round(seconds * 1000) });
    this.#monotonicMs += seconds * 1000;
  }

  /** Sets the wall clock, forward or (negative) back. */
  step(seconds: number): void {
    this.#now = this.#now.add({ milliseconds: Math.round(seconds * 1000) });
  }
}
