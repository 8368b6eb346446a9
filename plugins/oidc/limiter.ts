// Limits how often an address may start sign-ins of a tenant: in memory, per worker, exact enough to stop floods.
import { subscriberOf } from '../../core/base/addresses.ts';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { TokenBucket } from '../../core/base/token-bucket.ts';

/** Most pairs remembered; the least recently allowed one is forgotten first. */
const maxRemembered = 10_000;

/** A token bucket for each address and tenant, which refills evenly over a minute: who starts too many at one tenant keeps nobody from others. */
export class Limiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts one start; throws `rate-limited` when the address made too many. */
  require(clientIp: string, tenantId: string): void {
    const key = `${subscriberOf(clientIp)} ${tenantId}`;
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#perMinute, this.#perMinute, nowMs);
    const waitSeconds = bucket.take(nowMs);
    if (waitSeconds > 0) throw fail('rate-limited', { retryAfterSeconds: Math.ceil(waitSeconds) });
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxRemembered && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
