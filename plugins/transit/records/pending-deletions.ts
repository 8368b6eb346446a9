// Token objects that no version holds: written down before they are made and with the change that removes them, destroyed until they are gone.
import { encodeHex } from '../../../core/base/bytes.ts';
import type { Clock, Log } from '../../../core/base/context.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { Store, StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { type Custody, type Hsm, isKeyLost, type KeyBinding, type KeyReference, type KeyType, type StoredKey } from '../../../hsm/api.ts';
import { microseconds } from '../instants.ts';
import type { BuriedKey, Tables } from './records.ts';

/** No making takes longer: a key whose record is older than this comes into being no more. */
const longestMakingMicros = 900_000_000;

/**
 * Keeps the token free of forgotten objects. A token-custody key is in here from before it is made until its version claims it, and again
 * from the change that removes the version until the object is gone: whenever a crash comes, a record here names what it left.
 * Wrapped keys never come in here: they are gone with their blob.
 */
export class Graveyard {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #hsm: Hsm;
  readonly #clock: Clock;
  readonly #log: Log;
  /** what was being made before is under way no more: whoever made it has ended with the appliance */
  readonly #startedAt: number;

  constructor(parts: { store: Store; tables: Tables; hsm: Hsm; clock: Clock; log: Log }) {
    this.#store = parts.store;
    this.#tables = parts.tables;
    this.#hsm = parts.hsm;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#startedAt = microseconds(parts.clock.now());
  }

  /** Before a key is made: puts on record what it will be. Undefined for a key that will be wrapped. */
  async reserve(type: KeyType, binding: KeyBinding, custody: Custody): Promise<StoredKey | undefined> {
    const stored = await this.#hsm.reserve(type, binding, custody);
    if (stored === undefined) return undefined;
    const making = { since: microseconds(this.#clock.now()), abandoned: false };
    await this.#store.write((transaction) =>
      transaction.put(this.#tables.graveyard, graveOf(stored, binding), { stored, binding, making }),
    );
    return stored;
  }

  /** Inside the transaction that commits the version of a reserved key. Throws conflict when the key was given up meanwhile. */
  claim(transaction: WriteTransaction, references: readonly KeyReference[]): void {
    for (const { stored, binding } of references) {
      if (stored.custody !== 'token') continue;
      const grave = graveOf(stored, binding);
      if (transaction.get(this.#tables.graveyard, grave)?.making?.abandoned !== false)
        throw coreFail('conflict', { detail: 'The new key was given up after a restart meanwhile; try again.', overtaken: true });
      transaction.delete(this.#tables.graveyard, grave);
    }
  }

  /** Inside the transaction that removes the keys' records. */
  bury(transaction: WriteTransaction, references: readonly KeyReference[]): void {
    for (const { stored, binding } of references) {
      if (stored.custody === 'token') transaction.put(this.#tables.graveyard, graveOf(stored, binding), { stored, binding });
    }
  }

  /** After the commit, or when a key was made for nothing: destroys token objects and lets the token forget loaded keys. Never rejects. */
  async destroy(references: readonly KeyReference[]): Promise<void> {
    for (let at = 0; at < references.length; at += 100) {
      await Promise.all(
        references.slice(at, at + 100).map(async (reference) => {
          if (await this.#isGone(reference)) await this.#forget(reference);
        }),
      );
    }
  }

  /**
   * The job's work: whatever a crash or an absent token left over. A key that another process is making all the same, because only this
   * one was started again, is found given up when it is to be claimed; its record stays until its making must have ended.
   */
  async clear(): Promise<void> {
    const oldest = microseconds(this.#clock.now()) - longestMakingMicros;
    for (const [grave, buried] of Array.from(this.#tables.graveyard.entries([]))) {
      const young = buried.making !== undefined && buried.making.since > oldest;
      if (young && buried.making.since >= this.#startedAt && !buried.making.abandoned) continue;
      const given = await this.#giveUp(grave);
      if (given && (await this.#isGone(buried)) && !young) await this.#forget(buried);
    }
  }

  /** Answers false for a key that was claimed at the last moment. */
  #giveUp(grave: StoreKey): Promise<boolean> {
    return this.#store.write((transaction) => {
      const buried: BuriedKey | undefined = transaction.get(this.#tables.graveyard, grave);
      if (buried?.making?.abandoned === false)
        transaction.put(this.#tables.graveyard, grave, { ...buried, making: { ...buried.making, abandoned: true } });
      return buried !== undefined;
    });
  }

  async #isGone({ stored, binding }: KeyReference): Promise<boolean> {
    try {
      await this.#hsm.destroy({ stored, binding });
      return true;
    } catch (error) {
      if (isKeyLost(error)) return true;
      // A wrapped key has gone with its blob; the token only forgets it a little later than it could.
      if (stored.custody !== 'token') return true;
      const { keyId, version } = binding;
      this.#log.warn('a removed key could not be destroyed in its token yet; it is tried again', { key: keyId, version });
      return false;
    }
  }

  async #forget({ stored, binding }: KeyReference): Promise<void> {
    if (stored.custody !== 'token') return;
    await this.#store.write((transaction) => transaction.delete(this.#tables.graveyard, graveOf(stored, binding))).catch(() => undefined);
  }
}

/** The MAC tells two keys apart that were made for the same version at once. */
function graveOf({ mac }: StoredKey, { keyId }: KeyBinding): StoreKey {
  return [keyId, encodeHex(mac)];
}
