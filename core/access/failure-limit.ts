// Limits wrong secrets: ten a minute for each CA, or other holder of a secret, and address, counted in the store, so that all worker processes count
// together.
import { subscriberOf } from '../base/addresses.ts';
import { encodeUtf8 } from '../base/bytes.ts';
import type { Clock } from '../base/context.ts';
import { fail } from '../base/errors.ts';
import type { Store, StoreKey, Table } from '../store/store.ts';
import { RecentFailures } from '../store/records/recent-failures.ts';

/** More wrong secrets than these in the window are `rate-limited`. */
const maxFailures = 10;
/** Failures after which short secrets are no longer compared: they could be guessed at this rate. */
const maxGuesses = 100;
/** Longer secrets cannot be guessed at the rate the appliance answers: ten thousand a second are 2^38 in a year. */
const guessableOctets = 15;
/** The failures in refusals, unless named otherwise. */
const wrongSecrets = 'wrong secrets';

/** Times of the failures of the last minute, with what earlier versions write and read: the first of them, and how many. */
export type Failures = { readonly sinceMs: number; readonly count: number; readonly at?: readonly number[] };

export class FailureLimit {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #failures: RecentFailures<Failures>;

  /** `table`: of the plugin, in the same store. Keys: [CA id, subscriber]. */
  constructor(store: Store, clock: Clock, table: Table<Failures>) {
    this.#store = store;
    this.#clock = clock;
    this.#failures = new RecentFailures({
      table,
      remembered: maxGuesses,
      timesOf: ({ sinceMs, count, at = [] }) =>
        at.length === count ? at : Array.from({ length: Math.min(count, maxGuesses) }, () => sinceMs),
      recordOf: (at) => ({ sinceMs: at[0] as number, count: at.length, at }),
    });
  }

  /**
   * Throws `rate-limited` when the secret of the CA may not be compared with one from this address. A right secret passes whatever others
   * behind the same address have sent, unless it is short enough to be guessed.
   */
  requireComparable(secret: string, caId: string, address: string): void {
    if (encodeUtf8(secret).length <= guessableOctets) this.#refuse(keyOf(caId, address), maxGuesses);
  }

  /**
   * Throws `rate-limited` for an address from which so much was counted that nothing further is looked at; `strictly`: as soon as one more would be too many.
   * `what` was counted, in words; `running`: attempts of the address that may fail yet.
   */
  requireBelow(
    caId: string,
    address: string,
    { strictly, what, running = 0 }: { readonly strictly: boolean; readonly what: string; readonly running?: number | undefined },
  ): void {
    this.#refuse(keyOf(caId, address), (strictly ? maxFailures : maxGuesses) - running, what);
  }

  /** Counts one more; throws `rate-limited` when it is one too many. */
  async count(caId: string, address: string, what = wrongSecrets): Promise<void> {
    const key = keyOf(caId, address);
    // Over the limit nothing is counted, which saves the write.
    this.#refuse(key, maxGuesses, what);
    const waitSeconds = await this.#store.write((transaction) => {
      this.#failures.count(transaction, key, this.#nowMs());
      return this.#failures.secondsToWait(key, maxFailures + 1, this.#nowMs(), (table, at) => transaction.get(table, at));
    });
    requireNoWait(waitSeconds, what);
  }

  /** Deletes what no longer counts. */
  async sweep(): Promise<void> {
    this.#store.refresh();
    await this.#failures.dropOld(this.#store, this.#nowMs());
  }

  #refuse(key: StoreKey, limit: number, what = wrongSecrets): void {
    requireNoWait(this.#failures.secondsToWait(key, limit, this.#nowMs()), what);
  }

  #nowMs(): number {
    return this.#clock.now().epochMilliseconds;
  }
}

function requireNoWait(waitSeconds: number, what: string): void {
  if (waitSeconds <= 0) return;
  const retryAfterSeconds = Math.ceil(waitSeconds);
  throw fail('rate-limited', { detail: `Too many ${what} from this address; try again later.`, retryAfterSeconds });
}

function keyOf(caId: string, address: string): StoreKey {
  return [caId, subscriberOf(address)];
}
