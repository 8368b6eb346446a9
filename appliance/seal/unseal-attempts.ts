// Limits the attempts to give a PIN, by proof and by time. A token locks itself after a few wrong ones, which guesses of others must not
// cause.
import type { Clock } from '../../core/base/context.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { TokenBucket } from '../../core/base/token-bucket.ts';
import type { UnsealAttempt } from '../processes/messages.ts';
import type { UnsealCode } from './unseal-code.ts';

/** Refused PINs until the daemon is started again, which only an administrator of the machine can do. */
const mostRefused = 3;
/** Refused PINs of the administrator of the machine until the code is needed, too: one try is left for the person who has it. */
const mostWithoutCode = 2;
const firstWaitSeconds = 3;
/** Of attempts that prove nothing, so many are recorded at once, and so many a minute after them. */
const recordedAtOnce = 20;
const recordedPerMinute = 1;

export class UnsealAttempts {
  readonly #clock: Clock;
  readonly #code: UnsealCode;
  readonly #recorded: TokenBucket;
  #refused = 0;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, code: UnsealCode) {
    this.#clock = clock;
    this.#code = code;
    this.#recorded = new TokenBucket(recordedAtOnce, recordedPerMinute, clock.monotonicMs());
  }

  /** Returns the reason not to try the PIN of an attempt; undefined for one with the code, or of the administrator of the machine. */
  doubt({ code, isOfAdministrator }: UnsealAttempt): ServiceError | undefined {
    if (code !== undefined) return this.#code.isRight(code) ? undefined : fail('unseal-code-refused', { detail: wrongCode });
    if (isOfAdministrator && this.#refused < mostWithoutCode) return undefined;
    return fail('unseal-code-refused', { detail: isOfAdministrator ? codeNeeded : noCode });
  }

  /** Tells whether to record an attempt that proved nothing: not all of a flood. */
  mayRecord(): boolean {
    return this.#recorded.take(this.#clock.monotonicMs()) === 0;
  }

  /** Throws `rate-limited` when it is too early for another try, or there were too many. */
  requireTime(): void {
    if (this.#refused >= mostRefused) throw tooEarly(3_600);
    const waitMs = this.#nextMs - this.#clock.monotonicMs();
    if (waitMs > 0) throw tooEarly(Math.ceil(waitMs / 1_000));
  }

  /** A token has refused the PIN. Answers how often that has happened. */
  countRefused(): number {
    this.#nextMs = this.#clock.monotonicMs() + firstWaitSeconds * 1_000 * 2 ** this.#refused++;
    return this.#refused;
  }

  /** The tokens took the PIN. */
  forgetRefused(): void {
    this.#refused = 0;
  }
}

/** The refusal of an attempt while something is under way that no PIN was refused in. */
export function underWay(what: string): ServiceError {
  return fail('conflict', { retryAfterSeconds: 5, detail: `${what}: ask again in a few seconds.` });
}

/** The refusal of an attempt that has to wait. */
function tooEarly(retryAfterSeconds: number): ServiceError {
  const detail = 'Wait before the next attempt. After three refused PINs the daemon must be started again first.';
  return fail('rate-limited', { retryAfterSeconds, detail });
}

const where = 'which the appliance has shown on its console and in its log when it was sealed';
const noCode = `Give "unseal-code", ${where}. The PIN was not looked at.`;
const codeNeeded = `PINs from this machine were refused: give "unseal-code" as well, ${where}. The PIN was not looked at.`;
const wrongCode = `This is not the unseal code of this seal, ${where}. The PIN was not looked at.`;
