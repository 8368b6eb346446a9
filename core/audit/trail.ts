// Writes the audit trail: hash-chained JSON lines; one disk write for all queued records; records are refused while it cannot be written.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Audit, AuditRecord } from './record.ts';
import { AuditFile, FileLost } from './file.ts';
import type { Discrepancy } from './chains.ts';
import { compareWithMemory, type LossOptions, Losses } from './loss.ts';
import { HeadSigner, type SignHead } from './heads.ts';
import { type ChainHead, formatBoundedFields, formatFields, formatLine } from './line.ts';
import { resumeChain, type TornTail } from './resume.ts';
import { Retention } from './retention.ts';
import { defined } from '../base/defined.ts';
import { syncPath } from '../base/durable-files.ts';
import { fail, reasonOf, type ServiceError } from '../base/errors.ts';
import { listStreams, type StreamFile, streamFilePath } from '../log/stream-files.ts';
import { formatTimestamp } from '../base/time.ts';

export type AuditTrailOptions = LossOptions & {
  /** size at which a file is followed by a new one */
  readonly maxFileBytes?: number;
  /** files kept per chain; older ones are removed after a signed record has announced it, so only with a memory */
  readonly retainFiles?: number;
  /** tells whether an older file is still needed, so that it is kept */
  readonly isHeld?: (file: StreamFile) => Promise<boolean>;
  /** present for the chain that signs the heads of all: every minute with a new record, at rotation, and at stop */
  readonly signHead?: SignHead;
  readonly signEverySeconds?: number;
  /** revision of the last change of the store by this process; the next record names it, so that the loss of the change is detected */
  readonly storeRevision?: () => number | undefined;
  /** time after which a record that is not on the disk is refused */
  readonly maxWaitSeconds?: number;
  /** retry interval while the trail cannot be written */
  readonly retrySeconds?: number;
};

export interface AuditTrail extends Audit {
  /** reason for which records cannot be written at the moment, for people */
  readonly problem: string | undefined;
  /** Signs the heads of all chains now, if this is the chain that signs. Failures are logged and retried later. */
  signHeads(): Promise<void>;
  /** Writes queued records, signs the heads and closes. Later records are refused. Idempotent. */
  close(): Promise<void>;
}

const defaults = { maxFileBytes: 64 << 20, retainFiles: 64, signEverySeconds: 60, maxWaitSeconds: 5, retrySeconds: 1 };

/** Opens a chain at its end, after removing half-written records of a crash (which is recorded). */
export async function openAuditTrail(options: AuditTrailOptions): Promise<AuditTrail> {
  const made = await mkdir(options.directory, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncPath(dirname(made));
  const discrepancies = await compareWithMemory(options);
  const { head, file, torn } = await resumeChain(options.directory, options.chain, options.memory?.recall().get(options.chain));
  const path = streamFilePath(options.directory, options.chain, head.sequence + 1);
  const trail = new ChainedTrail(options, head, file ?? (await AuditFile.create(path)));
  await trail.begin(torn, discrepancies);
  return trail;
}

/** Formatted records, to be added to the chain by one write, and the promise of all their writers. */
type Batch = PromiseWithResolvers<void> & { readonly fields: string[] };

/** Free space required before a trail that could not be written counts as writable again. */
const roomBytes = 64 << 10;

const closedProblem = 'the trail is closed';

/** Limits memory and time of one batch. */
const maxBatchRecords = 4_096;

class ChainedTrail implements AuditTrail {
  readonly #options: AuditTrailOptions & typeof defaults;
  readonly #timers: NodeJS.Timeout[];
  readonly #signer: HeadSigner | undefined;
  readonly #retention: Retention | undefined;
  #head: ChainHead;
  /** last revision of the store named in the chain */
  #namedRevision: number | undefined;
  #file: AuditFile;
  /** octets of the file up to the last acknowledged record */
  #keptBytes: number;
  #waiting: Batch[] = [];
  #inFlight: Batch | undefined;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #working: Promise<void> | undefined;
  #problem: string | undefined;
  /** true if the file is no longer what was written */
  #lost = false;
  #refused = 0;
  readonly #losses: Losses;
  /** discrepancies that are not recorded yet; nothing is signed before they are */
  #unsaid: readonly Discrepancy[] = [];
  #signing: Promise<void> | undefined;
  #retiring: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: AuditTrailOptions, head: ChainHead, file: AuditFile) {
    this.#options = { ...defaults, ...options };
    this.#head = head;
    this.#file = file;
    this.#keptBytes = file.size;
    this.#losses = new Losses(options);
    const { signHead, directory, clock, memory } = options;
    this.#signer = signHead === undefined ? undefined : new HeadSigner(signHead, directory, clock, memory);
    this.#retention =
      memory &&
      new Retention({
        ...{ directory, memory },
        chain: options.chain,
        retainFiles: this.#options.retainFiles,
        ...defined({ isHeld: options.isHeld }),
        note: async (fields) => {
          await this.#note(fields);
          return this.#head.sequence;
        },
      });
    this.#timers = [
      setInterval(() => this.#keepWatch(), this.#options.retrySeconds * 1_000).unref(),
      setInterval(() => void this.#signAndRetire(), this.#options.signEverySeconds * 1_000).unref(),
    ];
  }

  /** Records the start, and the discrepancies of the chain. A full disk does not prevent a start: reads are still answered. */
  async begin(torn: readonly TornTail[], discrepancies: readonly Discrepancy[]): Promise<void> {
    this.#unsaid = discrepancies;
    await this.#note({ event: 'started', ...(torn.length === 0 ? {} : { torn }) }).catch(() => {});
    await this.#sayDiscrepancies().catch(() => {});
    await this.#retire();
  }

  async #sayDiscrepancies(): Promise<void> {
    const unsaid = this.#unsaid;
    if (unsaid.length === 0) return;
    await Promise.all(unsaid.map((one) => this.#note(one)));
    this.#unsaid = [];
  }

  get writable(): boolean {
    return this.#problem === undefined && this.#closing === undefined;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Not an async function: it runs for every request, and the promise of #append is enough. */
  write(record: AuditRecord): Promise<void> {
    let fields: string;
    try {
      fields = formatBoundedFields(record);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.writable) return this.#append(fields);
    this.#refused++;
    return Promise.reject(unavailable(this.#problem ?? closedProblem));
  }

  signHeads(): Promise<void> {
    this.#signing ??= this.#signHeads().finally(() => (this.#signing = undefined));
    return this.#signing;
  }

  async #signHeads(): Promise<void> {
    void this.#losses.tell();
    if (this.#problem !== undefined) return;
    try {
      await this.#sayDiscrepancies();
      await this.#signer?.sign({ chain: this.#options.chain, ...this.#head }, (record) => this.#append(formatFields(record)));
    } catch (error) {
      this.#options.log.warn('the heads of the audit trail could not be signed', { reason: String(error) });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const ended = this.#problem === undefined ? this.#signLast() : this.#retiring;
    // A token that does not answer must not block a stop.
    await Promise.race([ended, setTimeout(this.#options.maxWaitSeconds * 1_000, undefined, { ref: false })]);
    while (this.#working !== undefined) await this.#working;
    // A chain with discrepancies that could not be recorded is compared again at the next start.
    const isWhole = this.#problem === undefined && this.#unsaid.length === 0;
    this.#problem ??= closedProblem;
    await this.#file.close();
    if (isWhole) await this.#rememberEnd();
  }

  /** Remembers an orderly end, before a seal closes the store. A later end is treated like that of a killed process. */
  async #rememberEnd(): Promise<void> {
    const { memory, chain, log } = this.#options;
    try {
      await memory?.update([{ chain, part: 'closed', head: this.#head }]);
    } catch (error) {
      log.info('where the audit trail ended could not be remembered', { reason: reasonOf(error) });
    }
  }

  /** Signs the last records: a signature in progress does not cover them, so another one follows. */
  async #signLast(): Promise<void> {
    await this.#note({ event: 'stopped' }).catch(() => {});
    await this.#retiring;
    await this.#signing;
    await this.#signAndRetire();
  }

  #append(fields: string): Promise<void> {
    if (this.#problem !== undefined) return Promise.reject(unavailable(this.#problem));
    let batch = this.#waiting.at(-1);
    if (batch === undefined || batch.fields.length >= maxBatchRecords) {
      batch = { ...Promise.withResolvers<void>(), fields: [] };
      this.#waiting.push(batch);
      this.#work(() => this.#flush());
    }
    batch.fields.push(fields);
    return batch.promise;
  }

  /** Writes a record of the trail about itself. */
  #note(fields: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#append(this.#ownFields(fields));
  }

  #ownFields(fields: Readonly<Record<string, unknown>>): string {
    return formatFields({ kind: 'trail', occurredAt: formatTimestamp(this.#options.clock.now()), ...fields });
  }

  /** Runs tasks that use the file, one at a time. */
  #work(task: () => Promise<void>): void {
    this.#working ??= task().finally(() => {
      this.#working = undefined;
      if (this.#waiting.length > 0) this.#work(() => this.#flush());
    });
  }

  async #flush(): Promise<void> {
    // Records of the same turn of the event loop are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0 && this.#problem === undefined) {
      await this.#rotateIfFull();
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      this.#inFlight = batch;
      this.#deadlineMs = this.#options.clock.monotonicMs() + this.#options.maxWaitSeconds * 1_000;
      try {
        const head = await this.#store(batch.fields);
        if (this.#problem !== undefined) return;
        this.#keep(head);
        batch.resolve();
      } catch (error) {
        this.#lost ||= error instanceof FileLost;
        this.#giveUp(error instanceof Error ? error.message : String(error));
      } finally {
        this.#inFlight = undefined;
        this.#deadlineMs = Number.POSITIVE_INFINITY;
      }
    }
  }

  async #store(records: readonly string[]): Promise<ChainHead> {
    let head = this.#head;
    let text = '';
    const storeRevision = this.#options.storeRevision?.();
    let more = storeRevision === this.#namedRevision ? '' : formatFields({ storeRevision });
    for (const fields of records) {
      const line = formatLine(this.#options.chain, head, fields + more);
      head = line.head;
      text += line.text;
      more = '';
    }
    await this.#file.append(Buffer.from(text));
    this.#namedRevision = storeRevision;
    return head;
  }

  #keep(head: ChainHead): void {
    this.#head = head;
    this.#keptBytes = this.#file.size;
  }

  /** Refuses all queued and later records until #recover succeeds. */
  #giveUp(problem: string): void {
    if (this.#problem === undefined) this.#options.log.error('the audit trail cannot be written', { reason: problem });
    this.#problem ??= problem;
    const refused = this.#inFlight === undefined ? this.#waiting : [this.#inFlight, ...this.#waiting];
    this.#waiting = [];
    this.#inFlight = undefined;
    for (const { fields, reject } of refused) {
      this.#refused += fields.length;
      reject(unavailable(problem));
    }
  }

  #keepWatch(): void {
    if (this.#problem !== undefined) this.#work(() => this.#recover());
    else if (this.#options.clock.monotonicMs() > this.#deadlineMs) this.#giveUp('the disk does not answer');
  }

  /** Removes unacknowledged records, or leaves a lost file and continues in a new one; then records the outage. */
  async #recover(): Promise<void> {
    const problem = this.#problem;
    try {
      if (this.#lost) {
        await this.#losses.examine(this.#head);
        await this.#startFile();
      } else await this.#file.cutBack(this.#keptBytes);
      // With room for one record only, this record would take it and the next one would be refused again.
      await this.#file.append(Buffer.alloc(roomBytes));
      await this.#file.cutBack(this.#keptBytes);
      const notes = [{ event: 'resumed', problem, refused: this.#refused }, ...this.#losses.unsaid];
      this.#keep(await this.#store(notes.map((note) => this.#ownFields(note))));
      this.#problem = undefined;
      this.#refused = 0;
      this.#options.log.info('the audit trail can be written again');
      this.#losses.said();
      void this.#losses.tell();
    } catch (error) {
      this.#lost ||= error instanceof FileLost;
      this.#options.log.debug('the audit trail still cannot be written', { reason: String(error) });
    }
  }

  async #rotateIfFull(): Promise<void> {
    if (this.#file.size < this.#options.maxFileBytes) return;
    try {
      const full = this.#file.path;
      await this.#startFile();
      await AuditFile.seal(full);
      void this.#signAndRetire();
    } catch (error) {
      this.#options.log.warn('the audit trail goes on in a file that is full', { reason: String(error) });
    }
  }

  async #startFile(): Promise<void> {
    const { directory, chain } = this.#options;
    const number = this.#head.sequence + 1;
    const attempts = ((await listStreams(directory)).get(chain) ?? []).filter((file) => file.number === number).length;
    const next = await AuditFile.create(streamFilePath(directory, chain, number, attempts));
    await this.#file.close();
    this.#file = next;
    this.#keptBytes = 0;
    this.#lost = false;
  }

  /** Signs, and removes files whose removal is covered by a signature. */
  #signAndRetire(): Promise<void> {
    this.#retiring ??= (async () => {
      await this.#retire();
      await this.signHeads();
      await this.#retire();
    })().finally(() => (this.#retiring = undefined));
    return this.#retiring;
  }

  async #retire(): Promise<void> {
    try {
      await this.#retention?.step();
    } catch (error) {
      this.#options.log.warn('old files of the audit trail could not be removed', { reason: String(error) });
    }
  }
}

function unavailable(reason: string): ServiceError {
  return fail('audit-unavailable', { retryAfterSeconds: 5, cause: new Error(reason) });
}
