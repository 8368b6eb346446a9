// Limits logins with one valid credential: each login is a record, a commit and octets of the token.
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import { Buckets } from '../../base/token-bucket.ts';

/** of one credential, in one process; a program logs in once for the life of its token */
const perMinute = 600;

/** Counts only successful logins, so that no other caller can use up the limit of a credential's holder. */
export class LoginRate {
  readonly #buckets = new Buckets(perMinute, perMinute);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a login with a credential, by its accessor. Throws `rate-limited`. */
  admit(accessor: string): void {
    const waitSeconds = this.#buckets.take(accessor, this.#clock.monotonicMs());
    if (waitSeconds === 0) return;
    throw fail('rate-limited', {
      detail: `One credential logs in ${perMinute} times a minute at most, and this one has: use the token of an earlier login while it works.`,
      retryAfterSeconds: Math.ceil(waitSeconds),
    });
  }
}
