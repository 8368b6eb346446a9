// Limits how often an address may start sign-ins of a tenant: in memory, per worker.
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { AddressBuckets } from '../../core/base/token-bucket.ts';

/** Token bucket for each address and tenant, which refills evenly over a minute: too many starts at one tenant do not block others. */
export class Limiter {
  readonly #clock: Clock;
  readonly #buckets: AddressBuckets;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#buckets = new AddressBuckets(perMinute, perMinute);
  }

  /** Counts one start; throws `rate-limited` when the address made too many. */
  require(clientIp: string, tenantId: string): void {
    const waitSeconds = this.#buckets.take(clientIp, this.#clock.monotonicMs(), tenantId);
    if (waitSeconds > 0) throw fail('rate-limited', { retryAfterSeconds: Math.ceil(waitSeconds) });
  }
}
