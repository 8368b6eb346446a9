// Drills over the API: one at a time, each in a process of its own, of an uploaded backup or of one in a directory of the configuration.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Audit } from '../../../core/audit/record.ts';
import type { Clock, Job, Log } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { fail, reasonOf } from '../../../core/base/errors.ts';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { BackupConfig } from '../../../core/config/backup.ts';
import type { Store } from '../../../core/store/store.ts';
import { findHeld, holdRecord } from '../run/lease.ts';
import { backupName, type DrillOrders, type DrillSays, drillSays, type Looked, type Proven, type StoredFile } from './orders.ts';
import { drillHistory, type DrillResult, hasFoundFaults, keepResult, type RunningDrill, runningDrills } from './record.ts';
import { drillDirectory, dropUpload, findUpload, isAbandoned, sweepScratch, takePiece, type Upload, uploadFile } from './upload.ts';

const processFile = fileURLToPath(new URL('../../drill/drill-process.ts', import.meta.url));

/** Limits for a list of files, and for a drill: a share that hangs must not hold it without limit. */
const listMs = 10_000;
const drillMs = 3_600_000;
const sweepEverySeconds = 600;

export type DrillParts = {
  readonly data: string;
  /** options of the appliance, for its tokens */
  readonly options: readonly string[];
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: BackupConfig | undefined;
  /** public keys of the audit trail, PEM */
  auditKeys(): string;
  /** Writes the record of a drill that has ended. */
  record(result: DrillResult): Promise<void>;
};

/** `file`: in a directory of the configuration; absent: the uploaded one. */
export type DrillRequest = {
  readonly file?: string | undefined;
  readonly kind: 'drill' | 'look';
  readonly passphrase?: Secret<string> | undefined;
  readonly identity?: Secret<string> | undefined;
  readonly pin?: Secret<string> | undefined;
  readonly by: string;
};

export class Drills {
  readonly #parts: DrillParts;
  readonly #stopping = new AbortController();
  #now: Promise<void> | undefined;
  #listing: Promise<readonly StoredFile[]> | undefined;

  constructor(parts: DrillParts) {
    this.#parts = parts;
  }

  /** Removes an upload that nobody uses, and what a drill left whose process or worker was killed. */
  get job(): Job {
    return {
      ...{ name: 'drill-uploads', everySeconds: sweepEverySeconds, isOfEach: true, whileClockInDoubt: true },
      run: async () => {
        const { data } = this.#parts;
        const upload = await findUpload(data);
        if (this.running() !== undefined) return;
        if (upload !== undefined && isAbandoned(upload, Date.now())) await dropUpload(data);
        await sweepScratch(data, Date.now());
      },
    };
  }

  running(): RunningDrill | undefined {
    const { store, clock } = this.#parts;
    return findHeld(store, clock, runningDrills(store));
  }

  upload(): Promise<Upload | undefined> {
    return findUpload(this.#parts.data);
  }

  /** Throws `operation-refused`. */
  async takePiece(offset: number, piece: Uint8Array): Promise<Upload> {
    this.#requireIdle();
    return takePiece(this.#parts.data, offset, piece);
  }

  get directories(): readonly string[] {
    return (this.#parts.config?.to ?? []).flatMap((target) => (target.kind === 'directory' ? [resolve(target.directory)] : []));
  }

  /** Backups in the directories of the configuration, the newest first. Throws `operation-refused`. */
  stored(): Promise<readonly StoredFile[]> {
    // One process for all who ask meanwhile.
    this.#listing ??= this.#list().finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  async #list(): Promise<readonly StoredFile[]> {
    if (this.directories.length === 0) return [];
    let files: readonly StoredFile[] = [];
    const signal = AbortSignal.any([AbortSignal.timeout(listMs), this.#stopping.signal]);
    const problem = await this.#order(
      { kind: 'list', directories: [...this.directories] },
      signal,
      (said) => (files = said.files ?? files),
    );
    if (problem !== undefined)
      throw fail('operation-refused', {
        detail: `A directory of backups cannot be read: ${problem}. See that its file system answers, and try again.`,
      });
    return files;
  }

  /** Begins one; resolves when it has begun. Throws `operation-refused`, `invalid-value`. */
  async begin(request: DrillRequest): Promise<void> {
    const { data, store, clock } = this.#parts;
    const { file, by } = request;
    if (file !== undefined && !(this.directories.includes(dirname(file)) && backupName.test(basename(file))))
      throw fail('invalid-value', { detail: 'There is no such backup: stored-backups lists those of the configured directories.' });
    if (file === undefined && (await findUpload(data)) === undefined)
      throw fail('operation-refused', { detail: 'No backup was uploaded: upload one, or name the file of a stored one.' });
    const source = file === undefined ? 'an uploaded file' : basename(file);
    const lease = await holdRecord<RunningDrill>(store, clock, runningDrills(store), { by, source, stage: 'reading' }, { refusal: busy });
    this.#now = this.#run(request, source, (stage) => lease.progress({ stage }))
      .catch((error: unknown) => this.#parts.log.warn('the result of a drill could not be kept', { reason: reasonOf(error) }))
      .then(() => lease.end())
      .catch(() => undefined);
  }

  /** Ends the running one, and waits for it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#now;
  }

  history(): ReturnType<typeof drillHistory> {
    return drillHistory(this.#parts.store);
  }

  get hasFoundFaults(): boolean {
    return hasFoundFaults(this.#parts.store);
  }

  /** A drill elsewhere, of which a person tells. */
  async note(source: string, by: string): Promise<DrillResult> {
    const result: DrillResult = { at: this.#at(), by, kind: 'noted', outcome: 'restores', source };
    await keepResult(this.#parts.store, result);
    return result;
  }

  #requireIdle(): void {
    const running = this.running();
    if (running !== undefined) throw busy(running);
  }

  #at(): string {
    return formatTimestamp(this.#parts.clock.now());
  }

  async #run(request: DrillRequest, source: string, progress: (stage: 'reading' | 'proving') => void): Promise<void> {
    const { data, store, clock, log } = this.#parts;
    const { file, passphrase, identity, pin, by, kind } = request;
    const beganMs = clock.monotonicMs();
    await mkdir(drillDirectory(data), { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(drillDirectory(data), 'scratch-'));
    let looked: Looked | undefined;
    let proven: Proven | undefined;
    let problem: string | undefined;
    const secrets = defined({
      passphrase: passphrase && revealSecret(passphrase),
      identity: identity && revealSecret(identity),
      pin: pin && revealSecret(pin),
    });
    const orders = {
      kind: kind === 'look' ? ('look' as const) : ('prove' as const),
      ...{ scratch, ownKeys: this.#parts.auditKeys(), ...secrets },
      file: file ?? uploadFile(data),
    };
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(drillMs), this.#stopping.signal]);
      problem = await this.#order(orders, signal, (said) => {
        if (said.stage !== undefined) progress(said.stage);
        looked = said.looked ?? looked;
        proven = said.proven ?? proven;
      });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    // A stop is nothing that a drill has found.
    if (this.#stopping.signal.aborted) return;
    const seconds = Math.round((clock.monotonicMs() - beganMs) / 1_000);
    const result = { at: this.#at(), by, kind, source, seconds, ...resultOf(kind, { looked, proven, problem }) };
    log.info('a drill has ended', { outcome: result.outcome });
    await keepResult(store, result);
    await this.#parts.record(result);
    if (file === undefined && result.outcome === 'restores') await dropUpload(data);
  }

  /** Resolves with the problem, or undefined. The process is killed at the signal, and left to the kernel if it does not end. */
  async #order(orders: DrillOrders, signal: AbortSignal, heard: (said: DrillSays) => void): Promise<string | undefined> {
    const child = spawn(process.execPath, [processFile, ...this.#parts.options], { stdio: ['pipe', 'ignore', 2, 'ipc'] });
    const ended = Promise.withResolvers<string | undefined>();
    child.on('message', (message) => {
      const said = drillSays.parse(message);
      heard(said);
      if (said.done === true) ended.resolve(said.problem);
    });
    child.once('error', (error) => ended.resolve(`its process did not start: ${error.message}`));
    child.once('exit', (code, how) => ended.resolve(`its process ended before it was done (${how ?? `exit code ${code}`})`));
    signal.addEventListener('abort', () => ended.resolve('it took too long, or the appliance was stopped'), { once: true });
    // Requests come first, and for a list one waits.
    if (child.pid !== undefined && orders.kind !== 'list') setPriority(child.pid, 10);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(JSON.stringify(orders));
    const problem = await ended.promise;
    await dismiss(child);
    return problem;
  }
}

/** Limit for the exit of a process that is done, or was killed. */
const lastMs = 5_000;

async function dismiss(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await Promise.race([exited, once(AbortSignal.timeout(lastMs), 'abort')]);
  if (child.connected) child.disconnect();
  child.unref();
}

/** A drill that was made is not undone because it cannot be recorded. */
export async function recordDrill(audit: Audit, clock: Clock, { outcome, source, manifest, madeAt, by }: DrillResult): Promise<void> {
  await audit.write({
    ...{ kind: 'system', occurredAt: formatTimestamp(clock.now()), requestId: randomUUID(), tenant: 'system', code: 'drill-ended' },
    requestParameters: defined({ outcome, source, manifest, 'made-at': madeAt, by }),
  });
}

function busy({ startedAt }: RunningDrill): Error {
  return fail('operation-refused', { detail: `A drill has been running since ${startedAt}: wait until it has ended.` });
}

type Found = { readonly looked: Looked | undefined; readonly proven: Proven | undefined; readonly problem: string | undefined };

function resultOf(kind: 'drill' | 'look', { looked, proven, problem }: Found): Omit<DrillResult, 'at' | 'by' | 'kind' | 'source'> {
  const { unfit, ...facts } = looked ?? {};
  if (problem !== undefined) return { outcome: 'not-opened', reason: problem, ...facts };
  if (kind === 'drill' && proven !== undefined) {
    const keys = Object.entries(proven.keys).map(([type, count]) => ({ type, count }));
    const { findings, findingCount, notes } = proven;
    return { outcome: findingCount === 0 ? 'restores' : 'found', ...facts, keys, findings, findingCount, notes };
  }
  const reason = unfit ?? (kind === 'drill' && looked !== undefined ? notOwn[looked.signedBy] : undefined);
  return { outcome: 'looked', ...defined({ reason }), ...facts };
}

/** Reasons for which a backup is looked at, and not restored for trial. */
const notOwn: Readonly<Record<Looked['signedBy'], string | undefined>> = {
  'this-appliance': undefined,
  another:
    'another appliance signed it: its store and token are opened on a machine alone, with `keystored restore-drill`, because a file that somebody else made could attack this one',
  nobody:
    'nobody signed it, so anybody may have made it: its store and token are opened on a machine alone, with `keystored restore-drill`',
};
