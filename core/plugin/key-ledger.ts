// Ledger of key objects in tokens that no committed record owns, so that a crash leaves no unnamed object behind.
import { encodeHex } from '../base/bytes.ts';
import { defined } from '../base/defined.ts';
import type { Clock, Log } from '../base/context.ts';
import { fail } from '../base/errors.ts';
import {
  type Custody,
  type Hsm,
  isKeyLost,
  isMakingRepeatable,
  type KeyBinding,
  type KeyReference,
  type KeyType,
  type StoredKey,
} from '../../hsm/api.ts';
import { type Store, type StoreKey, type Table, type WriteTransaction } from '../store/store.ts';
import type { WrappingKeyRotation } from './services/wrapping-keys.ts';

/*
 * A key object and the record that owns it cannot be committed together: one is in the token, the other in the store. So an object is in
 * this ledger from before it is generated until the transaction that commits its owner, and again from the transaction that removes the
 * owner until the object is destroyed:
 *
 *   reserve ──► reserved ──► claim (owner committed) ──► owned, not in the ledger ──► disown (owner removed) ──► disowned
 *                  │                                                                                                │
 *                  └── abandoned (the maker ended, failed or took too long) ──► destroyed ◄─────────────────────────┘
 *
 * Keys in wrapped custody need none of this: they are gone with their blob.
 */

/** An entry of the ledger. */
export type PendingKey = KeyReference & {
  /** reserved or abandoned: the time in microseconds since 1970, and the appliance of a cluster; absent: disowned */
  readonly making?: { readonly since: number; readonly abandoned: boolean; readonly by?: string };
};

/** An entry as the CA wrote it before it used this ledger; `since` is an RFC 3339 timestamp. */
type FormerCaEntry = KeyReference & { readonly since: string; readonly doomed: boolean };

/** Record of the table of a ledger. Key: [key id of the binding, MAC of the stored key in hexadecimal]. */
export type KeyLedgerRecord = PendingKey | FormerCaEntry;

/** Age from which a reservation is abandoned: key generation never takes this long. */
const longestMakingMicros = 900_000_000;

/** Keys destroyed at the same time. */
const batch = 100;

export type KeyLedgerOptions = {
  readonly store: Pick<Store, 'write' | 'refresh' | 'appliance'>;
  readonly table: Table<KeyLedgerRecord>;
  readonly hsm: Pick<Hsm, 'reserve' | 'destroy'>;
  readonly clock: Clock;
  readonly log: Log;
  /** receives wrapped keys when they are claimed; absent if the caller notifies it */
  readonly rotation?: WrappingKeyRotation;
};

/** Ledger of one plugin, over its own table. */
export class KeyLedger {
  readonly #store: KeyLedgerOptions['store'];
  readonly #table: Table<KeyLedgerRecord>;
  readonly #hsm: KeyLedgerOptions['hsm'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rotation: WrappingKeyRotation | undefined;
  /** start of this process: earlier reservations belong to a process that has ended, or that will find them abandoned */
  readonly #startedAt: number;

  constructor({ store, table, hsm, clock, log, rotation }: KeyLedgerOptions) {
    this.#rotation = rotation;
    this.#store = store;
    this.#table = table;
    this.#hsm = hsm;
    this.#clock = clock;
    this.#log = log;
    this.#startedAt = this.#now();
  }

  /**
   * Reserves a key and makes it by `work`, which gets the reservation: undefined for a key that will be wrapped. After a failure that
   * may pass the key is made once more, under another reservation: an object of the first attempt may be invisible to this
   * process and appear in the next one, and two objects with one id are an unusable key. Rejects as `work`; then the
   * reservation is given up.
   */
  async make<T>(type: KeyType, binding: KeyBinding, custody: Custody, work: (reserved: StoredKey | undefined) => Promise<T>): Promise<T> {
    try {
      return await this.#makeOnce(type, binding, custody, work);
    } catch (error) {
      if (!isMakingRepeatable(error)) throw error;
      this.#log.warn('a key could not be made; it is tried once more', {
        key: binding.keyId,
        version: binding.version,
        reason: error.message,
      });
      return this.#makeOnce(type, binding, custody, work);
    }
  }

  async #makeOnce<T>(
    type: KeyType,
    binding: KeyBinding,
    custody: Custody,
    work: (reserved: StoredKey | undefined) => Promise<T>,
  ): Promise<T> {
    const reserved = await this.reserve(type, binding, custody);
    try {
      return await work(reserved);
    } catch (error) {
      if (reserved !== undefined) await this.#giveUp({ stored: reserved, binding }, error);
      throw error;
    }
  }

  /** Reserves a key before it is generated. Undefined for a key that will be wrapped. */
  async reserve(type: KeyType, binding: KeyBinding, custody: Custody): Promise<StoredKey | undefined> {
    const stored = await this.#hsm.reserve(type, binding, custody);
    if (stored === undefined) return undefined;
    const by = defined({ by: this.#store.appliance });
    const entry: PendingKey = { stored, binding, making: { since: this.#now(), abandoned: false, ...by } };
    await this.#store.write((transaction) => transaction.put(this.#table, entryKey(entry), entry));
    return stored;
  }

  /**
   * Claims reserved keys, inside the transaction that commits their owner. Throws `conflict` if one was abandoned meanwhile, and for a wrapped one
   * as WrappingKeyRotation.admit.
   */
  claim(transaction: WriteTransaction, references: readonly KeyReference[]): void {
    this.#rotation?.admit(
      transaction,
      references.map(({ stored }) => stored),
    );
    for (const reference of references.filter(isTokenKey)) {
      const key = entryKey(reference);
      if (this.#read(transaction, key)?.making?.abandoned !== false)
        throw fail('conflict', { detail: 'Making the key took too long, and it was given up; try again.', overtaken: true });
      transaction.delete(this.#table, key);
    }
  }

  /** Disowns keys, inside the transaction that removes their owner: they are then to be destroyed. */
  disown(transaction: WriteTransaction, references: readonly KeyReference[]): void {
    for (const { stored, binding } of references.filter(isTokenKey)) {
      transaction.put(this.#table, entryKey({ stored, binding }), { stored, binding });
    }
  }

  /**
   * Destroys keys after the commit that disowned them, or if they were made in vain. A key with an owner is left alone. Wrapped
   * keys are unloaded. Never rejects: keys that cannot be destroyed now are left to `sweep`.
   */
  async destroy(references: readonly KeyReference[]): Promise<void> {
    this.#store.refresh();
    for (let at = 0; at < references.length; at += batch) {
      await Promise.all(references.slice(at, at + batch).map((one) => (isTokenKey(one) ? this.#settle(one) : this.#isDestroyed(one))));
    }
  }

  /** Destroys everything in the ledger under a key id, including reservations. False if some of it must wait for its token. */
  async destroyAllOf(keyId: string): Promise<boolean> {
    this.#store.refresh();
    let complete = true;
    for (const [key, record] of Array.from(this.#table.entries([keyId]))) complete = (await this.#end(key, normalised(record))) && complete;
    return complete;
  }

  /**
   * Destroys leftovers of a crash or an unreachable token; called periodically. Reservations of this process, and of other appliances of a
   * cluster, are left alone until they are too old. Those of earlier processes are abandoned at once; as one of these may still be running,
   * the entry is kept until its key generation must have ended.
   */
  async sweep(): Promise<void> {
    this.#store.refresh();
    for (const [key, record] of Array.from(this.#table.entries([]))) {
      const entry = normalised(record);
      const isUnderWay = entry.making?.abandoned === false && this.#isYoung(entry) && this.#mayBeMade(entry.making);
      if (!isUnderWay) await this.#end(key, entry);
    }
  }

  /** All entries, for the invariant check: no key in the ledger may have an owner. */
  *entries(): Iterable<PendingKey> {
    for (const [, record] of this.#table.entries([])) yield normalised(record);
  }

  /**
   * Abandons a key after an error that made it useless. Never rejects. If this process may not see the leftovers, the entry stays, as that of a maker
   * that ended: the next start looks again.
   */
  async #giveUp(reference: KeyReference, error: unknown): Promise<void> {
    if (!isMakingRepeatable(error)) return this.destroy([reference]);
    const isPending = await this.#abandon(entryKey(reference)).catch(() => false);
    if (isPending) await this.#isDestroyed(reference);
  }

  /** Abandons, destroys and forgets one key; false if its token must be asked again. */
  async #end(key: StoreKey, entry: PendingKey): Promise<boolean> {
    if (!(await this.#abandon(key))) return true;
    if (!(await this.#isDestroyed(entry))) return false;
    if (entry.making === undefined || !this.#isYoung(entry)) await this.#forget(key);
    return true;
  }

  /** As #end, for the maker of a key: no other process is generating it. */
  async #settle(reference: KeyReference): Promise<void> {
    const key = entryKey(reference);
    const isPending = await this.#abandon(key).catch(() => false);
    if (isPending && (await this.#isDestroyed(reference))) await this.#forget(key);
  }

  /** Marks a key so that it cannot be claimed. False if it is not in the ledger: it was claimed, or is destroyed already. */
  async #abandon(key: StoreKey): Promise<boolean> {
    const known = this.#table.get(key);
    if (known === undefined) return false;
    if (normalised(known).making?.abandoned !== false) return true;
    return this.#store.write((transaction) => {
      const entry = this.#read(transaction, key);
      if (entry?.making?.abandoned === false) transaction.put(this.#table, key, { ...entry, making: { ...entry.making, abandoned: true } });
      return entry !== undefined;
    });
  }

  async #isDestroyed({ stored, binding }: KeyReference): Promise<boolean> {
    try {
      await this.#hsm.destroy({ stored, binding });
      return true;
    } catch (error) {
      if (isKeyLost(error) || stored.custody !== 'token') return true;
      const { keyId, version } = binding;
      this.#log.warn('a removed key could not be destroyed in its token yet; it is tried again', { key: keyId, version });
      return false;
    }
  }

  /** Removes an entry. If that fails, the next sweep finds and forgets it. */
  async #forget(key: StoreKey): Promise<void> {
    await this.#store.write((transaction) => transaction.delete(this.#table, key)).catch(() => undefined);
  }

  #read(transaction: WriteTransaction, key: StoreKey): PendingKey | undefined {
    const record = transaction.get(this.#table, key);
    return record === undefined ? undefined : normalised(record);
  }

  /** Tells whether its maker may still be at work: this process, or another appliance, whose processes are unknown here. */
  #mayBeMade({ since, by }: NonNullable<PendingKey['making']>): boolean {
    return by !== this.#store.appliance || since >= this.#startedAt;
  }

  #isYoung({ making }: PendingKey): boolean {
    return making !== undefined && making.since > this.#now() - longestMakingMicros;
  }

  #now(): number {
    return this.#clock.now().epochMilliseconds * 1000;
  }
}

function normalised(record: KeyLedgerRecord): PendingKey {
  if (!('doomed' in record)) return record;
  const { stored, binding, since, doomed } = record;
  return { stored, binding, making: { since: Temporal.Instant.from(since).epochMilliseconds * 1000, abandoned: doomed } };
}

function isTokenKey({ stored }: KeyReference): boolean {
  return stored.custody === 'token';
}

/** Key of an entry: the MAC distinguishes two keys that were made for the same version at the same time. */
function entryKey({ stored, binding }: KeyReference): StoreKey {
  return [binding.keyId, encodeHex(stored.mac)];
}
