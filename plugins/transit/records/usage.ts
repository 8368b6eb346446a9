// Counts the uses of each key version (api 74). Uses are reserved durably in blocks before they happen, so a crash never lowers a count.
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

/** What the state shows of one version. */
export type UsageView = {
  /** encryptions, signatures and data keys made; after a crash it may lack the last five seconds */
  readonly uses: number;
  /** never below the true count; the limit applies to this */
  readonly usesAtMost: number;
  readonly rewrapped: number;
  readonly lastUsedAt?: number;
};

// One version in this process: what is left of its reserve, and counts that are not stored yet.
type Meter = {
  readonly storeKey: readonly [string, string, number];
  readonly keyName: string;
  readonly limited: boolean;
  /** a record exists: the version counts as used */
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
    await this.#write([...this.#meters.values()], true);
  }

  /**
   * Counts `count` uses of a version before they happen; zero marks the version as used (HMACs have a key of their own). Returns a
   * promise only when the reserve must grow first. Throws version-exhausted (AES-GCM), version-unknown (trimmed meanwhile), not-found
   * (deleted or restored meanwhile).
   */
  take(key: Key, version: Version, count: number, now: number): Promise<void> | undefined {
    const meter = this.#meterOf(key, version);
    if (!meter.opened || meter.left < count) return this.#takeSlowly(meter, count, now);
    this.#count(meter, count, now);
    if (count > 0 && meter.left < meter.nextReserve >>> 3 && meter.reserving === undefined) {
      // Before the reserve runs out, so that no request waits. A failure is reported when it has run out.
      this.#reserve(meter, 1).catch(() => undefined);
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
    const meter = this.#meters.get(`${key.record.id}/${number}`);
    const lastUsedAt = Math.max(record.lastUsedAt ?? 0, meter?.lastUsedAt ?? 0);
    const uses = record.uses + (meter?.uses ?? 0);
    return {
      uses,
      usesAtMost: Math.max(uses, record.reserved - (meter?.left ?? 0)),
      rewrapped: record.rewrapped + (meter?.rewrapped ?? 0),
      ...(lastUsedAt === 0 ? {} : { lastUsedAt }),
    };
  }

  /** Writes counts and times of use; returns reserves of versions that were not used for two minutes. Never rejects. */
  async flush(): Promise<void> {
    const idle: Meter[] = [];
    const dirty: Meter[] = [];
    for (const meter of this.#meters.values()) {
      meter.idle += 1;
      if (meter.dirty) dirty.push(meter);
      else if (meter.idle > idleFlushes && meter.reserving === undefined) idle.push(meter);
    }
    await this.#write(dirty, false);
    await this.#write(idle, true);
  }

  #meterOf(key: Key, version: Version): Meter {
    const name = `${key.record.id}/${version.number}`;
    let meter = this.#meters.get(name);
    if (meter === undefined) {
      meter = {
        storeKey: [key.tenantId, key.record.id, version.number],
        keyName: key.name,
        limited: cipherOf(key.record).kind === 'aead',
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
      this.#meters.set(name, meter);
    }
    return meter;
  }

  #count(meter: Meter, count: number, now: number): void {
    meter.left -= count;
    meter.uses += count;
    this.#touch(meter, now);
  }

  #touch(meter: Meter, now: number): void {
    if (now > meter.lastUsedAt) meter.lastUsedAt = now;
    meter.dirty = true;
    meter.idle = 0;
  }

  async #takeSlowly(meter: Meter, count: number, now: number): Promise<void> {
    while (!meter.opened || meter.left < count) {
      if (meter.reserving === undefined) await this.#reserve(meter, count);
      else await meter.reserving.catch(() => undefined);
    }
    this.#count(meter, count, now);
  }

  // At most one reservation of a meter runs at a time.
  #reserve(meter: Meter, needed: number): Promise<void> {
    meter.reserving = this.#reserveOnce(meter, needed).finally(() => (meter.reserving = undefined));
    return meter.reserving;
  }

  async #reserveOnce(meter: Meter, needed: number): Promise<void> {
    const wanted = needed === 0 ? 0 : Math.max(needed, meter.nextReserve);
    const [before, granted] = await this.#store.write((transaction) => {
      if (transaction.get(this.#tables.versions, meter.storeKey) === undefined) throw this.#lost(transaction, meter);
      const record = transaction.get(this.#tables.usage, meter.storeKey) ?? unused;
      const room = meter.limited ? maxEncryptions - record.reserved : wanted;
      if (room < needed)
        throw fail('version-exhausted', { detail: `Version ${meter.storeKey[2]} has made 2^32 encryptions: rotate the key.` });
      const granted = Math.min(wanted, room);
      transaction.put(this.#tables.usage, meter.storeKey, { ...record, reserved: record.reserved + granted });
      return [record.reserved, granted] as const;
    });
    meter.opened = true;
    meter.left += granted;
    if (needed > 0) meter.nextReserve = Math.min(largestReserve, meter.nextReserve * 4);
    if (meter.limited && before < warnEncryptions && before + granted >= warnEncryptions) {
      this.#log.warn('a transit key version has made 2^31 encryptions: rotate the key', {
        key: meter.storeKey[1],
        version: meter.storeKey[2],
      });
    }
  }

  #lost(transaction: WriteTransaction, { storeKey: [tenantId, keyId], keyName }: Meter): Error {
    if (transaction.get(this.#tables.keys, [tenantId, keyName])?.id !== keyId) return removedMeanwhile();
    return fail('version-unknown', { detail: 'The version was trimmed meanwhile.' });
  }

  async #write(meters: readonly Meter[], release: boolean): Promise<void> {
    if (meters.length === 0) return;
    const parts = meters.map((meter) => {
      const { uses, rewrapped, lastUsedAt } = meter;
      const released = release ? meter.left : 0;
      meter.left -= released;
      meter.dirty = false;
      return { meter, uses, rewrapped, lastUsedAt, released };
    });
    try {
      const gone = await this.#store.write((transaction) => parts.filter((part) => !this.#addTo(transaction, part)));
      for (const { meter, uses, rewrapped } of parts) {
        meter.uses -= uses;
        meter.rewrapped -= rewrapped;
      }
      for (const { meter } of release ? parts : gone) this.#forget(meter);
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
    transaction: Parameters<Parameters<Store['write']>[0]>[0],
    part: Pick<Meter, 'uses' | 'rewrapped' | 'lastUsedAt'> & { meter: Meter; released: number },
  ): boolean {
    const { storeKey } = part.meter;
    if (transaction.get(this.#tables.versions, storeKey) === undefined) return false;
    const record = transaction.get(this.#tables.usage, storeKey) ?? unused;
    const lastUsedAt = Math.max(record.lastUsedAt ?? 0, part.lastUsedAt);
    transaction.put(this.#tables.usage, storeKey, {
      reserved: record.reserved - part.released,
      uses: record.uses + part.uses,
      rewrapped: record.rewrapped + part.rewrapped,
      ...(lastUsedAt === 0 ? {} : { lastUsedAt }),
    });
    return true;
  }

  #forget(meter: Meter): void {
    if (meter.left > 0 || meter.dirty || meter.reserving !== undefined) return;
    this.#meters.delete(`${meter.storeKey[1]}/${meter.storeKey[2]}`);
  }
}
