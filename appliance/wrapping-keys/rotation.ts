// Rotation of a token's wrapping key without downtime: the new one is used at once, and rewrapping.ts rewraps every key afterwards.
//
// The token has the wrapping keys, the store the number of the one in use, every blob the number of its own. A crash at any line is
// repaired from these: a wrapping key that the store does not know yet is put into use, and blobs under an older one are rewrapped.
import type { Clock, CheckFinding } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { KeyHolder, WrappingKeyRotation } from '../../core/plugin/services/wrapping-keys.ts';
import type { Store, Table, WriteTransaction } from '../../core/store/store.ts';
import type { Hsm, KeyReference, OwnKeyName, StoredKey } from '../../hsm/api.ts';
import type { Transport } from '../../hsm/setup/setup.ts';
import { beginning, describeWrapping, type WrappingRecord, type WrappingState, wrappingTable } from './record.ts';

type RotationParts = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  /** carries the keys after those in use to every token of a group; absent in tools that rotate nothing */
  readonly carry?: CarryKeys | undefined;
};

/** Carried keys. `settle`: to be done in the transaction that puts them into use. */
export type Carried = OwnKeyName & Pick<WrappingRecord, 'holders'> & { readonly settle?: (transaction: WriteTransaction) => void };

/** An appliance that is about to join, whose token takes part. */
export type Invited = { readonly appliance: string; readonly name: string; readonly transport: Transport };

/** Rejects with HsmError; in a cluster also with ServiceError. */
export type CarryKeys = (group: string, inUse: OwnKeyName, invited?: Invited) => Promise<Carried>;

export class WrappingRotation implements WrappingKeyRotation {
  readonly #store: Store;
  readonly #hsm: Hsm;
  readonly #clock: Clock;
  readonly #table: Table<WrappingRecord>;
  readonly #carry: CarryKeys | undefined;

  /** From now on every key that this process makes is wrapped under the wrapping key in use. */
  constructor({ store, hsm, clock, carry }: RotationParts) {
    this.#store = store;
    this.#hsm = hsm;
    this.#carry = carry;
    this.#clock = clock;
    this.#table = wrappingTable(store);
    hsm.wrappingKeys.follow(
      (token) => this.#table.get([token])?.number ?? 1,
      (token) => this.#table.get([token])?.carrying,
    );
  }

  /** The state of a token's wrapping key. */
  state(token: string): WrappingState {
    return describeWrapping(this.#table.get([token]));
  }

  /**
   * Notes which wrapping key a new store begins with, where a token has others than the first: another store has rotated it before. Otherwise the first one
   * would be missed.
   */
  async beginStore(): Promise<void> {
    const { wrappingKeys } = this.#hsm;
    for (const token of wrappingKeys.holders()) {
      const numbers = await wrappingKeys.list(token);
      const number = numbers.at(-1);
      if (number === undefined || numbers.includes(1)) continue;
      const now = this.#clock.now();
      await this.#store.write((transaction) => {
        if (transaction.get(this.#table, [token]) === undefined)
          transaction.put(this.#table, [token], { ...beginning({ number }, now), phase: 'done', finishedAt: formatTimestamp(now) });
      });
    }
  }

  admit(transaction: WriteTransaction, stored: readonly StoredKey[]): void {
    for (const one of stored) {
      const record = transaction.get(this.#table, [one.token]);
      const number = this.#hsm.wrappingKeys.numberOf(one);
      if (record === undefined || number === undefined || number >= record.number) continue;
      if (record.phase !== 'rewrapping')
        throw fail('conflict', { detail: 'The wrapping key was rotated meanwhile; try again.', overtaken: true });
      transaction.put(this.#table, [one.token], { ...record, total: record.total + 1, latecomers: record.latecomers + 1 });
    }
  }

  /**
   * Makes a new wrapping key, which every process uses at once. `invited`: in a cluster, whose token gets it as well. Throws conflict
   * during a rotation, and as carryInCluster.
   */
  async begin(token: string, invited?: Invited): Promise<WrappingState> {
    this.#store.refresh();
    const before = this.#table.get([token]);
    if (before !== undefined && before.phase !== 'done') throw underWay();
    const { settle, ...next } = await this.#makeNext(token, before, invited);
    await this.#store.write((transaction) => {
      const current = transaction.get(this.#table, [token]);
      // The job that looks for interrupted rotations has seen the new key before the store knew of it.
      if (current?.number === next.number && current.isAdopted === true)
        return transaction.put(this.#table, [token], { ...current, isAdopted: false });
      if (current?.number !== before?.number || (current !== undefined && current.phase !== 'done')) throw underWay();
      settle?.(transaction);
      transaction.put(this.#table, [token], beginning(next, this.#clock.now()));
    });
    return this.state(token);
  }

  /** A number that the store does not know is from a rotation that was interrupted here: its key is used, and in a group never. */
  async #makeNext(token: string, before: WrappingRecord | undefined, invited?: Invited): Promise<Carried> {
    const { wrappingKeys } = this.#hsm;
    if (wrappingKeys.isGroup(token)) {
      if (this.#carry === undefined) throw new Error('nothing was given to carry keys by');
      return this.#carry(token, { number: before?.number ?? 1, carrying: before?.carrying }, invited);
    }
    const after = before?.number ?? (await wrappingKeys.list(token))[0] ?? 1;
    return { number: await wrappingKeys.makeNext(token, after) };
  }

  /** Finds keys whose wrapping key is missing, and wrapping keys that nothing needs. Tokens that are down are skipped. */
  async *findings(wrappedKeys: Iterable<KeyHolder>): AsyncIterable<CheckFinding> {
    this.#store.refresh();
    const present = new Map<string, readonly number[]>();
    for (const name of this.#hsm.wrappingKeys.holders()) {
      const numbers = await this.#hsm.wrappingKeys.list(name);
      present.set(name, numbers);
      yield* this.#findingsOf(name, numbers);
    }
    for (const { keys } of wrappedKeys) {
      for (const { stored, binding } of keys) {
        const number = this.#hsm.wrappingKeys.numberOf(stored);
        if (number === undefined || present.get(stored.token)?.includes(number) !== false) continue;
        yield { where: describeKey(binding), problem: `is under wrapping key ${number} of token ${stored.token}, which is not there` };
      }
    }
  }

  *#findingsOf(token: string, numbers: readonly number[]): Iterable<CheckFinding> {
    const record = this.#table.get([token]);
    const where = `token ${token}`;
    if (record === undefined) return;
    if (!numbers.includes(record.number)) yield { where, problem: `has no wrapping key ${record.number}` };
    const needless = numbers.filter((number) => number < record.number).join(', ');
    if (record.phase === 'done' && record.failed === 0 && needless !== '') yield { where, ...this.#needlessKeys(token, needless) };
    const begun = numbers.filter((number) => number > record.number).join(', ');
    if (begun !== '')
      yield {
        where,
        problem: `has wrapping key ${begun} of a rotation that was cut off at its beginning: the next start goes on with it`,
        isNote: true,
      };
  }

  /** The token of each appliance of a group destroys its own a while after the end of a rotation: one that stops before has them still. */
  #needlessKeys(token: string, numbers: string): Omit<CheckFinding, 'where'> {
    const problem = `has wrapping keys that nothing needs: ${numbers}`;
    return this.#hsm.wrappingKeys.isGroup(token)
      ? { problem: `${problem}; it destroys them when the appliance runs`, isNote: true }
      : { problem };
  }
}

/** The id of a key for people. */
export function describeKey({ tenant, keyId, version, purpose }: KeyReference['binding']): string {
  return `${tenant}/${keyId}/${version} ${purpose}`;
}

function underWay(): Error {
  return fail('conflict', { detail: 'The wrapping key of this token is being rotated already.' });
}
