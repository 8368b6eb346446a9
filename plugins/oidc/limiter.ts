// Bounds how often one address may do something that costs: in memory, per worker, exact enough to stop floods.
import { subscriberOf } from '../../core/base/addresses.ts';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';

/** Most addresses remembered; the longest unseen is forgotten first. */
const maxAddresses = 10_000;

/** A bucket per address that refills evenly over a minute. */
export class Limiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #buckets = new Map<string, { level: number; atMs: number }>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts one attempt; throws `rate-limited` when the address made too many. */
  require(clientIp: string): void {
    const address = subscriberOf(clientIp);
    const atMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(address);
    const level = Math.max(0, (bucket?.level ?? 0) - ((atMs - (bucket?.atMs ?? atMs)) / 60_000) * this.#perMinute);
    if (level + 1 > this.#perMinute) {
      throw fail('rate-limited', { retryAfterSeconds: Math.ceil(((level + 1 - this.#perMinute) / this.#perMinute) * 60) });
    }
    this.#buckets.delete(address);
    this.#buckets.set(address, { level: level + 1, atMs });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxAddresses && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
