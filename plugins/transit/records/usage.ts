// Counts the uses of each key version. Encryptions are reserved durably in blocks before they happen, so a crash never lowers their
// count. Signatures have no limit: their counts are stored within seconds, those of many thousand versions in turns.
import type { Log } from '../../../core/base/context.ts';
import { piecesOf } from '../../../core/store/records/pieces.ts';
import type { Store, WriteTransaction } from '../../../core/store/store.ts';
import { reasonOf, ServiceError } from '../../../core/base/errors.ts';
import { cipherOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { type Key, type Version, removedMeanwhile } from './keyring.ts';
import { type Meter, newMeter } from './meter.ts';
import type { Tables } from './records.ts';
import { countedUses, putUsage } from './shared-uses.ts';
import { added, type Counts, nothing, smallestReserve, unused, type UsageView } from './usage-record.ts';

/** AES-GCM with random nonces must stop at 2^32 encryptions per key (NIST SP 800-38D section 8.3). */
const maxEncryptions = 2 ** 32;
/** Count from which a warning is logged, and the key is among those that need a person. */
export const warnEncryptions = 2 ** 31;
/** Largest reserve: the most by which a crash of one worker overstates a count. */
const largestReserve = 65_536;

/** The most that is reserved for a time in which nothing can be written. A crash overstates the count by it. */
const largestAhead = 2 ** 24;
const flushEveryMs = 5_000;
const idleFlushes = 24;
/**
 * Versions that keep their smallest reserve while they are not used, so that their next encryption waits for no commit: those in meters, of
 * about 0.8 KiB, give it back when the process stops; of more than these only the number is kept, in about 0.1 KiB, until they are used again.
 */
const mostKept = { inMeters: 100_000, asNumbers: 1_000_000 };
/** Records written by one commit: other requests wait no longer, and the caches of other processes drop these records only. */
const recordsAtOnce = 500;
/** Records of one write, of which a commit takes several. */
const recordsAPiece = 25;
/** Records written by one flush, at least: more versions than this take turns, those first that have waited longest. */
const recordsAFlush = 2_500;
/** Number of flushes in which, at most, all waiting counts are written: five minutes. */
const longestWait = 60;
/** Flushes between searches for versions that are no longer used: with a million of them a search takes a twentieth of a second. */
const flushesASweep = 6;

/** Uses to be counted: of which key, when, how many, and how many of them need a reserve. */
type Uses = { readonly key: Key; readonly now: number; readonly count: number; readonly reserved: number };

/** Part of a meter that a flush stores, and the part of its reserve that it gives back. */
type Part = { readonly meter: Meter; readonly counts: Counts; readonly released: number };

/** The counters of one process. */
export class UsageMeters {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #log: Log;
  readonly #mostKept: typeof mostKept;
  readonly #meters = new Map<string, Meter>();
  /** rest of the reserve of versions that have no meter */
  readonly #left = new Map<string, number>();
  /** meters whose counts wait to be stored, in the order in which they began to */
  readonly #waiting = new Set<Meter>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #flushes = 0;
  /** number of idle meters looked at since the first of them was */
  #looked = 0;
  /** reason for which counts could not be written last */
  #told: string | undefined;

  /** `most`: for tests. */
  constructor(store: Store, tables: Tables, log: Log, most = mostKept) {
    this.#mostKept = most;
    this.#store = store;
    this.#tables = tables;
    this.#log = log;
  }

  /** Number of versions that have one. */
  get meters(): number {
    return this.#meters.size;
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
   * replaces an unused one. The uses are then stored with it. Throws version-exhausted (AES-GCM), version-unknown (trimmed meanwhile), not-found (deleted or restored
   * meanwhile).
   */
  take(key: Key, version: Version, count: number, now: number): Promise<void> | undefined {
    const meter = this.#meterOf(key, version);
    const reserved = meter.limited ? count : 0;
    if (meter.left < reserved || !this.#isOpen(meter)) return this.#takeSlowly(meter, { key, now, reserved, count });
    this.#count(meter, reserved, count, now);
    if (reserved > 0 && meter.left < meter.nextReserve >>> 3 && meter.reserving === undefined) {
      // The next reserve is taken before this one runs out, so that no request waits. A failure is reported when it has run out.
      this.#reserve(meter, { key, now, reserved: 0, count: 0 }).catch(() => undefined);
    }
    return undefined;
  }

  /** Notes a decryption or verification. */
  note(key: Key, version: Version, now: number): void {
    this.#touch(this.#meterOf(key, version), now);
  }

  /** Notes a use that was refused because the key or the version is disabled. */
  noteRefused(key: Key, version: Version, now: number): void {
    const meter = this.#meterOf(key, version);
    meter.refused += 1;
    meter.lastRefusedAt = Math.max(meter.lastRefusedAt, now);
    this.#wait(meter);
  }

  /** Notes that a value left this version by rewrap. */
  noteRewrapped(key: Key, version: Version, now: number): void {
    const meter = this.#meterOf(key, version);
    meter.rewrapped += 1;
    this.#touch(meter, now);
  }

  /** The counts of a version that this process knows; other processes store theirs within seconds. */
  view(key: Key, number: number): UsageView {
    const name = nameOf(key.record.id, number);
    const meter = this.#meters.get(name);
    const record = countedUses(this.#tables, [key.tenantId, key.record.id, number]);
    const { reserved, refused = 0, ...counted } = added(record, meter ?? nothing, record.reserved);
    return { ...counted, refused, usesAtMost: Math.max(counted.uses, reserved - (meter?.left ?? this.#left.get(name) ?? 0)) };
  }

  /**
   * Writes counts and times of use, of 2,500 versions at a time, or of so many that each is stored within five minutes. Of versions that were
   * not used for two minutes, returns reserves above the smallest; of those that hold no more, keeps the newest 100,000 as they are, and forgets
   * those that were removed. Never rejects.
   */
  async flush(): Promise<void> {
    this.#flushing ??= this.#flushAll()
      // The store cannot be read: what this flush has not looked at, a later one does.
      .catch((error: unknown) => this.#tell(reasonOf(error)))
      .finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async #flushAll(): Promise<void> {
    this.#flushes += 1;
    const turn = Array.from(this.#waiting.values().take(turnOf(this.#waiting.size)));
    const short = turn.filter((meter) => this.#isShort(meter));
    await this.#write(turn, Number.POSITIVE_INFINITY);
    await Promise.all(short.map((meter) => this.#reserveAhead(meter)));
    if (this.#flushes % flushesASweep === 0) await this.#sweep();
  }

  async #sweep(): Promise<void> {
    const generous: Meter[] = [];
    const kept: Meter[] = [];
    for (const meter of this.#meters.values()) {
      if (meter.waits || meter.reserving !== undefined || this.#flushes - meter.usedAt <= this.#idleFlushes) continue;
      meter.ahead = 0;
      if (meter.left > smallestReserve) generous.push(meter);
      else if (meter.left > 0) kept.push(meter);
      else this.#forget(meter);
    }
    const superseded = new Set(this.#forgetRemoved(kept));
    const held = kept.filter((meter) => meter.left > 0 && !superseded.has(meter));
    const tooMany = held.slice(0, Math.max(0, held.length - this.#mostKept.inMeters));
    const room = Math.max(0, this.#mostKept.asNumbers - this.#left.size);
    // Numbers are kept before anything is waited for: the meters are idle now.
    for (const meter of tooMany.slice(0, room)) this.#keepNumber(meter);
    await this.#write(generous, smallestReserve);
    // The uses they hold would count as not rewrapped for as long.
    await this.#write([...superseded], 0);
    const rest = tooMany.slice(room);
    await this.#write(rest.slice(0, turnOf(rest.length)), 0);
  }

  /**
   * Versions are trimmed, deleted and superseded by other processes too. Looks for some of them at a time, in turns: forgets those that were
   * removed, and answers those that are superseded, with which nothing is encrypted.
   */
  #forgetRemoved(idle: readonly Meter[]): readonly Meter[] {
    const looked = idle.slice(this.#looked, this.#looked + recordsAFlush);
    const found = looked.map((meter) => [meter, this.#tables.versions.get(meter.storeKey)] as const);
    const removed = found.flatMap(([meter, record]) => (record === undefined ? [meter] : []));
    for (const meter of removed) {
      meter.left = 0;
      this.#forget(meter);
    }
    this.#looked = looked.length < recordsAFlush ? 0 : this.#looked + looked.length - removed.length;
    return found.flatMap(([meter, record]) => (record?.supersededAt === undefined ? [] : [meter]));
  }

  /**
   * Keeps the number of a meter whose reserve is on the disk and whose counts are stored: the next meter of the version continues with it.
   */
  #keepNumber(meter: Meter): void {
    const name = nameOf(meter.storeKey[1], meter.storeKey[2]);
    this.#meters.delete(name);
    this.#left.set(name, meter.left);
    meter.left = 0;
  }

  /** Flushes for which an unused version keeps its reserve: as long as uses may have to continue without a write. */
  get #idleFlushes(): number {
    return Math.max(idleFlushes, (1_000 * (this.#store.isolatedSeconds ?? 0)) / flushEveryMs);
  }

  /** Measures the uses in a period in which nothing can be written. Returns true if the reserve is too small for it. */
  #isShort(meter: Meter): boolean {
    const { isolatedSeconds = 0 } = this.#store;
    if (isolatedSeconds === 0 || !meter.limited) return false;
    const seconds = (Math.max(1, this.#flushes - meter.storedAt) * flushEveryMs) / 1_000;
    meter.ahead = Math.min(largestAhead, Math.max(meter.ahead, Math.ceil((meter.uses / seconds) * isolatedSeconds)));
    return meter.left < meter.ahead / 2 && meter.reserving === undefined;
  }

  /** Reserves ahead. A failed reservation is tried again by the next flush; one with an unknown outcome is not used. */
  async #reserveAhead(meter: Meter): Promise<void> {
    const { storeKey } = meter;
    const reserve = async (): Promise<void> => {
      const granted = await this.#store.write((transaction) => {
        if (!transaction.has(this.#tables.versions, storeKey)) return 0;
        const record = transaction.get(this.#tables.usage, storeKey) ?? unused;
        const room = maxEncryptions - countedUses(this.#tables, storeKey, transaction).reserved;
        const more = Math.max(0, Math.min(meter.ahead - meter.left, room));
        if (more > 0) putUsage(transaction, this.#tables, storeKey, { ...record, reserved: record.reserved + more });
        return more;
      });
      meter.left += granted;
    };
    meter.reserving = reserve().finally(() => (meter.reserving = undefined));
    await meter.reserving.catch(() => undefined);
  }

  #meterOf(key: Key, version: Version): Meter {
    const known = this.#meters.get(nameOf(key.record.id, version.number));
    return known ?? this.#addMeter([key.tenantId, key.record.id, version.number], cipherOf(key.record).kind === 'aead');
  }

  #addMeter(storeKey: Meter['storeKey'], limited: boolean): Meter {
    const name = nameOf(storeKey[1], storeKey[2]);
    const left = this.#left.get(name) ?? 0;
    this.#left.delete(name);
    const meter = newMeter(storeKey, { limited, left, flush: this.#flushes });
    this.#meters.set(name, meter);
    return meter;
  }

  /** Tells whether the version may be used without a write: only first versions, which restore replaces unused, are marked before. */
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
    meter.usedAt = this.#flushes;
    this.#wait(meter);
  }

  #wait(meter: Meter): void {
    if (meter.waits) return;
    meter.waits = true;
    this.#waiting.add(meter);
  }

  async #takeSlowly(meter: Meter, uses: Uses): Promise<void> {
    for (;;) {
      if (meter.reserving === undefined) return this.#reserve(meter, uses);
      await meter.reserving.catch(() => undefined);
      if (meter.left >= uses.reserved && this.#isOpen(meter)) return this.#count(meter, uses.reserved, uses.count, uses.now);
    }
  }

  // At most one reservation of a meter runs at a time.
  #reserve(meter: Meter, uses: Uses): Promise<void> {
    meter.reserving = this.#reserveOnce(meter, uses).finally(() => (meter.reserving = undefined));
    return meter.reserving;
  }

  /** Stores the uses with the next reserve. No uses: a reserve ahead, or only the mark of a version that counts nothing here. */
  async #reserveOnce(meter: Meter, { key, now, reserved: needed, count }: Uses): Promise<void> {
    const { limited, storeKey } = meter;
    const isMark = needed === 0 && !meter.opened;
    const wanted = !limited || isMark ? 0 : Math.max(needed, meter.nextReserve);
    const [before, granted] = await this.#store.write((transaction) => {
      if (transaction.get(this.#tables.versions, storeKey) === undefined) throw this.#lost(transaction, meter, key);
      const record = transaction.get(this.#tables.usage, storeKey) ?? unused;
      const { reserved } = countedUses(this.#tables, storeKey, transaction);
      const room = limited ? maxEncryptions - reserved : wanted;
      if (room < needed) throw fail('version-exhausted', { detail: 'This version has made 2^32 encryptions: rotate the key.' });
      const granted = Math.min(wanted, room);
      const counts = { ...nothing, uses: count, lastUsedAt: count === 0 ? 0 : now };
      putUsage(transaction, this.#tables, storeKey, added(record, counts, limited ? record.reserved + granted : undefined));
      return [reserved, granted] as const;
    });
    meter.opened = true;
    meter.left += granted - needed;
    meter.usedAt = this.#flushes;
    if (count > 0 && now > meter.lastUsedAt) meter.lastUsedAt = now;
    if (wanted > 0) meter.nextReserve = Math.min(largestReserve, meter.nextReserve * 4);
    if (limited && before < warnEncryptions && before + granted >= warnEncryptions) {
      this.#log.warn('a transit key version has made 2^31 encryptions: rotate the key', { key: storeKey[1], version: storeKey[2] });
    }
  }

  #lost(transaction: WriteTransaction, { storeKey: [tenantId, keyId] }: Meter, { name }: Key): Error {
    if (transaction.get(this.#tables.keys, [tenantId, name])?.id !== keyId) return removedMeanwhile();
    return fail('version-unknown', { detail: 'The version was trimmed meanwhile.' });
  }

  /** Stores what these meters have counted, and gives back what they hold above `kept`. A meter that holds nothing is forgotten. */
  async #write(meters: readonly Meter[], kept: number): Promise<void> {
    for (const some of piecesOf(meters, recordsAtOnce)) await this.#writeTogether(some, kept);
  }

  /** Writes in one commit of LMDB; a transaction of a shared store takes a piece of it. */
  async #writeTogether(meters: readonly Meter[], kept: number): Promise<void> {
    const outcomes = await Promise.all(piecesOf(meters, recordsAPiece).map((piece) => this.#writePiece(piece, kept)));
    this.#tell(outcomes.find((one) => one !== undefined));
  }

  /** Logs a reason once: an appliance without its cluster would repeat it every five seconds for hours. */
  #tell(reason: string | undefined): void {
    if (reason !== undefined && reason !== this.#told) this.#log.warn('usage counts of transit keys could not be written', { reason });
    this.#told = reason;
  }

  /** Resolves with the reason when it could not be written. */
  async #writePiece(meters: readonly Meter[], kept: number): Promise<string | undefined> {
    const parts = meters.map((meter) => {
      const { uses, rewrapped, lastUsedAt, refused, lastRefusedAt } = meter;
      const released = Math.max(0, meter.left - kept);
      meter.left -= released;
      meter.waits = false;
      this.#waiting.delete(meter);
      return { meter, counts: { uses, rewrapped, lastUsedAt, refused, lastRefusedAt }, released };
    });
    try {
      const gone = await this.#store.write((transaction) => parts.filter((part) => !this.#addTo(transaction, part)));
      for (const { meter, counts, released } of parts) {
        meter.storedAt = this.#flushes;
        meter.uses -= counts.uses;
        meter.rewrapped -= counts.rewrapped;
        meter.refused -= counts.refused;
        if (released > 0) meter.nextReserve = smallestReserve;
      }
      for (const { meter } of gone) meter.left = 0;
      for (const { meter } of kept === 0 ? parts : gone) this.#forget(meter);
      return undefined;
    } catch (error) {
      // Counts are written by the next flush. A reserve is on the disk, so no count is too low; one that may have been given back is not used.
      const isUnknown = error instanceof ServiceError && error.code === 'cluster-unavailable';
      for (const { meter, released } of parts) {
        if (!isUnknown) meter.left += released;
        this.#wait(meter);
      }
      return reasonOf(error);
    }
  }

  // False when the version was removed.
  #addTo(transaction: WriteTransaction, { meter: { storeKey, limited }, counts, released }: Part): boolean {
    if (!transaction.has(this.#tables.versions, storeKey)) return false;
    const record = transaction.get(this.#tables.usage, storeKey) ?? unused;
    putUsage(transaction, this.#tables, storeKey, added(record, counts, limited ? record.reserved - released : undefined));
    return true;
  }

  #forget(meter: Meter): void {
    if (meter.left > 0 || meter.waits || meter.reserving !== undefined) return;
    this.#meters.delete(nameOf(meter.storeKey[1], meter.storeKey[2]));
  }
}

/** Returns the number of records, of so many, that are written now. */
function turnOf(records: number): number {
  return Math.max(recordsAFlush, Math.ceil(records / longestWait));
}

function nameOf(keyId: string, version: number): string {
  return `${keyId}/${version}`;
}
