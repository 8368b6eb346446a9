// Turns of the MACs that are judged: the sender has chosen how much work each is, and has proven nothing yet.
import { subscriberOf } from '../../core/base/addresses.ts';
import { inTurn } from '../../core/base/async/turns.ts';
import { Semaphore } from '../../core/base/async/semaphore.ts';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';

/**
 * Rounds in this process, of usual MACs and again of dear ones. `ofAddress` has four of the dearest MACs, some seconds of work: so much may wait of an
 * address, and so much may prove nothing in a minute. `ofAll`: of all addresses together.
 */
export const macRounds = { ofAddress: 1_200_000, ofAll: 6_000_000 } as const;
/** Most rounds of a usual MAC, several times those that clients ask for by default. A hundred wrong ones, where the count of them ends, are below `ofAddress`. */
export const usualRounds = 10_000;
const windowMs = 60_000;
/** Of each kind. Few, so that the others of the pool write the store and the audit trail meanwhile. */
const threads = 1;
/** Addresses that are remembered; the one forgotten first is the one that has begun first. */
const mostAddresses = 10_000;

type Wasted = { readonly sinceMs: number; readonly rounds: number };

/** The turns of all MACs. Usual ones have turns and bounds of their own: few dear ones that prove nothing keep no usual one out. */
export class MacTurns {
  readonly #usual: Lane;
  readonly #dear: Lane;

  constructor(clock: Clock) {
    this.#usual = new Lane(clock, 'usual');
    this.#dear = new Lane(clock, 'dear');
  }

  /**
   * Judges a MAC after those of its kind that came before from the address, one at a time; undefined is one that proves nothing. Before any work it throws
   * `busy` where too much waits, and `rate-limited` for an address of which too much has proven nothing.
   */
  judge<T>(address: string, rounds: number, work: () => Promise<T | undefined>): Promise<T | undefined> {
    return (rounds > usualRounds ? this.#dear : this.#usual).judge(address, rounds, work);
  }
}

class Lane {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #threads = new Semaphore(threads);
  /** by address */
  readonly #underWay = new Map<string, number>();
  readonly #wasted = new Map<string, Wasted>();
  #ofAll = 0;

  constructor(clock: Clock, name: string) {
    this.#clock = clock;
    this.#name = name;
  }

  async judge<T>(address: string, rounds: number, work: () => Promise<T | undefined>): Promise<T | undefined> {
    const subscriber = subscriberOf(address);
    const before = this.#underWay.get(subscriber) ?? 0;
    if (before + rounds > macRounds.ofAddress || this.#ofAll + rounds > macRounds.ofAll)
      throw fail('busy', { detail: 'Too many MACs are being judged: send this message again.', retryAfterSeconds: 10 });
    this.#requireFewWasted(subscriber, rounds);
    this.#add(subscriber, rounds);
    try {
      return await inTurn(`cmp-mac/${this.#name}/${subscriber}`, () => this.#judgeInTurn(subscriber, rounds, work));
    } finally {
      this.#add(subscriber, -rounds);
    }
  }

  async #judgeInTurn<T>(subscriber: string, rounds: number, work: () => Promise<T | undefined>): Promise<T | undefined> {
    // Those before it may have proven nothing meanwhile.
    this.#requireFewWasted(subscriber, rounds);
    let proven: T | undefined;
    try {
      proven = await this.#threads.run(work);
      return proven;
    } finally {
      if (proven === undefined) this.#waste(subscriber, rounds);
    }
  }

  #add(subscriber: string, rounds: number): void {
    const left = (this.#underWay.get(subscriber) ?? 0) + rounds;
    if (left === 0) this.#underWay.delete(subscriber);
    else this.#underWay.set(subscriber, left);
    this.#ofAll += rounds;
  }

  #requireFewWasted(subscriber: string, rounds: number): void {
    const wasted = this.#wastedOf(subscriber);
    if (wasted === undefined || wasted.rounds + rounds <= macRounds.ofAddress) return;
    const retryAfterSeconds = Math.ceil((wasted.sinceMs + windowMs - this.#clock.monotonicMs()) / 1000);
    throw fail('rate-limited', {
      detail: 'Too much work for MACs that proved nothing from this address; try again later.',
      retryAfterSeconds,
    });
  }

  #waste(subscriber: string, rounds: number): void {
    const { sinceMs, rounds: before } = this.#wastedOf(subscriber) ?? { sinceMs: this.#clock.monotonicMs(), rounds: 0 };
    this.#wasted.set(subscriber, { sinceMs, rounds: before + rounds });
    const [oldest] = this.#wasted.keys();
    if (this.#wasted.size > mostAddresses && oldest !== undefined) this.#wasted.delete(oldest);
  }

  /** Returns what the address has wasted within the minute. */
  #wastedOf(subscriber: string): Wasted | undefined {
    const wasted = this.#wasted.get(subscriber);
    if (wasted === undefined || this.#clock.monotonicMs() - wasted.sinceMs < windowMs) return wasted;
    this.#wasted.delete(subscriber);
    return undefined;
  }
}
