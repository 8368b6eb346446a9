// Limits wrong secrets: ten a minute for each CA and address, counted in the store, so that all worker processes count together.
import { parseAddress } from '../base/addresses.ts';
import { encodeUtf8 } from '../base/bytes.ts';
import type { Clock } from '../base/context.ts';
import { fail } from '../base/errors.ts';
import { writeInPieces } from '../store/records/pieces.ts';
import { type Store, type StoreKey, type Table, Unreadable } from '../store/store.ts';

/** More wrong secrets than these in the window are `rate-limited`. */
const maxFailures = 10;
/** Failures after which short secrets are no longer compared: they could be guessed at this rate. */
const maxGuesses = 100;
/** Longer secrets cannot be guessed at the rate the appliance answers: ten thousand a second are 2^38 in a year. */
const guessableOctets = 15;
const windowSeconds = 60;
/** The failures in refusals, unless named otherwise. */
const wrongSecrets = 'wrong secrets';

/** Failures since the first one of the window. Key: [CA id, address]. */
export type Failures = { readonly sinceMs: number; readonly count: number };

export class FailureLimit {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #table: Table<Failures>;

  /** `table`: of the plugin, in the same store. */
  constructor(store: Store, clock: Clock, table: Table<Failures>) {
    this.#store = store;
    this.#clock = clock;
    this.#table = table;
  }

  /**
   * Throws `rate-limited` when the secret of the CA may not be compared with one from this address. A right secret passes whatever others
   * behind the same address have sent, unless it is short enough to be guessed.
   */
  requireComparable(secret: string, caId: string, address: string): void {
    if (encodeUtf8(secret).length <= guessableOctets) this.#refuse(this.#table.get(keyOf(caId, address)), maxGuesses);
  }

  /**
   * Throws `rate-limited` for an address from which so much was counted that no more is looked at; `strictly`: as soon as one more would be too many.
   * `what` was counted, in words; `running`: attempts of the address that may fail yet.
   */
  requireBelow(
    caId: string,
    address: string,
    { strictly, what, running = 0 }: { readonly strictly: boolean; readonly what: string; readonly running?: number | undefined },
  ): void {
    this.#refuse(this.#table.get(keyOf(caId, address)), (strictly ? maxFailures : maxGuesses) - running, what);
  }

  /** Counts one more; throws `rate-limited` when it is one too many. */
  async count(caId: string, address: string, what = wrongSecrets): Promise<void> {
    const key = keyOf(caId, address);
    // Over the limit nothing is counted, which saves the write.
    this.#refuse(this.#table.get(key), maxGuesses, what);
    const counted = await this.#store.write((transaction) => {
      const present = transaction.get(this.#table, key);
      const nowMs = this.#nowMs();
      const next =
        present === undefined || this.#secondsLeft(present) <= 0 ? { sinceMs: nowMs, count: 1 } : { ...present, count: present.count + 1 };
      transaction.put(this.#table, key, next);
      return next;
    });
    this.#refuse(counted, maxFailures + 1, what);
  }

  /** Deletes windows that have ended. */
  async sweep(): Promise<void> {
    this.#store.refresh();
    const isOver = (failures: Failures | Unreadable): boolean => failures instanceof Unreadable || this.#secondsLeft(failures) <= 0;
    const over = Array.from(this.#table.entriesFound([])).filter(([, failures]) => isOver(failures));
    await writeInPieces(this.#store, over, (transaction, [key]) => transaction.delete(this.#table, key));
  }

  #refuse(failures: Failures | undefined, limit: number, what = wrongSecrets): void {
    if (failures === undefined || failures.count < limit) return;
    const retryAfterSeconds = Math.ceil(this.#secondsLeft(failures));
    if (retryAfterSeconds <= 0) return;
    throw fail('rate-limited', { detail: `Too many ${what} from this address; try again later.`, retryAfterSeconds });
  }

  /** A clock that was set back must not extend a lock-out. */
  #secondsLeft({ sinceMs }: Failures): number {
    const age = (this.#nowMs() - sinceMs) / 1000;
    return age < 0 ? 0 : windowSeconds - age;
  }

  #nowMs(): number {
    return this.#clock.now().epochMilliseconds;
  }
}

/** Key of a subscriber, who has a whole /64 of IPv6 addresses. */
function keyOf(caId: string, text: string): StoreKey {
  const address = parseAddress(text);
  return [caId, address?.bits === 128 ? (address.value >> 64n).toString(16).padStart(16, '0') : (text.split('%')[0] ?? '')];
}
