// The keys of issuers: fetched by one process for all, kept with a time, dropped when they leave the set, and used for a day without the issuer.
import { setTimeout } from 'node:timers/promises';
import { inCourseOf } from '../../../core/base/async/last-resort.ts';
import type { Clock } from '../../../core/base/context.ts';
import { decodeTimestamp, formatTimestamp } from '../../../core/base/time.ts';
import { getIfOpen, getOrDrop, type Store, type Table } from '../../../core/store/store.ts';
import { failJwt } from '../errors.ts';
import type { IssuerRecord } from '../records/issuer-record.ts';
import type { VerificationKey } from '../token/judge.ts';
import { reasonForAdministrators } from './fetch-keys.ts';
import { keptKeySeconds, type KeyRecord, longestAttemptSeconds, refreshSeconds, retrySeconds, unknownKeySeconds } from './key-record.ts';
import { openKeys, readStaticKeys, type KeySet } from './key-set.ts';

/** An issuer with its names. */
export type LocatedIssuer = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly issuer: string;
  readonly record: IssuerRecord;
};

export type IssuerKeysParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly table: Table<KeyRecord>;
  /** Fetches the keys from the issuer. Rejects with what reasonForAdministrators explains. */
  readonly fetch: (located: LocatedIssuer) => Promise<KeySet>;
};

export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  /** attempts of this process under way, by tenant and issuer */
  readonly #running = new Map<string, Promise<void>>();
  readonly #static = new WeakMap<IssuerRecord, readonly VerificationKey[]>();

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
  }

  /**
   * The keys for a token that names this kid. They are fetched when they are too old or do not have it, as often as the limits allow; an attempt
   * that fails leaves them as they are. Throws `issuer-unavailable` if it has no keys that are young enough.
   */
  async keysFor(located: LocatedIssuer, kid: string | undefined): Promise<readonly VerificationKey[]> {
    if (located.record.staticKeys !== undefined) return this.#staticKeysOf(located.record);
    let kept = this.find(located);
    const knows = kept !== undefined && (kid === undefined || kept.keys.some((key) => key.kid === kid));
    if (!this.#isUsable(kept) || !knows) {
      await this.#refreshOnce(located, this.#isUsable(kept) ? unknownKeySeconds : retrySeconds);
      kept = this.find(located);
    }
    if (kept === undefined || !this.#isUsable(kept)) throw failJwt('issuer-unavailable', { retryAfterSeconds: retrySeconds });
    return openKeys(kept.keys);
  }

  /** Tells whether keys that need no fetch may have signed a token with this kid, as its header has it. */
  knows(located: LocatedIssuer, kid: unknown): boolean {
    const isNamed = (key: Pick<VerificationKey, 'kid' | 'anyKid'>): boolean => kid === undefined || key.anyKid === true || key.kid === kid;
    if (located.record.staticKeys !== undefined) return this.#staticKeysOf(located.record).some(isNamed);
    const kept = this.find(located);
    return kept !== undefined && this.#isUsable(kept) && kept.keys.some(isNamed);
  }

  /** The record of the keys of this source, if there was an attempt to fetch them. */
  find({ tenantId, issuer, record }: LocatedIssuer): KeyRecord | undefined {
    const kept = getIfOpen(this.#parts.table, [tenantId, issuer]);
    return kept?.keySource === record.keySource ? kept : undefined;
  }

  /** Tells whether the job should fetch them. */
  isDue(located: LocatedIssuer): boolean {
    if (located.record.staticKeys !== undefined) return false;
    const kept = this.find(located);
    return kept === undefined || this.#ageOf(kept.triedTime) >= (kept.problem === undefined ? refreshSeconds : unknownKeySeconds);
  }

  /** Fetches them now, unless an attempt is younger than this. */
  async refresh(located: LocatedIssuer, notWithinSeconds: number): Promise<void> {
    await this.#refreshOnce(located, notWithinSeconds);
  }

  #isUsable(kept: KeyRecord | undefined): boolean {
    return kept?.fetchedTime !== undefined && this.#ageOf(kept.fetchedTime) < keptKeySeconds;
  }

  /** Seconds since then. A time ahead of the clock, which was set back since, is as old as can be. */
  #ageOf(time: string): number {
    const atMs = decodeTimestamp(time)?.epochMilliseconds ?? 0;
    const age = (this.#parts.clock.now().epochMilliseconds - atMs) / 1_000;
    return age < -300 ? Infinity : age;
  }

  #staticKeysOf(record: IssuerRecord): readonly VerificationKey[] {
    let keys = this.#static.get(record);
    if (keys === undefined) this.#static.set(record, (keys = openKeys(readStaticKeys(record.staticKeys ?? ''))));
    return keys;
  }

  /** Callers at the same time share one attempt, also those of other processes. */
  #refreshOnce(located: LocatedIssuer, notWithinSeconds: number): Promise<void> {
    const name = `${located.tenantId} ${located.issuer} ${located.record.keySource}`;
    const running = this.#running.get(name) ?? this.#attempt(located, notWithinSeconds).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #attempt(located: LocatedIssuer, notWithinSeconds: number): Promise<void> {
    const { store, table, clock } = this.#parts;
    const { tenantId, issuer, record } = located;
    const key = [tenantId, issuer];
    const claimed = await store.write((transaction) => {
      const found = getOrDrop(transaction, table, key);
      const kept = found?.keySource === record.keySource ? found : undefined;
      if (kept !== undefined && this.#ageOf(kept.triedTime) < notWithinSeconds) return false;
      const before = kept ?? { keySource: record.keySource, keys: [], skipped: [] };
      transaction.put(table, key, { ...before, triedTime: formatTimestamp(clock.now()), pending: true });
      return true;
    });
    if (!claimed) return this.#untilDone(located);
    const outcome = await this.#fetchSafely(located);
    await store.write((transaction) => {
      const kept = getOrDrop(transaction, table, key);
      if (kept?.keySource !== record.keySource) return;
      const { pending: _, problem: __, ...rest } = kept;
      const after = 'keys' in outcome ? { ...outcome, fetchedTime: formatTimestamp(clock.now()) } : outcome;
      transaction.put(table, key, { ...rest, ...after });
    });
    store.refresh();
  }

  /** An error of the call that nobody catches ends the attempt, and not the process. */
  async #fetchSafely(located: LocatedIssuer): Promise<KeySet | { readonly problem: string }> {
    try {
      return await new Promise<KeySet>((resolve, reject) => {
        const keep = ({ keys, skipped }: KeySet): void => resolve({ keys, skipped });
        inCourseOf(reject, () => void this.#parts.fetch(located).then(keep, reject));
      });
    } catch (error) {
      return { problem: reasonForAdministrators(error) };
    }
  }

  /** Waits for the attempt of another process, as long as one takes. */
  async #untilDone(located: LocatedIssuer): Promise<void> {
    for (let waited = 0; waited < longestAttemptSeconds * 1_000; waited += pollMs) {
      this.#parts.store.refresh();
      const kept = this.find(located);
      if (kept?.pending !== true || this.#ageOf(kept.triedTime) > longestAttemptSeconds) return;
      await setTimeout(pollMs);
    }
  }
}

const pollMs = 50;
