// Opens the store: tables over LMDB, one write path with group commit, caches that stay coherent between processes.
import type { CheckFinding, Log } from '../base/context.ts';
import type { Secret } from '../base/secret.ts';
import { Outdated, RecordCache } from './cache.ts';
import { checkRecords } from './check.ts';
import { copyEnvironment } from './copy.ts';
import { proveDataKey } from './data-key.ts';
import { Environment } from './environment.ts';
import { migrate, type Migration } from './migrate.ts';
import { changesBetween, noteChanges, revisionKey, revisionOf } from './revision.ts';
import { Sealer } from './sealing.ts';
import type { Store, Table, WriteTransaction } from './store.ts';
import { Change, type TableContext, tableOn, type TenantExists } from './tables.ts';

/** The whole store, for the composition root; all others get a `Store`. */
export interface OpenStore extends Store {
  /** A view whose tables have the owner's name as a prefix: what a plugin gets. */
  prefixed(owner: string): Store;
  /**
   * Runs the migrations of `core` or of a plugin that have not run yet, in order, each in its own transaction; safe when
   * several processes do it at once. Rejects when the store's data is newer than the last migration known.
   */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /** Sets how to tell whether a tenant exists; until then, tables of tenants accept every record. */
  guardTenants(exists: TenantExists): void;
  /** All tables of tenants that have been opened. */
  tenantTables(): readonly Table<unknown>[];
  /** Opens every record, past the cache, and reports those that do not open or decode. */
  check(): Iterable<CheckFinding>;
  /** Copies the current state, compacted and synced, into a new directory; it opens with the same data key. `records`: the entries in the copy. */
  backup(directory: string): Promise<{ readonly records: number }>;
  /** Finishes queued writes, closes and zeroes the key; later reads and writes are refused. Safe to call twice. */
  close(): Promise<void>;
}

export type StoreOptions = {
  /** created if missing; contains `data.mdb` and `lock.mdb` only */
  readonly directory: string;
  /** 32 octets; the same for all processes and starts */
  readonly dataKey: Secret<Uint8Array>;
  readonly log?: Log;
  /** Called before each commit: throws when what is written now could not be opened after a restart. */
  readonly requireKept?: () => void;
  /** size limit of the cache of decoded records, in octets of their sealed form */
  readonly cacheBytes?: number;
};

/** Opens the store of a directory, also in several processes. Rejects when the data key is not the one it was created with. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const store = new LmdbStore(options);
  try {
    await store.begin();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A write in the queue for the next commit. */
type Waiting = {
  attempt(changed: Set<string>): void;
  settle(): void;
  abandon(error: unknown): void;
};

/** An idle process moves its snapshot this often, so that LMDB can reuse the pages of older states. */
const idleRefreshMs = 1_000;

class LmdbStore implements OpenStore {
  readonly #options: StoreOptions;
  readonly #context: TableContext;
  readonly #tables = new Map<string, Table<unknown>>();
  readonly #idleRefresh: NodeJS.Timeout;
  #revision = 0;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;

  constructor(options: StoreOptions) {
    const cache = new RecordCache(options.cacheBytes ?? 32 << 20);
    const restarted = (): void => cache.clear();
    this.#options = options;
    const environment = new Environment(options.directory, restarted, options.log);
    this.#context = { environment, sealer: new Sealer(options.dataKey), cache, outdated: new Outdated(), tenants: { tables: new Set() } };
    this.#idleRefresh = setInterval(() => this.#refreshIfPossible(), idleRefreshMs).unref();
  }

  async begin(): Promise<void> {
    await proveDataKey(this.#context, this.#options.directory);
    this.refresh();
  }

  table<V>(name: string): Table<V> {
    return this.#tableOf(requireName(name)) as Table<V>;
  }

  tenantTable<V>(name: string): Table<V> {
    return this.#ofTenants(this.table<V>(name));
  }

  guardTenants(exists: TenantExists): void {
    this.#context.tenants.exists = exists;
  }

  tenantTables(): readonly Table<unknown>[] {
    return Array.from(this.#context.tenants.tables, (name) => this.#tableOf(name));
  }

  prefixed(owner: string): Store {
    requireName(owner);
    const table = <V>(name: string) => this.#tableOf(`${owner}/${requireName(name)}`) as Table<V>;
    return {
      table,
      tenantTable: <V>(name: string) => this.#ofTenants(table<V>(name)),
      write: (change) => this.write(change),
      refresh: () => this.refresh(),
    };
  }

  write<T>(change: (transaction: WriteTransaction) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle: () => void;
      this.#waiting.push({
        attempt: (changed) => {
          const transaction = new Change(this.#context);
          try {
            const result = this.#context.environment.undoable(() => requireSynchronous(change(transaction)));
            for (const key of transaction.changed) changed.add(key);
            settle = () => resolve(result);
          } catch (error) {
            settle = () => reject(error);
          } finally {
            transaction.end();
          }
        },
        settle: () => settle(),
        abandon: reject,
      });
      this.#committing ??= this.#commitAll();
    });
  }

  refresh(): void {
    const { environment, cache } = this.#context;
    if (environment.inCommit) return;
    let newest = this.#revision;
    environment.refresh(revisionKey, (value) => (newest = revisionOf(value)) !== this.#revision);
    if (newest === this.#revision) return;
    const changed = changesBetween(environment, this.#revision, newest);
    this.#revision = newest;
    if (changed === undefined) cache.clear();
    else for (const key of changed) cache.delete(key);
  }

  migrate(owner: string, migrations: readonly Migration[]): Promise<void> {
    return migrate(this.prefixed('core'), owner, migrations, owner === 'core' ? this : this.prefixed(owner));
  }

  check(): Iterable<CheckFinding> {
    return checkRecords(this.#context);
  }

  backup(directory: string): Promise<{ readonly records: number }> {
    return copyEnvironment(this.#context.environment, directory);
  }

  async close(): Promise<void> {
    clearInterval(this.#idleRefresh);
    await this.#committing;
    await this.#context.environment.close();
    this.#context.sealer.forget();
    this.#context.cache.clear();
  }

  /** Commits one after another; each takes every write that is queued when LMDB grants the lock. */
  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      let batch: Waiting[] = [];
      try {
        await this.#requireKept();
        await this.#context.environment.commit(() => {
          [batch, this.#waiting] = [this.#waiting, []];
          this.#context.outdated.begin(this.#changesSinceSnapshot());
          const changed = new Set<string>();
          for (const write of batch) write.attempt(changed);
          if (changed.size > 0) noteChanges(this.#context.environment, changed);
        });
      } catch (error) {
        if (batch.length === 0) [batch, this.#waiting] = [this.#waiting, []];
        for (const write of batch) write.abandon(error);
        continue;
      }
      this.#refreshIfPossible();
      // Refusals wait for the commit too: they may depend on an earlier write of the same batch.
      for (const write of batch) write.settle();
    }
    this.#committing = undefined;
  }

  /** Inside a commit: the keys that other processes changed after the snapshot; undefined when that is not known. */
  #changesSinceSnapshot(): readonly string[] | undefined {
    const { environment } = this.#context;
    return changesBetween(environment, this.#revision, revisionOf(environment.get(revisionKey)));
  }

  /** Asynchronous, so that #commitAll never ends before #committing is assigned. */
  async #requireKept(): Promise<void> {
    this.#options.requireKept?.();
  }

  #refreshIfPossible(): void {
    try {
      this.refresh();
    } catch (error) {
      this.#context.cache.clear();
      this.#options.log?.warn('the store could not be read', { reason: String(error) });
    }
  }

  #ofTenants<V>(table: Table<V>): Table<V> {
    this.#context.tenants.tables.add(table.name);
    return table;
  }

  #tableOf(name: string): Table<unknown> {
    let table = this.#tables.get(name);
    if (table === undefined) this.#tables.set(name, (table = tableOn(this.#context, name)));
    return table;
  }
}

function requireName(name: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name for a table or its owner`);
  return name;
}

function requireSynchronous<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('a change must be synchronous: do the slow work before Store.write');
  return result;
}
