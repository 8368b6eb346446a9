// One LMDB environment: a held snapshot for reads, one way to commit, and a restart after a failed commit.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { allDbs, open, type RootDatabase, type Transaction } from 'lmdb';
import type { Log } from '../base/context.ts';
import { requireFile, syncPath } from '../base/durable-files.ts';
import { fail, reasonOf, ServiceError } from '../base/errors.ts';
import { contentOf } from './files/content.ts';
import { requireUncut } from './files/damage.ts';
import { StoreDamaged } from './files/store-damaged.ts';
import { StoreFiles } from './files/store-files.ts';

declare module 'lmdb' {
  /** It is exported; the types of lmdb-js lack it. */
  export const allDbs: Map<string, unknown>;
}

/** Octets from `low` (inclusive) to `high` (exclusive). */
export type Span = { readonly low: Buffer; readonly high: Buffer };

type Database = RootDatabase<Buffer, Buffer>;

/** True while keys are read as texts: lmdb-js asks its key encoder for each. A walk is synchronous, so no other one runs meanwhile. */
let readsTexts = false;

/** Makes keys of LMDB's octets. A text straight from them takes a quarter of the time that an array of octets takes to make and decode. */
const keyEncoder = {
  writeKey(key: Buffer, target: Buffer, start: number): number {
    target.set(key, start);
    return start + key.length;
  },
  readKey(source: Buffer, start: number, end: number): Buffer | string {
    return readsTexts ? source.toString('utf8', start, end) : Buffer.copyBytesFrom(source, start, end - start);
  },
};

/** Address space reserved in advance, so that the map is not moved while the file grows. Unused address space costs nothing. */
const reservedBytes = 4 * 2 ** 30;

/** Duration of a commit from which the disk counts as stalled: a working disk commits in milliseconds, also behind other processes. */
const longCommitMs = 5_000;

export class Environment {
  readonly #directory: string;
  readonly #restarted: () => void;
  readonly #log: Log | undefined;
  #database: Database | undefined;
  #snapshot: Transaction | undefined;
  #inCommit = false;
  /** start of the running commit on the monotonic clock; undefined without one */
  #commitBegan: number | undefined;
  #resting = false;
  /** functions that undo the writes of the running change, latest last */
  #undo: (() => void)[] | undefined;
  /** true if a write of the running commit could not be undone */
  #isSpoiled = false;
  #contentChange = 0n;
  /** true once the key of refresh() had a value */
  #hadValue = false;
  readonly #files: StoreFiles;
  #tellUnreadable: () => void = () => undefined;

  /** `restarted` is called when reads may see another state without a refresh. */
  constructor(directory: string, restarted: () => void, log?: Log) {
    this.#directory = directory;
    this.#restarted = restarted;
    this.#log = log;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#database = openDatabase(directory);
    this.#files = new StoreFiles(directory);
  }

  /** Calls `tell` when LMDB reports a damaged page. */
  onDamagedPage(tell: () => void): void {
    this.#tellUnreadable = tell;
  }

  /** Damage to its files since it was opened; undefined without damage. */
  get damage(): string | undefined {
    return this.#files.damage();
  }

  /** True while a commit is running: reads then see its writes. */
  get inCommit(): boolean {
    return this.#inCommit;
  }

  /** True if the disk has kept a commit waiting for longer than five seconds. */
  get isStalled(): boolean {
    return this.#commitBegan !== undefined && performance.now() - this.#commitBegan > longCommitMs;
  }

  get(key: Buffer): Uint8Array | undefined {
    return this.#guarded((database) => database.get(key, this.#view(database)));
  }

  /** At most `limit` keys of a span, fetched at once, so that no LMDB cursor stays open. */
  keys(span: Span, limit: number, reverse: boolean): Buffer[] {
    return this.#guarded((database) => {
      const range = reverse
        ? { start: span.high, exclusiveStart: true, end: span.low, inclusiveEnd: true }
        : { start: span.low, end: span.high };
      return Array.from(database.getKeys({ ...range, ...this.#view(database), reverse, limit }));
    });
  }

  /** As keys, as texts (keys.ts). */
  texts(span: Span, limit: number, reverse: boolean): string[] {
    readsTexts = true;
    try {
      return this.keys(span, limit, reverse) as unknown as string[];
    } finally {
      readsTexts = false;
    }
  }

  count(span: Span): number {
    return this.#guarded((database) => database.getKeysCount({ start: span.low, end: span.high, ...this.#view(database) }));
  }

  /** Difference that the running commit has made to the content so far (files/content.ts). */
  get contentChange(): bigint {
    return this.#contentChange;
  }

  /** Only inside a commit. */
  put(key: Buffer, value: Uint8Array): void {
    this.#guarded((database) => {
      this.#remember(database, key, value);
      database.putSync(key, value as Buffer);
    });
  }

  /** Only inside a commit. Returns whether the key existed. */
  remove(key: Buffer): boolean {
    return this.#guarded((database) => {
      this.#remember(database, key, undefined);
      return database.removeSync(key);
    });
  }

  /**
   * Only inside a commit: runs work whose throw undoes only its own writes. Former values are put back, latest first: a
   * nested transaction of LMDB for each change took longer, and copied every page that the commit had written before.
   */
  undoable<T>(work: () => T): T {
    this.#undo = [];
    const contentChange = this.#contentChange;
    try {
      return work();
    } catch (error) {
      this.#takeBack(this.#undo);
      this.#contentChange = contentChange;
      throw error;
    } finally {
      this.#undo = undefined;
    }
  }

  /** Remembers the present value of a key, to undo a write. `next`: the value that replaces it; undefined: a deletion. */
  #remember(database: Database, key: Buffer, next: Uint8Array | undefined): void {
    const before = database.get(key);
    this.#contentChange += contentOf(key, next) - contentOf(key, before);
    this.#undo?.push(before === undefined ? () => database.removeSync(key) : () => database.putSync(key, before));
  }

  /** Undoes writes. After an error of LMDB itself they cannot be undone one by one: the whole commit is undone. */
  #takeBack(undo: readonly (() => void)[]): void {
    try {
      for (const step of undo.toReversed()) step();
    } catch {
      this.#isSpoiled = true;
    }
  }

  /**
   * Moves the snapshot to the newest state if `isNewer` returns true for the value now under `key`. The check takes about a microsecond.
   * With a held snapshot, all reads between two refreshes see the same state, independent of LMDB's own timers. A value that was there once
   * and is gone counts as a damaged page: a page of other octets may read as an empty one.
   */
  refresh(key: Buffer, isNewer: (value: Uint8Array | undefined) => boolean): void {
    this.#guarded((database) => {
      database.resetReadTxn();
      const value = database.getBinaryFast(key);
      if (value === undefined && this.#hadValue) this.#tellUnreadable();
      this.#hadValue ||= value !== undefined;
      if (!isNewer(value) && this.#snapshot !== undefined) return;
      this.#releaseSnapshot();
      this.#snapshot = database.useReadTransaction();
    });
  }

  /**
   * Runs the work in one write transaction and resolves when it is on the disk (two fdatasync in LMDB's own order). A throw undoes
   * everything. Rejects with `storage-unavailable` if the commit fails; then nothing of it is visible.
   */
  async commit(work: () => void): Promise<void> {
    // A closed store, as after a seal, is refused without a log line: nothing is wrong with the disk.
    const database = this.#opened();
    this.#requireFiles();
    this.#commitBegan = performance.now();
    try {
      await database.childTransaction(() => {
        this.#inCommit = true;
        this.#isSpoiled = false;
        this.#contentChange = 0n;
        try {
          work();
          if (this.#isSpoiled) throw new Error('LMDB could not write, nor undo what it had written');
        } finally {
          this.#inCommit = false;
        }
      });
    } catch (error) {
      const cause = await causeOf(error);
      this.#log?.error('the store could not be written', { reason: String(cause) });
      await this.#restart();
      throw unavailable(cause);
    } finally {
      this.#commitBegan = undefined;
    }
    // A commit to a file that was removed meanwhile is not acknowledged.
    this.#requireFiles();
  }

  #requireFiles(): void {
    const { damage } = this;
    if (damage !== undefined) throw unavailable(new Error(damage));
  }

  /** Copies the newest state, compacted, into an empty directory. */
  async copy(directory: string): Promise<void> {
    await this.#opened().backup(directory, true);
  }

  /** Waits for the current commit. Later calls are refused. */
  async close(): Promise<void> {
    this.#resting = true;
    await this.#shut();
  }

  // After a failed write of its meta page LMDB refuses everything, and the next write hangs in lmdb-js: reopen it.
  async #restart(): Promise<void> {
    if (this.#resting) return;
    this.#resting = true;
    await this.#shut();
    this.#resting = false;
    this.#restarted();
  }

  async #shut(): Promise<void> {
    const database = this.#database;
    this.#releaseSnapshot();
    this.#database = undefined;
    if (database !== undefined) await closeDatabase(database);
  }

  #releaseSnapshot(): void {
    const snapshot = this.#snapshot;
    this.#snapshot = undefined;
    snapshot?.done();
  }

  #view(database: Database): { transaction?: Transaction } {
    if (this.#inCommit) return {};
    this.#snapshot ??= database.useReadTransaction();
    return { transaction: this.#snapshot };
  }

  #guarded<T>(read: (database: Database) => T): T {
    try {
      return read(this.#opened());
    } catch (error) {
      if (/MDB_(?:PAGE_NOTFOUND|CORRUPTED|INVALID)/.test(String(error))) this.#tellUnreadable();
      throw error instanceof ServiceError ? error : unavailable(error);
    }
  }

  #opened(): Database {
    // Reopened while the old one is still closing, lmdb-js would return the old one.
    if (this.#resting) throw unavailable(new Error('the store is closed'));
    // Reopened without its file, it would be a new store.
    if (this.#database === undefined) this.#requireFiles();
    this.#database ??= openDatabase(this.#directory);
    return this.#database;
  }
}

/** Rejects when the directory exists, so that a copy never overwrites another. Resolves with the number of entries in the copy. */
export async function copyEnvironment(environment: Environment, directory: string): Promise<{ readonly records: number }> {
  await mkdir(directory, { mode: 0o700 });
  await environment.copy(directory);
  await chmod(join(directory, 'data.mdb'), 0o600);
  await syncPath(join(directory, 'data.mdb'));
  await syncPath(directory);
  await syncPath(dirname(directory));
  return { records: await countRecords(directory) };
}

/** The number of entries in the store of a directory that no process has open. */
export async function countRecords(directory: string): Promise<number> {
  const database = openDatabase(directory, { readOnly: true });
  try {
    return (database.getStats() as { readonly entryCount: number }).entryCount;
  } finally {
    await closeDatabase(database);
  }
}

/** Closes a database and removes it from the table of lmdb-js, which keeps closed ones by name: 64 KiB for each copy that a backup has read. */
async function closeDatabase(database: Database): Promise<void> {
  await database.close();
  for (const [name, opened] of allDbs) if (opened === database) allDbs.delete(name);
}

function openDatabase(path: string, more: { readonly readOnly?: boolean } = {}): Database {
  requireOpenable(path, more.readOnly === true);
  const file = join(path, 'data.mdb');
  if (existsSync(file)) requireUncut(path, file);
  const fileBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const options = {
    path,
    noSubdir: false,
    permissionsMode: 0o600,
    encoding: 'binary' as const,
    keyEncoder,
    // With false, a commit is acknowledged after its fdatasync, in LMDB's own order, without the recovery rules of lmdb-js.
    overlappingSync: false,
    // Its batches leave an unhandled rejection when a commit fails, which would end the process.
    eventTurnBatching: false,
    mapSize: Math.max(reservedBytes, 4 * fileBytes),
    ...more,
  };
  try {
    return open<Buffer, Buffer>(options);
  } catch (error) {
    throw /^MDB_|Invalid|corrupt/i.test(reasonOf(error)) ? new StoreDamaged(`${file} is damaged (${reasonOf(error)})`) : error;
  }
}

/**
 * Checks that LMDB can open its files. If it cannot, lmdb-js 3.5 uses freed memory, which ends the process silently: predictable faults are
 * thrown here, as an error of Node.js. The lock file is not opened: closing it would release the locks of LMDB in this process (fcntl(2)).
 */
function requireOpenable(directory: string, readOnly: boolean): void {
  const [data, lock] = [join(directory, 'data.mdb'), join(directory, 'lock.mdb')];
  if (!readOnly) accessSync(directory, constants.W_OK);
  for (const file of [data, lock]) requireFile(file);
  if (existsSync(lock)) accessSync(lock, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  if (existsSync(data)) closeSync(openSync(data, readOnly ? 'r' : 'r+'));
}

// lmdb-js rejects with "Commit failed" and provides the reason in a second promise, a moment later.
async function causeOf(failure: unknown): Promise<unknown> {
  const reason = (failure as { commitError?: Promise<never> }).commitError;
  if (reason === undefined) return failure;
  return Promise.race([reason.catch((cause: unknown) => cause), setTimeout(1_000, failure, { ref: false })]);
}

function unavailable(cause: unknown): ServiceError {
  return fail('storage-unavailable', { retryAfterSeconds: 5, cause });
}
