// The long part of a rotation: rewraps every key under the wrapping key in use, then destroys the old wrapping keys. One process does it,
// in small transactions. It may be interrupted at any line: each blob names its wrapping key, so the work continues where it was.
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock, Job, Log } from '../../core/base/context.ts';
import type { KeyHolder } from '../../core/plugin/services/wrapping-keys.ts';
import { piecesOf } from '../../core/store/records/pieces.ts';
import { isRecordUnreadable, type Store, type Table, type WriteTransaction } from '../../core/store/store.ts';
import { systemTenantName } from '../../core/access/tenants.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { type Hsm, isKeyLost, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { readStoreKey, replaceStoreKey } from '../data-directory/store-key.ts';
import { beginning, type WrappingRecord, wrappingTable } from './record.ts';
import { describeKey } from './rotation.ts';

export type RewrappingParts = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  /** records the end of each rotation */
  readonly audit: Audit;
  /** the data directory, with the key of the store */
  readonly directory: string;
  /** The longest time from reading a record until the token has opened its keys. */
  readonly settleMs: number;
  /** Tells whether every appliance of a cluster keeps the key of the store under a wrapping key (shared-store-key.ts). */
  readonly isStoreKeyShared?: (number: number) => Promise<boolean>;
  /** Every record with wrapped keys, of all plugins. */
  wrappedKeys(): Iterable<KeyHolder>;
};

const lookEverySeconds = 1;
/** Records read before other work gets its turn. */
const lookedAtOnce = 200;
/**
 * Records committed together, of which a transaction of a shared store takes a part, and keys in the token at a time: requests run in
 * between.
 */
const committedTogether = 50;
const committedAtLeast = 10;
const rewrappedTogether = 4;
/** After this many walks that found keys and replaced none, the keys are damaged, and not just removed concurrently. */
const walksInVain = 2;
const sharedLookMs = 1_000;

/** Continues any rotation; runs in one process. */
export function rewrappingJob(parts: RewrappingParts): Job {
  const { store, hsm } = parts;
  const table = wrappingTable(store);
  const lookedAt = new Set<string>();
  return {
    name: 'rewrapping',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    async run(signal) {
      store.refresh();
      for (const name of hsm.wrappingKeys.holders()) {
        if (!lookedAt.has(name)) {
          await adoptWhatWasCut(parts, name);
          await goOnWhereOldOnesAre(parts, name);
        }
        lookedAt.add(name);
        if ((table.get([name])?.phase ?? 'done') !== 'done') await new Rewrapping(parts, table, name).finish(signal);
      }
    },
  };
}

/**
 * Of each appliance of a cluster, once per process: one that was interrupted when it was asked for a rotation continues it at its next
 * start, no matter which one leads the jobs.
 */
export function cutRotationJob(parts: Pick<RewrappingParts, 'store' | 'hsm' | 'clock'>): Job {
  const lookedAt = new Set<string>();
  return {
    name: 'cut-rotations',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      for (const name of parts.hsm.wrappingKeys.holders()) {
        if (!lookedAt.has(name)) await adoptWhatWasCut(parts, name);
        lookedAt.add(name);
      }
    },
  };
}

/** A wrapping key that the store does not know comes from an interrupted rotation or restore. */
async function adoptWhatWasCut({ store, hsm, clock }: Pick<RewrappingParts, 'store' | 'hsm' | 'clock'>, token: string): Promise<void> {
  const table = wrappingTable(store);
  const numbers = await hsm.wrappingKeys.list(token);
  const newest = numbers.at(-1) ?? 1;
  const isUnknown = (record: WrappingRecord | undefined): boolean => (record === undefined ? numbers.length > 1 : newest > record.number);
  store.refresh();
  if (!isUnknown(table.get([token]))) return;
  await store.write((transaction) => {
    if (isUnknown(transaction.get(table, [token])))
      transaction.put(table, [token], { ...beginning({ number: newest }, clock.now()), isAdopted: true });
  });
}

/**
 * Once per process: where old wrapping keys are left, some keys could not be rewrapped, or a restored token has them. With a token in each
 * appliance of a cluster, each destroys its own a while after the end (cluster/keys/transfer-part.ts).
 */
async function goOnWhereOldOnesAre({ store, hsm, isStoreKeyShared }: RewrappingParts, token: string): Promise<void> {
  const table = wrappingTable(store);
  if ((await hsm.wrappingKeys.list(token)).length < 2) return;
  const isByEach = isStoreKeyShared !== undefined && hsm.wrappingKeys.isGroup(token);
  await store.write((transaction) => {
    const record = transaction.get(table, [token]);
    if (record?.phase !== 'done' || (isByEach && record.failed === 0)) return;
    transaction.put(table, [token], { ...record, phase: 'rewrapping', failed: 0 });
  });
}

/** Result of a walk: keys found under an old wrapping key, and those of them that were rewrapped. */
type Tally = { found: number; replaced: number };

class Rewrapping {
  readonly #parts: RewrappingParts;
  readonly #table: Table<WrappingRecord>;
  readonly #token: string;

  constructor(parts: RewrappingParts, table: Table<WrappingRecord>, token: string) {
    this.#parts = parts;
    this.#table = table;
    this.#token = token;
  }

  /** Walks over all records until a walk finds no old key, then destroys the old wrapping keys. Rejects when the token is lost. */
  async finish(signal: AbortSignal): Promise<void> {
    for (let inVain = 0; ;) {
      this.#parts.store.refresh();
      const record = this.#table.get([this.#token]);
      if (record === undefined || record.phase === 'done' || signal.aborted) return;
      if (record.phase === 'destroying') return this.#destroyOld(record);
      const { found, replaced } = await this.#walk(record.number, signal);
      if (signal.aborted) return;
      if (found > 0) {
        inVain = replaced > 0 ? 0 : inVain + 1;
        if (inVain === walksInVain) return this.#giveUp(record, found);
        continue;
      }
      await this.#untilShared(record.number, signal);
      // A request that has just read a record must have opened its keys before the wrapping key is destroyed.
      await setTimeout(this.#parts.settleMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#change(record, { phase: 'destroying' });
    }
  }

  /** In a cluster the others have copies of the key of the store, which no walk finds. */
  async #untilShared(number: number, signal: AbortSignal): Promise<void> {
    const { isStoreKeyShared } = this.#parts;
    if (isStoreKeyShared === undefined) return;
    while (!signal.aborted && !(await isStoreKeyShared(number)))
      await setTimeout(sharedLookMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  async #giveUp(record: WrappingRecord, failed: number): Promise<void> {
    const { log, clock } = this.#parts;
    await this.#change(record, { phase: 'done', failed, finishedAt: formatTimestamp(clock.now()) });
    log.warn('some keys could not be rewrapped: the old wrapping key is kept, and the next start tries again', {
      token: this.#token,
      failed,
    });
    await this.#putOnRecord(record, { failed });
  }

  async #destroyOld(record: WrappingRecord): Promise<void> {
    const { hsm, log, clock } = this.#parts;
    const numbers = await hsm.wrappingKeys.list(this.#token);
    for (const number of numbers.filter((one) => one < record.number)) await hsm.wrappingKeys.destroy(this.#token, number);
    await this.#change(record, { phase: 'done', total: record.done, finishedAt: formatTimestamp(clock.now()) });
    log.info('the wrapping key was rotated and the old one destroyed', { token: this.#token, number: record.number, keys: record.done });
    await this.#putOnRecord(record);
  }

  /** The end of the rotation; with `failed` above 0 it is an incomplete one. */
  async #putOnRecord({ number, done }: WrappingRecord, { failed = 0 } = {}): Promise<void> {
    await this.#parts.audit.write({
      kind: 'rotation',
      occurredAt: formatTimestamp(this.#parts.clock.now()),
      requestId: randomUUID(),
      tenant: systemTenantName,
      path: '/v1/state/system/rotate-wrapping-key',
      ...(failed > 0 ? { code: 'incomplete' } : {}),
      requestParameters: { token: this.#token, number, keys: done, failed },
    });
  }

  /** Changes the record unless a key under an old wrapping key was committed since it was read. */
  async #change(seen: WrappingRecord, change: Partial<WrappingRecord>): Promise<void> {
    await this.#parts.store.write((transaction) => {
      const record = transaction.get(this.#table, [this.#token]);
      const isSame = record?.number === seen.number && record.phase === seen.phase && record.latecomers === seen.latecomers;
      if (isSame) transaction.put(this.#table, [this.#token], { ...record, ...change });
    });
  }

  async #walk(number: number, signal: AbortSignal): Promise<Tally> {
    await this.#count(number);
    const tally = await this.#rewrapStoreKey(number);
    let batch: KeyHolder[] = [];
    const isWhole = await isReadWhole(async () => {
      for await (const holder of this.#oldHolders(number)) {
        if (signal.aborted) return;
        batch.push(holder);
        if (batch.length < committedTogether) continue;
        await this.#rewrapBatch(number, batch, tally);
        batch = [];
      }
    });
    await this.#rewrapBatch(number, signal.aborted ? [] : batch, tally);
    // A key that does not open may need the old wrapping key, when somebody restores the missing part.
    return isWhole ? tally : { ...tally, found: tally.found + 1 };
  }

  /** Counts the keys to rewrap, for the progress. */
  async #count(number: number): Promise<void> {
    let left = this.#isStoreKeyOld(number) ? 1 : 0;
    await isReadWhole(async () => {
      for await (const { keys } of this.#oldHolders(number)) left += keys.filter((key) => this.#isOld(key, number)).length;
    });
    await this.#parts.store.write((transaction) => {
      const record = transaction.get(this.#table, [this.#token]);
      const isOurs = record?.number === number && record.phase === 'rewrapping' && record.total !== record.done + left;
      if (isOurs) transaction.put(this.#table, [this.#token], { ...record, total: record.done + left });
    });
  }

  /** Records with a key under an old wrapping key of the token; other work runs in between. */
  async *#oldHolders(number: number): AsyncIterable<KeyHolder> {
    let looked = 0;
    for (const holder of this.#parts.wrappedKeys()) {
      if (holder.keys.some((key) => this.#isOld(key, number))) yield holder;
      if (++looked % lookedAtOnce === 0) await setImmediate();
    }
  }

  #isOld({ stored }: KeyReference, number: number): boolean {
    return stored.token === this.#token && (this.#parts.hsm.wrappingKeys.numberOf(stored) ?? number) < number;
  }

  /** In a cluster each appliance sees to its own copy. */
  #isStoreKeyOld(number: number): boolean {
    const { directory, isStoreKeyShared } = this.#parts;
    return isStoreKeyShared === undefined && this.#isOld(readStoreKey(directory), number);
  }

  async #rewrapStoreKey(number: number): Promise<Tally> {
    if (!this.#isStoreKeyOld(number)) return { found: 0, replaced: 0 };
    const fresh = await this.#rewrap(readStoreKey(this.#parts.directory));
    if (fresh === undefined) return { found: 1, replaced: 0 };
    // Another process may have been first; the key is counted once.
    if (!this.#isStoreKeyOld(number)) return { found: 0, replaced: 0 };
    replaceStoreKey(this.#parts.directory, fresh);
    await this.#commit(number, () => 1);
    return { found: 1, replaced: 1 };
  }

  async #rewrapBatch(number: number, holders: readonly KeyHolder[], tally: Tally): Promise<void> {
    const waiting = holders.flatMap(({ keys }) => keys.filter((key) => this.#isOld(key, number)));
    tally.found += waiting.length;
    const fresh = new Map<StoredKey, StoredKey>();
    const work = async (): Promise<void> => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        const rewrapped = await this.#rewrap(key);
        if (rewrapped !== undefined) fresh.set(key.stored, rewrapped);
      }
    };
    await Promise.all(Array.from({ length: rewrappedTogether }, work));
    if (fresh.size === 0) return;
    const replace =
      (some: readonly KeyHolder[]) =>
      (transaction: WriteTransaction): number =>
        some.reduce((total, holder) => total + holder.replace(transaction, fresh), 0);
    const replaced = await Promise.all(piecesOf(holders, committedAtLeast).map((some) => this.#commit(number, replace(some))));
    tally.replaced += replaced.reduce((total, count) => total + count, 0);
  }

  /** Undefined, and a line in the log, for a key that cannot be used. Rejects when the token is unavailable. */
  async #rewrap(key: KeyReference): Promise<StoredKey | undefined> {
    try {
      return await this.#parts.hsm.wrappingKeys.rewrap(key);
    } catch (error) {
      if (!isKeyLost(error)) throw error;
      this.#parts.log.warn('a key could not be rewrapped', { key: describeKey(key.binding), reason: error.message });
      return undefined;
    }
  }

  /** Returns how many keys were replaced. */
  #commit(number: number, replace: (transaction: WriteTransaction) => number): Promise<number> {
    return this.#parts.store.write((transaction) => {
      const replaced = replace(transaction);
      const record = transaction.get(this.#table, [this.#token]);
      if (record?.number === number && replaced > 0) {
        const done = record.done + replaced;
        transaction.put(this.#table, [this.#token], { ...record, done, total: Math.max(record.total, done) });
      }
      return replaced;
    });
  }
}

/** Tells whether a walk over all records has passed over none. */
async function isReadWhole(walk: () => Promise<void>): Promise<boolean> {
  try {
    await walk();
    return true;
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
    return false;
  }
}
