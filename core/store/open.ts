// Opens the store: tables over LMDB, one write path with group commit, caches that stay coherent between processes.
import type { CheckFinding } from '../base/context.ts';
import { defined } from '../base/defined.ts';
import { fail } from '../base/errors.ts';
import { checkRecords, type ExaminedContent, examineContent } from './check.ts';
import { proveDataKey } from './data-key.ts';
import { copyEnvironment, Environment } from './environment.ts';
import { decodeKey, requireName } from './keys.ts';
import { presentFence } from './fence.ts';
import { Unsettled } from './records/unsettled.ts';
import type { SharedStore } from './intent.ts';
import { firstLevel, ownLevels } from './records/level.ts';
import { migrate, type Migration } from './migrate.ts';
import { NotedChanges } from './noted.ts';
import { positionOf } from './replica.ts';
import { Outdated, RecordCache } from './records/cache.ts';
import { Sealer } from './records/sealing.ts';
import { changesBetween, noteChanges, raiseRevision, revisionKey, revisionOf } from './revision.ts';
import type { OpenStore, StoreOptions } from './open-store.ts';
import type { Store, Table, WriteTransaction } from './store.ts';
import { Change, type TableContext, tableNamesIn, tableOn, type TenantExists } from './tables.ts';

export type { OpenStore } from './open-store.ts';

/** Opens the store of a directory, also in several processes. Rejects if the data key is not the one with which it was created. */
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

/** Interval at which an idle process moves its snapshot, so that LMDB can reuse the pages of older states. */
const idleRefreshMs = 1_000;

/** Writes in one commit: a creation changes four records, and after more than a thousand changes all caches are dropped (revision.ts). */
const mostTogether = 150;

const earlierCopy = 'the store was replaced by an earlier copy of itself, from which nothing is answered';

/** Limit of logged records that do not open: more say nothing new. */
const mostSaid = 1_000;

/** Number of losses after which a write is rejected: it competes with a storm of others, and its caller decides whether to continue. */
const mostLosses = 100;

class LmdbStore implements OpenStore {
  readonly appliance: string | undefined;
  readonly isolatedSeconds: number | undefined;
  onUnreadable: ((table: string) => void) | undefined;
  readonly #options: StoreOptions;
  readonly #environment: Environment;
  readonly #noted: NotedChanges;
  readonly #context: TableContext;
  readonly #tables = new Map<string, Table<unknown>>();
  readonly #idleRefresh: NodeJS.Timeout;
  /** records that do not open and have a line in the log */
  readonly #damaged = new Set<string>();
  #isReplica = false;
  #revision = 0;
  #isBehind = false;
  #openedAt = 0;
  #committed: number | undefined;
  #state = 0;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;

  constructor(options: StoreOptions) {
    const cache = new RecordCache(options.cacheBytes ?? 32 << 20);
    const restarted = (): void => this.#forget();
    const { shared } = options;
    this.#options = options;
    this.appliance = shared?.appliance;
    this.isolatedSeconds = shared?.isolatedSeconds;
    this.#environment = new Environment(options.directory, restarted, options.log);
    this.#noted = new NotedChanges(this.#environment);
    const environment = shared === undefined ? this.#environment : this.#noted;
    this.#context = {
      ...{ environment, sealer: new Sealer(options.dataKey), cache, outdated: new Outdated(), tenants: { tables: new Set() } },
      ...defined({ unsettled: shared && new Unsettled(() => shared.settled) }),
      onDamaged: (text, reason) => this.#sayDamaged(text, reason),
    };
    this.#idleRefresh = setInterval(() => this.#refreshIfPossible(), idleRefreshMs).unref();
  }

  /** Logs a record that does not open, once: lists and sweeps meet it repeatedly. */
  #sayDamaged(text: string, reason: string): void {
    if (this.#damaged.has(text) || this.#damaged.size >= mostSaid) return;
    this.#damaged.add(text);
    this.#options.log?.error('a record of the store is unreadable: an earlier backup has it', { reason });
    this.onUnreadable?.(decodeKey(text).table);
  }

  async begin(): Promise<void> {
    await proveDataKey(this.#environment, this.#context.sealer, this.#options.directory);
    this.#isReplica = positionOf(this.#environment) !== undefined;
    this.refresh();
    this.#openedAt = this.#revision;
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

  tableNames(): Iterable<string> {
    return tableNamesIn(this.#environment);
  }

  prefixed(owner: string): Store {
    requireName(owner);
    const table = <V>(name: string) => this.#tableOf(`${owner}/${requireName(name)}`) as Table<V>;
    const stateOf = (): number | undefined => this.state;
    const levelOf = (): number => this.level;
    return {
      table,
      tenantTable: <V>(name: string) => this.#ofTenants(table<V>(name)),
      write: (change) => this.write(change),
      ...{ appliance: this.appliance, isolatedSeconds: this.isolatedSeconds },
      refresh: () => this.refresh(),
      get level() {
        return levelOf();
      },
      get state() {
        return stateOf();
      },
    };
  }

  write<T>(change: (transaction: WriteTransaction) => T): Promise<T> {
    const fence = presentFence();
    return new Promise((resolve, reject) => {
      let settle: () => void;
      this.#waiting.push({
        attempt: (changed) => {
          const transaction = new Change(this.#context);
          try {
            const result = this.#context.environment.undoable(() => {
              fence?.(transaction);
              return requireSynchronous(change(transaction));
            });
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
    const { environment, cache, unsettled } = this.#context;
    if (environment.inCommit) return;
    let newest = this.#revision;
    this.#environment.refresh(revisionKey, (value) => (newest = revisionOf(value)) !== this.#revision);
    this.#requireNotBehind(newest);
    if (newest === this.#revision) return;
    const changed = changesBetween(this.#environment, this.#revision, newest);
    this.#revision = newest;
    const position = unsettled && positionOf(this.#environment);
    if (position !== undefined) unsettled?.moved(changed, position.changedAt ?? position.revision);
    if (changed === undefined) return this.#forget();
    this.#state++;
    for (const key of changed) cache.delete(key);
  }

  /**
   * Refuses an older copy of the store: revoked or used-up credentials would be valid again. Permanently, because LMDB cannot tell the pages
   * of the copies apart.
   */
  #requireNotBehind(found: number): void {
    this.#isBehind ||= found < this.#revision && !this.#isReplica;
    if (!this.#isBehind) return;
    this.#forget();
    throw fail('storage-unavailable', { retryAfterSeconds: 5, cause: new Error(earlierCopy) });
  }

  untilSettled(): Promise<void> | undefined {
    const touched = this.#context.unsettled?.touched;
    return touched === undefined ? undefined : this.#options.shared?.untilSettled(touched);
  }

  get state(): number | undefined {
    return this.#context.environment.inCommit ? undefined : this.#state;
  }

  /** Drops all caches: earlier reads may be wrong. */
  #forget(): void {
    this.#state++;
    this.#context.cache.clear();
  }

  migrate(owner: string, migrations: readonly Migration[]): Promise<void> {
    return migrate(this.prefixed('core'), owner, migrations, owner === 'core' ? this : this.prefixed(owner));
  }

  check(): Iterable<CheckFinding> {
    return checkRecords(this.#context);
  }

  examineContent(): Promise<ExaminedContent> {
    return examineContent(this.#environment);
  }

  get isReplica(): boolean {
    return this.#isReplica;
  }

  get openedAt(): number | undefined {
    return this.#isReplica ? undefined : this.#openedAt;
  }

  get committed(): number | undefined {
    return this.#committed;
  }

  get damage(): string | undefined {
    return this.#environment.damage ?? (this.#isBehind ? earlierCopy : undefined);
  }

  async goOnAfter(revision: number): Promise<void> {
    if (this.#isReplica || revision <= this.#revision) return;
    await this.#environment.commit(() => {
      if (revisionOf(this.#environment.get(revisionKey)) < revision) raiseRevision(this.#environment, revision);
    });
    this.refresh();
  }

  get isStalled(): boolean {
    return this.#environment.isStalled;
  }
  readonly onDamagedPage = (tell: () => void): void => this.#environment.onDamagedPage(tell);
  get level(): number {
    const position = positionOf(this.#environment);
    return position === undefined ? ownLevels.newest : (position.level ?? firstLevel);
  }

  get isWhole(): boolean {
    return positionOf(this.#environment)?.filling !== true;
  }

  backup(directory: string): Promise<{ readonly records: number }> {
    return copyEnvironment(this.#environment, directory);
  }

  async close(): Promise<void> {
    clearInterval(this.#idleRefresh);
    await this.#committing;
    await this.#environment.close();
    this.#context.sealer.forget();
    this.#forget();
  }

  /** Commits one after another; each takes the writes that are queued. */
  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      let batch: readonly Waiting[] = [];
      const take = (count: number): readonly Waiting[] => (batch = this.#waiting.splice(0, count));
      try {
        await this.#requireKept();
        const { shared } = this.#options;
        await (shared === undefined ? this.#commitAlone(take) : this.#commitShared(shared, take));
      } catch (error) {
        if (batch.length === 0) batch = take(this.#waiting.length);
        for (const write of batch) write.abandon(error);
        continue;
      }
      this.#refreshIfPossible();
      // Refusals wait for the commit too: they may depend on an earlier write of the same batch.
      for (const write of batch) write.settle();
    }
    this.#committing = undefined;
  }

  /** One commit of LMDB with the writes that are queued when LMDB grants the lock, up to `mostTogether`. */
  async #commitAlone(take: (count: number) => readonly Waiting[]): Promise<void> {
    let revision: number | undefined;
    await this.#environment.commit(() => {
      this.#requireNotBehind(revisionOf(this.#environment.get(revisionKey)));
      this.#context.outdated.begin(this.#changesSinceSnapshot());
      const changed = new Set<string>();
      for (const write of take(mostTogether)) write.attempt(changed);
      if (changed.size === 0) return;
      this.#requireOwn();
      revision = noteChanges(this.#environment, changed);
    });
    this.#committed = revision ?? this.#committed;
  }

  /** Refuses a write to the replica alone, which the other appliances would never see. */
  #requireOwn(): void {
    if (this.#isReplica) throw new Error('this store is a replica, which its cluster alone changes');
  }

  /**
   * Runs the queued writes on the replica, as many as one transaction takes, and offers their notes to the shared store, again on the
   * newer state each time they lose. After two losses one write goes alone: the others of a batch would only lose with it.
   */
  async #commitShared(shared: SharedStore, take: (count: number) => readonly Waiting[]): Promise<void> {
    for (let losses = 0; losses < mostLosses; losses++) {
      this.refresh();
      const count = this.#attemptOnReplica(losses < 2 ? shared.batch : { operations: 0, bytes: 0 });
      let outcome: 'committed' | 'lost';
      try {
        // A batch that only reads needs no transaction: a replica that may answer has everything acknowledged earlier.
        outcome = this.#noted.isReadOnly ? 'committed' : await shared.commit(this.#noted.intent());
      } catch (error) {
        take(count);
        throw error;
      }
      if (outcome === 'committed') return void take(count);
    }
    take(1);
    throw fail('storage-unavailable', { retryAfterSeconds: 1, cause: new Error(`a change lost ${mostLosses} times against others`) });
  }

  /** Runs waiting writes until the batch is full, at least one; returns how many. Their notes are those of one snapshot. */
  #attemptOnReplica(most: SharedStore['batch']): number {
    const noted = this.#noted;
    let count = 0;
    noted.begin();
    // The cache is bypassed, because a record that is not looked up is not noted.
    this.#context.outdated.begin(undefined);
    noted.run(() => {
      for (const write of this.#waiting) {
        const restore = noted.mark();
        write.attempt(new Set());
        const { operations, bytes } = noted.size;
        if (count > 0 && (operations > most.operations || bytes > most.bytes)) return restore();
        count++;
      }
    });
    return count;
  }

  /** Inside a commit: the keys that other processes changed after the snapshot; undefined if unknown. */
  #changesSinceSnapshot(): readonly string[] | undefined {
    return changesBetween(this.#environment, this.#revision, revisionOf(this.#environment.get(revisionKey)));
  }

  /** Runs requireKept asynchronously, so that #commitAll never ends before #committing is assigned. */
  async #requireKept(): Promise<void> {
    // It is also checked inside the transaction, but an error there reopens the environment.
    if (!this.#isReplica && this.#revision > 0) this.refresh();
    this.#options.requireKept?.();
  }

  #refreshIfPossible(): void {
    try {
      this.refresh();
    } catch (error) {
      this.#forget();
      if (!this.#isBehind) this.#options.log?.warn('the store could not be read', { reason: String(error) });
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

function requireSynchronous<T>(result: T): T {
  if (result instanceof Promise) throw new TypeError('a change must be synchronous: do the slow work before Store.write');
  return result;
}
