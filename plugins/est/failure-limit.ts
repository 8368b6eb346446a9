// Limits wrong secrets: ten a minute per CA and address, counted in the store so that all worker processes count together.
import { isIPv6 } from 'node:net';
import type { Clock } from '../../core/context.ts';
import { fail } from '../../core/errors.ts';
import type { Store, StoreKey, Table } from '../../core/store/store.ts';
import { parseIpAddress } from './ca/ip.ts';

const maxFailures = 10;
const windowSeconds = 60;

/** Failures since the first one of the window. Key: [CA id, address]. */
type Failures = { readonly sinceMs: number; readonly count: number };

export class FailureLimit {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #table: Table<Failures>;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#table = store.table('secret-failures');
  }

  /** Throws `rate-limited` when there were too many: then not even a right secret is looked at. */
  requireBelow(caId: string, address: string): void {
    this.#refuse(this.#table.get(keyOf(caId, address)), maxFailures);
  }

  /** Counts one more; throws `rate-limited` when it is one too many, which attempts made at the same time can be. */
  async count(caId: string, address: string): Promise<void> {
    const key = keyOf(caId, address);
    const counted = await this.#store.write((transaction) => {
      const present = transaction.get(this.#table, key);
      const nowMs = this.#nowMs();
      const next =
        present === undefined || this.#secondsLeft(present) <= 0 ? { sinceMs: nowMs, count: 1 } : { ...present, count: present.count + 1 };
      transaction.put(this.#table, key, next);
      return next;
    });
    this.#refuse(counted, maxFailures + 1);
  }

  /** Forgets windows that are over. */
  async sweep(): Promise<void> {
    this.#store.refresh();
    const over = Array.from(this.#table.entries([])).filter(([, failures]) => this.#secondsLeft(failures) <= 0);
    if (over.length === 0) return;
    await this.#store.write((transaction) => {
      for (const [key] of over) transaction.delete(this.#table, key);
    });
  }

  #refuse(failures: Failures | undefined, limit: number): void {
    if (failures === undefined || failures.count < limit) return;
    const retryAfterSeconds = Math.ceil(this.#secondsLeft(failures));
    if (retryAfterSeconds <= 0) return;
    throw fail('rate-limited', { detail: 'Too many wrong secrets from this address; try again later.', retryAfterSeconds });
  }

  /** A clock that was set back must not lock anybody out for longer. */
  #secondsLeft({ sinceMs }: Failures): number {
    const age = (this.#nowMs() - sinceMs) / 1000;
    return age < 0 ? 0 : windowSeconds - age;
  }

  #nowMs(): number {
    return this.#clock.now().epochMilliseconds;
  }
}

/** One subscriber has a whole /64 of IPv6 addresses. */
function keyOf(caId: string, address: string): StoreKey {
  const plain = address.split('%')[0] ?? '';
  return [caId, isIPv6(plain) ? Buffer.from(parseIpAddress(plain).subarray(0, 8)).toString('hex') : plain];
}
