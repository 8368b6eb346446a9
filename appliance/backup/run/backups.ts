// Makes backups: on request, as a stream, and by schedule, to the targets of the configuration. One at a time.
import { randomUUID } from 'node:crypto';
import type { Audit } from '../../../core/audit/record.ts';
import type { Job } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail, reasonOf, ServiceError } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { BackupConfig, BackupTarget } from '../../../core/config/backup.ts';
import { type Copy, type CopyParts, sweepCopies, takeCopy } from '../copy.ts';
import type { Sealing } from '../format/age.ts';
import { getIfOpen, getOrDrop } from '../../../core/store/store.ts';
import { findRecipientProblem } from '../format/recipients.ts';
import { formatManifest, manifestDigest } from '../format/manifest.ts';
import { sendBackup } from '../targets/send.ts';
import { untilEnded } from './answer.ts';
import { findRunning, type Lease, takeLease } from './lease.ts';
import { type BackupStatus, historyKey, type HistoryRecord, historyTable, noHistory, type Purpose } from './record.ts';
import { isOverdue, nextDue, periodSeconds, wasInterrupted } from './schedule.ts';
import { sealCopy } from './sealed.ts';

export type BackupsParts = CopyParts & { readonly audit: Audit; readonly config: BackupConfig | undefined };

/** Interval of the check whether a scheduled backup is due. */
const lookEverySeconds = 10;

/** Result of one file, for the audit trail. */
type Made = { readonly target: string; readonly bytes: number; readonly digest: string };

export class Backups {
  readonly #parts: BackupsParts;
  readonly #stopping = new AbortController();
  #now: Promise<void> | undefined;

  constructor(parts: BackupsParts) {
    this.#parts = parts;
  }

  /** Scheduled backups; undefined without a schedule. */
  get job(): Job | undefined {
    if (this.#parts.config?.schedule === undefined) return undefined;
    return {
      name: 'backups',
      everySeconds: lookEverySeconds,
      whileClockInDoubt: true,
      run: (signal) => this.#runIfDue(AbortSignal.any([signal, this.#stopping.signal])),
    };
  }

  /**
   * A backup as a stream, and its exact length. Resolves when its content has been copied. Throws `backup-running`, `invalid-value` for
   * invalid recipients, and `storage-unavailable`.
   */
  async open(
    purpose: 'request' | 'pull',
    sealing: Sealing,
  ): Promise<{ readonly bytes: number; readonly pieces: AsyncIterable<Uint8Array> }> {
    const problem = 'recipients' in sealing ? await findRecipientProblem(sealing.recipients) : undefined;
    if (problem !== undefined)
      throw fail('invalid-value', { detail: `${problem}.`, items: [{ message: `${problem}.`, info: 'recipients' }] });
    const { store, clock } = this.#parts;
    const lease = await takeLease(store, clock, purpose);
    let copy: Copy | undefined;
    try {
      copy = await this.#copy();
      const sealed = await sealCopy(copy, sealing, (doneBytes) => lease.progress({ doneBytes }));
      const { bytes } = sealed;
      lease.progress({ stage: 'sending', target: 'the client', totalBytes: bytes });
      const held = copy;
      const pieces = untilEnded(sealed.pieces, async (how) => {
        held.release();
        const made = { target: purpose, bytes };
        if (how === 'whole') await this.#record('backup-made', { ...made, digest: sealed.digest(), ...manifestOf(held) });
        else await this.#record('backup-failed', { ...made, reason: how.message });
        await this.#end(lease, (history) =>
          how === 'whole' ? { ...history, lastTakenAt: formatTimestamp(this.#parts.clock.now()) } : history,
        );
      });
      return { bytes, pieces };
    } catch (error) {
      copy?.release();
      await lease.end().catch(() => undefined);
      throw error;
    }
  }

  /** As open, to the recipients of the configuration only: for callers that must not choose the readers. */
  pull(): ReturnType<Backups['open']> {
    return this.open('pull', { recipients: this.#requireConfig().recipients });
  }

  /** Begins a backup to the targets of the configuration; resolves when it has begun. Throws `backup-running`, `backup-not-configured`. */
  async runNow(): Promise<void> {
    if (this.#requireConfig().to.length === 0) throw notConfigured();
    const lease = await this.#begin('now');
    this.#now = this.#run(lease, this.#stopping.signal).catch((error: unknown) => this.#warn('a backup failed', error));
  }

  status(): BackupStatus {
    const { store, clock, config } = this.#parts;
    const running = findRunning(store, clock);
    const { begunAt: _begunAt, endedAt: _endedAt, since: _since, ...told } = this.#history();
    const schedule = config?.schedule;
    const due = schedule === undefined ? undefined : nextDue(schedule, this.#history(), this.#nowSeconds());
    return {
      ...told,
      targets: config?.to.length ?? 0,
      scheduled: schedule !== undefined,
      ...defined({
        nextAt: due === undefined ? undefined : formatTimestamp(Temporal.Instant.fromEpochMilliseconds(Math.round(due * 1_000))),
        running: running === undefined ? undefined : shown(running),
      }),
    };
  }

  /** The time from one scheduled backup to the next; undefined without a schedule. */
  get intervalSeconds(): number | undefined {
    const schedule = this.#parts.config?.schedule;
    return schedule === undefined ? undefined : periodSeconds(schedule);
  }

  /** For `health`: undefined without a schedule. */
  health(): { readonly state: string; readonly reason?: string } | undefined {
    const schedule = this.#parts.config?.schedule;
    if (schedule === undefined) return undefined;
    const history = this.#history();
    if (!isOverdue(schedule, history, this.#nowSeconds())) return { state: 'up' };
    const { lastSuccessAt } = history;
    return {
      state: 'overdue',
      reason: `${lastSuccessAt === undefined ? 'no scheduled backup has succeeded yet' : `the last scheduled backup succeeded at ${lastSuccessAt}`}: backup-status and system:logs have the reason`,
    };
  }

  /** Ends the running backup, and waits for it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#now;
  }

  #requireConfig(): BackupConfig {
    const { config } = this.#parts;
    if (config === undefined) throw notConfigured();
    return config;
  }

  #history(): HistoryRecord {
    return getIfOpen(historyTable(this.#parts.store), historyKey) ?? noHistory;
  }

  #nowSeconds(): number {
    return this.#parts.clock.now().epochMilliseconds / 1_000;
  }

  async #runIfDue(signal: AbortSignal): Promise<void> {
    const { store, clock, config } = this.#parts;
    store.refresh();
    const history = this.#history();
    if (history.since === undefined) {
      await store.write((transaction) => {
        const present = getOrDrop(transaction, historyTable(store), historyKey) ?? noHistory;
        transaction.put(historyTable(store), historyKey, { ...present, since: formatTimestamp(clock.now()) });
      });
    }
    const isDue = config?.schedule !== undefined && nextDue(config.schedule, history, this.#nowSeconds()) <= this.#nowSeconds();
    if (!isDue || findRunning(store, clock) !== undefined) return;
    try {
      await this.#run(await this.#begin('schedule'), signal);
    } catch (error) {
      // Another one began meanwhile: this one is looked at again.
      if (!(error instanceof ServiceError && error.code === 'backup-running')) throw error;
    }
  }

  /** Notes the beginning in the transaction that takes the right, so that one time is served once. */
  #begin(purpose: Purpose): Promise<Lease> {
    const { store, clock } = this.#parts;
    return takeLease(store, clock, purpose, (transaction) => {
      const present = getOrDrop(transaction, historyTable(store), historyKey) ?? noHistory;
      const interrupted = wasInterrupted(present)
        ? { failures: present.failures + 1, failuresInARow: present.failuresInARow + 1, lastFailure: 'the process that made it was ended' }
        : {};
      transaction.put(historyTable(store), historyKey, { ...present, ...interrupted, begunAt: formatTimestamp(clock.now()) });
    });
  }

  async #run(lease: Lease, signal: AbortSignal): Promise<void> {
    const { clock, config, log } = this.#parts;
    const beganMs = clock.monotonicMs();
    const before = this.#history();
    const failed: string[] = [];
    let bytes = 0;
    let digest = '';
    try {
      const copy = await this.#copy();
      try {
        for (const target of config?.to ?? []) {
          try {
            const made = await this.#send(copy, target, lease, signal);
            ({ bytes } = made);
            ({ manifest: digest } = manifestOf(copy));
          } catch (error) {
            failed.push(`${describeTarget(target)}: ${reasonOf(error)}`);
          }
        }
      } finally {
        copy.release();
      }
    } catch (error) {
      failed.push(reasonOf(error));
    }
    // A stop does not count as a failure: the next start makes the backup again at once.
    if (signal.aborted && failed.length > 0) return this.#end(lease, () => withoutBeginning(before));
    const at = formatTimestamp(clock.now());
    if (failed.length === 0) {
      const seconds = Math.round(clock.monotonicMs() - beganMs) / 1_000;
      log.info('a backup was made', { bytes, seconds });
      const good = { lastSuccessAt: at, lastBytes: bytes, lastSeconds: seconds, lastDigest: digest, failuresInARow: 0 };
      return this.#end(lease, (history) => ({ ...history, ...good, endedAt: at }));
    }
    const reason = failed.join('; ');
    log.warn('a backup failed and is tried again', { reason });
    await this.#record('backup-failed', { reason });
    await this.#end(lease, (history) => ({
      ...history,
      ...{ endedAt: at, lastFailureAt: at, lastFailure: reason },
      failures: history.failures + 1,
      failuresInARow: history.failuresInARow + 1,
    }));
  }

  async #end(lease: Lease, change: (history: HistoryRecord) => HistoryRecord): Promise<void> {
    const table = historyTable(this.#parts.store);
    try {
      await lease.end((transaction) => transaction.put(table, historyKey, change(getOrDrop(transaction, table, historyKey) ?? noHistory)));
    } catch (error) {
      this.#warn('the end of a backup could not be stored', error);
    }
  }

  async #send(copy: Copy, target: BackupTarget, lease: Lease, signal: AbortSignal): Promise<Made> {
    const { clock, appliance } = this.#parts;
    signal.throwIfAborted();
    const sealed = await sealCopy(copy, { recipients: this.#requireConfig().recipients }, (doneBytes) => lease.progress({ doneBytes }));
    const name = fileName(appliance, clock.now());
    lease.progress({ stage: 'sending', target: describeTarget(target), doneBytes: 0, totalBytes: sealed.bytes });
    await sendBackup(target, { name, prefix: filePrefix(appliance), bytes: sealed.bytes, pieces: sealed.pieces }, signal);
    const made = { target: `${describeTarget(target)} ${name}`, bytes: sealed.bytes, digest: sealed.digest() };
    await this.#record('backup-made', { ...made, ...manifestOf(copy) });
    return made;
  }

  async #copy(): Promise<Copy> {
    // The right is held, so whatever is there was left by a process that was killed.
    sweepCopies(this.#parts.directory);
    return takeCopy(this.#parts);
  }

  /** A backup that was made is not undone because it cannot be recorded. */
  async #record(code: 'backup-made' | 'backup-failed', requestParameters: Readonly<Record<string, unknown>>): Promise<void> {
    const { audit, clock } = this.#parts;
    try {
      await audit.write({
        kind: 'system',
        occurredAt: formatTimestamp(clock.now()),
        requestId: randomUUID(),
        tenant: 'system',
        code,
        requestParameters,
      });
    } catch (error) {
      this.#warn('the audit record of a backup could not be written', error);
    }
  }

  #warn(message: string, error: unknown): void {
    this.#parts.log.warn(message, { reason: reasonOf(error) });
  }
}

function manifestOf({ manifest }: Copy): { readonly manifest: string } {
  return { manifest: manifestDigest(formatManifest(manifest)) };
}

function withoutBeginning(history: HistoryRecord): HistoryRecord {
  const { begunAt: _begunAt, ...rest } = history;
  return rest;
}

function shown({ purpose, stage, target, startedAt, doneBytes, totalBytes }: NonNullable<ReturnType<typeof findRunning>>) {
  return { purpose, stage, target, startedAt, doneBytes, totalBytes };
}

/** A target for people: no credential is in it. */
function describeTarget(target: BackupTarget): string {
  return target.kind === 'directory' ? target.directory : `${target.endpoint}/${target.bucket}/${target.prefix}`;
}

/** `keystored-NAME-`: files of other appliances in the same directory are left alone. */
function filePrefix(appliance: string): string {
  return `keystored-${appliance.replaceAll(/[^\w.-]/g, '-')}-`;
}

/** To the millisecond: two backups within a second are two files. */
function fileName(appliance: string, at: Temporal.Instant): string {
  const time = at.toString({ smallestUnit: 'millisecond' }).replaceAll(/[-:]/g, '');
  return `${filePrefix(appliance)}${time}.tar.age`;
}

function notConfigured(): ServiceError {
  return fail('backup-not-configured');
}
