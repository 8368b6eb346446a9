// Counts the uses of each key version (api 74). Encryptions are reserved durably in blocks before they happen, so a crash never lowers their
// count. Signatures have no limit: their counts are stored within seconds.
import type { Log } from '../../../core/base/context.ts';
import type { Store, WriteTransaction } from '../../../core/store/store.ts';
import { reasonOf } from '../../../core/base/errors.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { type Key, type Version, removedMeanwhile } from './keyring.ts';
import type { Tables, UsageRecord } from './records.ts';

/** AES-GCM with random nonces must stop at 2^32 encryptions per key (NIST SP 800-38D section 8.3). */
const maxEncryptions = 2 ** 32;
/** Above this count, a warning is logged. */
const warnEncryptions = 2 ** 31;
/** Largest reserve: the most by which a crash of one worker overstates a count. */
const largestReserve = 65_536;

const smallestReserve = 16;
const flushEveryMs = 5_000;
const idleFlushes = 24;
/**
 * Versions that keep their smallest reserve while they are not used, so that their next encryption waits for no commit. A meter takes about
 * 0.8 KiB.
 */
const mostKept = 100_000;
/** Records written by one commit: other requests wait no longer, and the caches of other processes drop these records only. */
const recordsAtOnce = 500;
/** Most versions reserved ahead in the commit of one that needs it. */
const mostAhead = 63;
/** Versions used within this time are worth a reserve ahead; microseconds. */
const recentMicros = 24 * 3_600 * 1_000_000;

/** What the state shows of one version. */
export type UsageView = {
  /** encryptions, signatures and data keys made; after a crash it may lack the last five seconds */
  readonly uses: number;
  /** encryptions: never below the true count, and the limit applies to this */
  readonly usesAtMost: number;
  readonly rewrapped: number;
  readonly lastUsedAt?: number;
};

/** The key and the time of a use. */
type Use = { readonly key: Key; readonly now: number };

// One version in this process: what is left of its reserve, and counts that are not stored yet.
type Meter = {
  readonly storeKey: readonly [string, string, number];
  readonly limited: boolean;
  /** the store has a record: the version counts as used */
  opened: boolean;
  left: number;
  nextReserve: number;
  reserving: Promise<void> | undefined;
  uses: number;
  rewrapped: number;
  lastUsedAt: number;
  dirty: boolean;
  idle: number;
};

const unused: UsageRecord = { reserved: 0, uses: 0, rewrapped: 0 };

/** The counters of one process. */
export class UsageMeters {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #log: Log;
  readonly #meters = new Map<string, Meter>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  /** first reserves of versions since the last flush */
  #firstReserves = 0;
  #reservesAhead = false;
  /** where the next reserves ahead go on: behind this key, or at the tenant's first one */
  #aheadFrom: { readonly tenantId: string; readonly keyId: string | undefined } | undefined;

  constructor(store: Store, tables: Tables, log: Log) {
    this.#store = store;
    this.#tables = tables;
    this.#log = log;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), flushEveryMs).unref();
  }

  /** Writes counts and returns unused reserves. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    await this.#write([...this.#meters.values()], 0);
  }

  /**
   * Counts `count` uses of a version before they happen; zero marks the version as used (HMACs have a key of their own). Returns a
   * promise only when something must be on the disk first: a reserve of encryptions, or that a first version is used, because restore
   * replaces an unused one. Throws version-exhausted (AES-GCM), version-unknown (trimmed meanwhile), not-found (deleted or restored
   * meanwhile).
   */
  take(key: Key, version: Version, count: number, now: number): Promise<void> | undefined {
    const meter = this.#meterOf(key, version);
    const reserved = meter.limited ? count : 0;
    if (meter.left < reserved || !this.#isOpen(meter)) return this.#takeSlowly(meter, { key, now }, reserved, count);
    this.#count(meter, reserved, count, now);
    if (reserved > 0 && meter.left < meter.nextReserve >>> 3 && meter.reserving === undefined) {
      // Before the reserve runs out, so that no request waits. A failure is reported when it has run out.
      this.#reserve(meter, { key, now }, 1).catch(() => undefined);
    }
    return undefined;
  }

  /** Notes a decryption or verification. */
  note(key: Key, version: Version, now: number): void {
    this.#touch(this.#meterOf(key, version), now);
  }

  /** Notes that a value left this version by rewrap. */
  noteRewrapped(key: Key, version: Version, now: number): void {
    const meter = this.#meterOf(key, version);
    meter.rewrapped += 1;
    this.#touch(meter, now);
  }

  /** The counts of a version that this process knows; other processes store theirs within seconds. */
  view(key: Key, number: number): UsageView {
    const record = this.#tables.usage.get([key.tenantId, key.record.id, number]) ?? unused;
    const meter = this.#meters.get(nameOf(key.record.id, number));
    const lastUsedAt = Math.max(record.lastUsedAt ?? 0, meter?.lastUsedAt ?? 0);
    const uses = record.uses + (meter?.uses ?? 0);
    return {
      uses,
      usesAtMost: Math.max(uses, record.reserved - (meter?.left ?? 0)),
      rewrapped: record.rewrapped + (meter?.rewrapped ?? 0),
      ...(lastUsedAt === 0 ? {} : { lastUsedAt }),
    };
  }

  /**
   * Writes counts and times of use. Of versions that were not used for two minutes, returns reserves above the smallest; of those that hold
   * no more, forgets all but the newest 100,000. Never rejects.
   */
  async flush(): Promise<void> {
    this.#flushing ??= this.#flushAll().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async #flushAll(): Promise<void> {
    this.#firstReserves = 0;
    const dirty: Meter[] = [];
    const generous: Meter[] = [];
    const kept: Meter[] = [];
    for (const meter of this.#meters.values()) {
      meter.idle += 1;
      if (meter.dirty) dirty.push(meter);
      else if (meter.idle <= idleFlushes || meter.reserving !== undefined) continue;
      else if (meter.left > smallestReserve) generous.push(meter);
      else if (meter.left > 0) kept.push(meter);
      else this.#forget(meter);
    }
    await this.#write(dirty, Number.POSITIVE_INFINITY);
    await this.#write(generous, smallestReserve);
    await this.#write(kept.slice(0, Math.max(0, kept.length - mostKept)), 0);
  }

  #meterOf(key: Key, version: Version): Meter {
    const known = this.#meters.get(nameOf(key.record.id, version.number));
    return known ?? this.#addMeter([key.tenantId, key.record.id, version.number], cipherOf(key.record).kind === 'aead');
  }

  #addMeter(storeKey: Meter['storeKey'], limited: boolean): Meter {
    const meter: Meter = {
      storeKey,
      limited,
      opened: false,
      left: 0,
      nextReserve: smallestReserve,
      reserving: undefined,
      uses: 0,
      rewrapped: 0,
      lastUsedAt: 0,
      dirty: false,
      idle: 0,
    };
    this.#meters.set(nameOf(storeKey[1], storeKey[2]), meter);
    return meter;
  }

  /** Whether the version may be used without a write: only first versions, which restore replaces unused, are marked before. */
  #isOpen(meter: Meter): boolean {
    meter.opened ||= meter.storeKey[2] > 1 || this.#tables.usage.has(meter.storeKey);
    return meter.opened;
  }

  #count(meter: Meter, reserved: number, count: number, now: number): void {
    meter.left -= reserved;
    meter.uses += count;
    this.#touch(meter, now);
  }

  #touch(meter: Meter, now: number): void {
    if (now > meter.lastUsedAt) meter.lastUsedAt = now;
    meter.dirty = true;
    meter.idle = 0;
  }

  async #takeSlowly(meter: Meter, use: Use, reserved: number, count: number): Promise<void> {
    while (meter.left < reserved || !this.#isOpen(meter)) {
      if (meter.reserving === undefined) await this.#reserve(meter, use, reserved);
      else await meter.reserving.catch(() => undefined);
    }
    this.#count(meter, reserved, count, use.now);
  }

  // At most one reservation of a meter runs at a time.
  #reserve(meter: Meter, use: Use, needed: number): Promise<void> {
    const ahead = needed > 0 && meter.left === 0 && meter.nextReserve === smallestReserve ? this.#aheadOf(meter) : [];
    meter.reserving = this.#reserveOnce(meter, use, needed, ahead).finally(() => {
      meter.reserving = undefined;
      if (ahead.length > 0) this.#reservesAhead = false;
    });
    return meter.reserving;
  }

  async #reserveOnce(meter: Meter, use: Use, needed: number, ahead: readonly Meter['storeKey'][]): Promise<void> {
    const wanted = needed === 0 ? 0 : Math.max(needed, meter.nextReserve);
    const [before, granted, others] = await this.#store.write((transaction) => {
      if (transaction.get(this.#tables.versions, meter.storeKey) === undefined) throw this.#lost(transaction, meter, use.key);
      const record = transaction.get(this.#tables.usage, meter.storeKey) ?? unused;
      const room = meter.limited ? maxEncryptions - record.reserved : wanted;
      if (room < needed)
        throw fail('version-exhausted', { detail: `Version ${meter.storeKey[2]} has made 2^32 encryptions: rotate the key.` });
      const granted = Math.min(wanted, room);
      transaction.put(this.#tables.usage, meter.storeKey, { ...record, reserved: record.reserved + granted });
      return [record.reserved, granted, ahead.filter((storeKey) => this.#reserveAhead(transaction, storeKey, use.now))] as const;
    });
    meter.opened = true;
    meter.left += granted;
    if (needed > 0) meter.nextReserve = Math.min(largestReserve, meter.nextReserve * 4);
    for (const storeKey of others) {
      const other = this.#meters.get(nameOf(storeKey[1], storeKey[2])) ?? this.#addMeter(storeKey, true);
      other.opened = true;
      other.left += smallestReserve;
    }
    if (meter.limited && before < warnEncryptions && before + granted >= warnEncryptions) {
      this.#log.warn('a transit key version has made 2^31 encryptions: rotate the key', {
        key: meter.storeKey[1],
        version: meter.storeKey[2],
      });
    }
  }

  /**
   * Versions to reserve in the same commit, because many versions of this process get their first reserve now, as after a start: the next
   * ones of the table that hold none here. One commit at a time does so, or a turn would take long.
   */
  #aheadOf({ storeKey: [tenantId, keyId] }: Meter): readonly Meter['storeKey'][] {
    this.#firstReserves += 1;
    const wanted = Math.min(mostAhead, this.#firstReserves >>> 3);
    if (wanted === 0 || this.#reservesAhead || this.#meters.size >= mostKept) return [];
    const after = this.#aheadFrom?.tenantId === tenantId ? this.#aheadFrom.keyId : keyId;
    const range = { limit: wanted, ...(after === undefined ? {} : { after }) };
    const following = [...this.#tables.usage.keys([tenantId], range)] as unknown as Meter['storeKey'][];
    this.#aheadFrom = { tenantId, keyId: following[wanted - 1]?.[1] };
    const ahead = following.filter((storeKey) => !this.#meters.has(nameOf(storeKey[1], storeKey[2])));
    this.#reservesAhead = ahead.length > 0;
    return ahead;
  }

  /** True when the version has got the smallest reserve: the newest of an encrypting key, recently used, and far from its limit. */
  #reserveAhead(transaction: WriteTransaction, storeKey: Meter['storeKey'], now: number): boolean {
    const record = transaction.get(this.#tables.usage, storeKey);
    const version = transaction.get(this.#tables.versions, storeKey);
    if (record === undefined || version === undefined || version.publicKey !== undefined || version.supersededAt !== undefined)
      return false;
    if ((record.lastUsedAt ?? 0) < now - recentMicros || record.reserved >= warnEncryptions - smallestReserve) return false;
    transaction.put(this.#tables.usage, storeKey, { ...record, reserved: record.reserved + smallestReserve });
    return true;
  }

  #lost(transaction: WriteTransaction, { storeKey: [tenantId, keyId] }: Meter, { name }: Key): Error {
    if (transaction.get(this.#tables.keys, [tenantId, name])?.id !== keyId) return removedMeanwhile();
    return fail('version-unknown', { detail: 'The version was trimmed meanwhile.' });
  }

  /** Stores what these meters have counted, and gives back what they hold above `kept`. A meter that holds nothing is forgotten. */
  async #write(meters: readonly Meter[], kept: number): Promise<void> {
    for (let at = 0; at < meters.length; at += recordsAtOnce) await this.#writePiece(meters.slice(at, at + recordsAtOnce), kept);
  }

  async #writePiece(meters: readonly Meter[], kept: number): Promise<void> {
    const parts = meters.map((meter) => {
      const { uses, rewrapped, lastUsedAt } = meter;
      const released = Math.max(0, meter.left - kept);
      meter.left -= released;
      meter.dirty = false;
      return { meter, uses, rewrapped, lastUsedAt, released };
    });
    try {
      const gone = await this.#store.write((transaction) => parts.filter((part) => !this.#addTo(transaction, part)));
      for (const { meter, uses, rewrapped, released } of parts) {
        meter.uses -= uses;
        meter.rewrapped -= rewrapped;
        if (released > 0) meter.nextReserve = smallestReserve;
      }
      for (const { meter } of gone) meter.left = 0;
      for (const { meter } of kept === 0 ? parts : gone) this.#forget(meter);
    } catch (error) {
      // Counts are written by the next flush; the reserve is on disk, so no count is too low.
      for (const { meter, released } of parts) {
        meter.left += released;
        meter.dirty = true;
      }
      this.#log.warn('usage counts of transit keys could not be written', { reason: reasonOf(error) });
    }
  }

  // False when the version was removed.
  #addTo(
    transaction: WriteTransaction,
    part: Pick<Meter, 'uses' | 'rewrapped' | 'lastUsedAt'> & { meter: Meter; released: number },
  ): boolean {
    const { storeKey, limited } = part.meter;
    if (!transaction.has(this.#tables.versions, storeKey)) return false;
    const record = transaction.get(this.#tables.usage, storeKey) ?? unused;
    const lastUsedAt = Math.max(record.lastUsedAt ?? 0, part.lastUsedAt);
    const uses = record.uses + part.uses;
    transaction.put(this.#tables.usage, storeKey, {
      reserved: limited ? record.reserved - part.released : Math.max(record.reserved, uses),
      uses,
      rewrapped: record.rewrapped + part.rewrapped,
      ...(lastUsedAt === 0 ? {} : { lastUsedAt }),
    });
    return true;
  }

  #forget(meter: Meter): void {
    if (meter.left > 0 || meter.dirty || meter.reserving !== undefined) return;
    this.#meters.delete(nameOf(meter.storeKey[1], meter.storeKey[2]));
  }
}

function nameOf(keyId: string, version: number): string {
  return `${keyId}/${version}`;
}
