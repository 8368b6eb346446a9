// Ships to one destination: reads, sends, has it confirmed, keeps the place; after a failure from the last confirmed place again.
import { setTimeout } from 'node:timers/promises';
import type { Clock, Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Destination } from '../../core/config/shipping.ts';
import { type Counts, counted, type Cursor, firstCursor, keepCursor, readCursor } from './cursor.ts';
import { type ShippedRecord, shipperRecord } from './formats/records.ts';
import { type Connection, ReceiverError, quoted } from './receivers/receiver.ts';
import { openConnection } from './receivers/open.ts';
import { readBatch } from './source.ts';

export type PipelineParts = {
  readonly data: string;
  readonly destination: Destination;
  readonly host: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace?: Partial<Pace>;
};

/** Times in milliseconds, sizes in octets. */
export type Pace = {
  readonly patienceMs: number;
  readonly quietMs: number;
  readonly acknowledgeMs: number;
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  readonly pollMs: number;
  readonly batchBytes: number;
  /** most that may be sent and not confirmed */
  readonly windowBytes: number;
  /** a cursor that has moved is put on the disk after this time at the latest */
  readonly keepMs: number;
};

const usualPace: Pace = {
  patienceMs: 30_000,
  quietMs: 1_000,
  acknowledgeMs: 300_000,
  firstRetryMs: 500,
  longestRetryMs: 60_000,
  pollMs: 250,
  batchBytes: 512 << 10,
  windowBytes: 16 << 20,
  keepMs: 1_000,
};

/** The window of a receiver that is too slow for it is halved, down to this. */
const leastWindowBytes = 16 << 10;

/** A receiver's Retry-After beyond this is not believed. */
const longestRetryAfterMs = 600_000;

/** State of a destination that only the shipper knows. */
export type LiveState = {
  readonly name: string;
  /** when the receiver confirmed something for the first time since the last failure */
  readonly connectedSince?: string;
  readonly lastError?: { readonly occurredAt: string; readonly message: string };
};

export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #pace: Pace;
  readonly #stopping = new AbortController();
  #confirmed: Cursor | undefined;
  #keptAtMs = 0;
  #isKept = true;
  #keepFailed = false;
  #windowBytes: number;
  #failures = 0;
  #connectedSince: string | undefined;
  #lastError: LiveState['lastError'];
  #endRest: (() => void) | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#pace = { ...usualPace, ...parts.pace };
    this.#windowBytes = this.#pace.windowBytes;
  }

  get state(): LiveState {
    return {
      name: this.#parts.destination.name,
      ...(this.#connectedSince === undefined ? {} : { connectedSince: this.#connectedSince }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  /** Ships until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let connection: Connection | undefined;
      try {
        this.#confirmed ??= await this.#firstCursor();
        connection = openConnection({ ...this.#parts, ...this.#pace });
        if (!connection.confirmsEach) await this.#prove(connection);
        await this.#ship(connection);
      } catch (error) {
        if (!signal.aborted) await this.#rest(this.#noteFailure(error));
      } finally {
        connection?.close();
      }
    }
    this.#keep(true);
  }

  /** Makes run() wait until sent records are confirmed; the next start sends the others again. */
  stop(): void {
    this.#stopping.abort();
    this.#endRest?.();
  }

  /** Ends the wait for the next attempt: something else has shown that the receiver is there. */
  retryNow(): void {
    this.#endRest?.();
  }

  async #firstCursor(): Promise<Cursor> {
    const { data, destination, log } = this.#parts;
    const kept = readCursor(data, destination.name);
    if (kept !== undefined) return kept;
    log.info(`destination ${destination.name} begins with the oldest record that there is`);
    const first = await firstCursor(data);
    keepCursor(data, destination.name, first);
    return first;
  }

  /**
   * Under TLS 1.3 a receiver that refuses our certificate looks connected: nothing of the trail is sent before it has confirmed something.
   */
  async #prove(connection: Connection): Promise<void> {
    await this.#beat(connection);
    await connection.confirm();
    this.#noteConnected(connection);
  }

  /** Sends a record that every receiver takes, unless something is wrong with the whole destination. */
  async #beat(connection: Connection): Promise<void> {
    const { whole } = await connection.send([this.#own('heartbeat')]);
    if (whole !== undefined) throw new ReceiverError(`the receiver refuses every record: ${quoted(whole.reason)}`);
  }

  #noteConnected(connection: Connection): void {
    const { destination, log, clock } = this.#parts;
    if (this.#lastError !== undefined || this.#connectedSince === undefined)
      log.info(`destination ${destination.name} takes records`, { answer: connection.answer });
    this.#connectedSince = formatTimestamp(clock.now());
  }

  async #ship(connection: Connection): Promise<void> {
    const { data, destination, clock } = this.#parts;
    const { pollMs, batchBytes } = this.#pace;
    let cursor = this.#confirmed as Cursor;
    let sent = { records: 0, bytes: 0, sinceMs: 0 };
    // A receiver that confirms each record is proven by the first one.
    let lastSentMs = connection.confirmsEach ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
    const noteSent = (count: number, bytes: number): void => {
      lastSentMs = clock.monotonicMs();
      sent = { records: sent.records + count, bytes: sent.bytes + bytes, sinceMs: sent.records === 0 ? lastSentMs : sent.sinceMs };
    };
    try {
      for (;;) {
        const batch = await readBatch(data, destination, cursor, Math.min(batchBytes, this.#windowBytes), formatTimestamp(clock.now()));
        const isIdle = batch.records.length === 0;
        if (!isIdle) {
          noteSent(
            batch.records.length,
            batch.records.reduce((sum, { text }) => sum + text.length, 0),
          );
          const rejected = await this.#deliver(connection, batch.records);
          cursor = counted(batch.cursor, { sent: batch.records.length - rejected, rejected });
        } else if (clock.monotonicMs() - lastSentMs >= destination.heartbeatSeconds * 1_000) {
          await this.#beat(connection);
          noteSent(1, 0);
        }
        cursor = isIdle ? batch.cursor : cursor;
        const isDue =
          connection.confirmsEach ||
          sent.bytes >= this.#windowBytes ||
          clock.monotonicMs() - sent.sinceMs >= destination.confirmEverySeconds * 1_000;
        if (sent.records > 0 && isDue) {
          await connection.confirm();
          this.#windowBytes = Math.min(this.#pace.windowBytes, 2 * this.#windowBytes);
          sent = { records: 0, bytes: 0, sinceMs: 0 };
          this.#noteConfirmed(cursor);
          if (this.#connectedSince === undefined) this.#noteConnected(connection);
        }
        this.#keep(false);
        // A stop sends the records written until now.
        if (isIdle && this.#stopping.signal.aborted) break;
        if (isIdle) await this.#rest(pollMs);
      }
      if (sent.records > 0) {
        await connection.confirm();
        this.#noteConfirmed(cursor);
      }
    } catch (error) {
      this.#confirmed = counted(this.#confirmed as Cursor, { resent: sent.records });
      // The receiver is too slow, limits the amount, or drops the connection: smaller amounts may get through.
      if (sent.bytes > 0) this.#windowBytes = Math.max(leastWindowBytes, Math.floor(Math.min(this.#windowBytes, sent.bytes) / 2));
      throw error;
    }
  }

  /**
   * Sends records; answers the number that the receiver refuses for their content. A refusal of a whole request may have any reason: it is
   * sent again in halves, and a record that is refused alone counts as refused only when the receiver takes another one right after it.
   */
  async #deliver(connection: Connection, records: readonly ShippedRecord[]): Promise<number> {
    if (records.length === 0) return 0;
    const { refused, whole } = await connection.send(records);
    const named = this.#reject(refused.map(({ index, reason }) => [records[index] as ShippedRecord, reason]));
    if (whole === undefined) return named;
    const { from, count, reason } = whole;
    const [one] = records.slice(from);
    if (count === 1 && one !== undefined) {
      await this.#beat(connection);
      return named + this.#reject([[one, reason]]) + (await this.#deliver(connection, records.slice(from + 1)));
    }
    const middle = from + Math.ceil(count / 2);
    const first = await this.#deliver(connection, records.slice(from, middle));
    const second = await this.#deliver(connection, records.slice(middle, from + count));
    return named + first + second + (await this.#deliver(connection, records.slice(from + count)));
  }

  #reject(rejected: readonly (readonly [ShippedRecord, string])[]): number {
    for (const [{ stream, sequence, id }, reason] of rejected) {
      const fields = { destination: this.#parts.destination.name, chain: stream, sequence, recordId: id, reason: quoted(reason) };
      this.#parts.log.warn('a receiver refuses a record, which is left out', fields);
    }
    return rejected.length;
  }

  #noteConfirmed(cursor: Cursor): void {
    const before = this.#confirmed?.counts as Counts;
    const { dropped, droppedLogFiles } = cursor.counts;
    if (dropped > before.dropped || droppedLogFiles > before.droppedLogFiles) {
      const lost = { records: dropped - before.dropped, logFiles: droppedLogFiles - before.droppedLogFiles };
      this.#parts.log.error(`records were removed before destination ${this.#parts.destination.name} had them`, lost);
    }
    this.#confirmed = cursor;
    this.#isKept = false;
    this.#failures = 0;
  }

  /** Answers how long to wait before the next attempt. */
  #noteFailure(error: unknown): number {
    const { destination, log, clock } = this.#parts;
    const message = error instanceof ReceiverError ? error.message : `the shipper failed: ${quoted(reasonOf(error))}`;
    const isNew = this.#connectedSince !== undefined || this.#lastError?.message !== message;
    if (isNew) log.warn(`destination ${destination.name} does not take records`, { reason: message });
    this.#lastError = { occurredAt: formatTimestamp(clock.now()), message };
    this.#connectedSince = undefined;
    this.#confirmed = this.#confirmed && counted(this.#confirmed, { errors: 1 });
    this.#isKept = false;
    this.#keep(true);
    const { firstRetryMs, longestRetryMs } = this.#pace;
    const backoffMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(this.#failures++, 20));
    const askedMs = (error instanceof ReceiverError ? (error.retryAfterSeconds ?? 0) : 0) * 1_000;
    return Math.max(Math.min(askedMs, longestRetryAfterMs), backoffMs * (0.5 + Math.random() / 2));
  }

  /** A place that cannot be kept, on a full disk for instance, hinders nothing: after a restart more is sent twice. */
  #keep(now: boolean): void {
    const { data, destination, clock, log } = this.#parts;
    if (this.#isKept || this.#confirmed === undefined || (!now && clock.monotonicMs() - this.#keptAtMs < this.#pace.keepMs)) return;
    this.#keptAtMs = clock.monotonicMs();
    try {
      keepCursor(data, destination.name, this.#confirmed);
      this.#isKept = true;
      this.#keepFailed = false;
    } catch (error) {
      if (!this.#keepFailed) log.warn(`the place of destination ${destination.name} cannot be kept`, { reason: reasonOf(error) });
      this.#keepFailed = true;
    }
  }

  #own(event: 'heartbeat'): ShippedRecord {
    return shipperRecord(event, formatTimestamp(this.#parts.clock.now()), { destination: this.#parts.destination.name });
  }

  async #rest(ms: number): Promise<void> {
    const rest = new AbortController();
    this.#endRest = () => rest.abort();
    await setTimeout(ms, undefined, { signal: rest.signal }).catch(() => undefined);
    this.#endRest = undefined;
  }
}
