// Limits how often an address may start an expensive operation: in memory, per worker, exact enough to stop floods.
import { subscriberOf } from '../../core/base/addresses.ts';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { TokenBucket } from '../../core/base/token-bucket.ts';

/** Most addresses remembered; the least recently allowed one is forgotten first. */
const maxAddresses = 10_000;

/** A token bucket for each address, which refills evenly over a minute. */
export class Limiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts one attempt; throws `rate-limited` when the address made too many. */
  require(clientIp: string): void {
    const address = subscriberOf(clientIp);
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(address) ?? new TokenBucket(this.#perMinute, this.#perMinute, nowMs);
    const waitSeconds = bucket.take(nowMs);
    if (waitSeconds > 0) throw fail('rate-limited', { retryAfterSeconds: Math.ceil(waitSeconds) });
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxAddresses && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
