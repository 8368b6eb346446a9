// Limits of logins: for wrong tokens by address, for right ones by workload. A right token passes whatever others at its address did.
import { LoginRate } from '../logins/login-rate.ts';
import { tooManyFailures } from './attempt-limit.ts';
import type { Clock } from '../../base/context.ts';
import { AddressBuckets, Buckets } from '../../base/token-bucket.ts';

/** Refusals of one address in a minute, and lines of the log for each tenant; of one process. */
const perMinute = 60;

export class LoginLimits {
  readonly #clock: Clock;
  readonly #refusals = new AddressBuckets(perMinute, perMinute);
  readonly #lines = new Buckets(perMinute, perMinute);
  readonly #rate: LoginRate;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new LoginRate(clock);
  }

  /**
   * Counts a refused token, after it was judged: what an address uses up is its answers. In memory, because a write for each wrong token would
   * help who floods. Throws `rate-limited`.
   */
  countRefusal(clientIp: string): void {
    const waitSeconds = this.#refusals.take(clientIp, this.#clock.monotonicMs());
    if (waitSeconds > 0) throw tooManyFailures(Math.ceil(waitSeconds));
  }

  /** Counts a right token of a workload. Throws `rate-limited`. */
  admit(workload: string): void {
    this.#rate.admit(workload);
  }

  /** Tells whether a refusal at a tenant is written to the log, which unauthenticated callers must not fill. */
  mayLog(tenantId: string): boolean {
    return this.#lines.take(tenantId, this.#clock.monotonicMs()) === 0;
  }
}
