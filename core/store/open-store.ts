// Interface of an opened store, and the options with which it is opened.
import type { CheckFinding, Log } from '../base/context.ts';
import type { Secret } from '../base/secret.ts';
import type { ExaminedContent } from './check.ts';
import type { SharedStore } from './intent.ts';
import type { Migration } from './migrate.ts';
import type { Store, Table } from './store.ts';
import type { TenantExists } from './tables.ts';

/** The whole store, for the composition root; all others get a `Store`. */
export interface OpenStore extends Store {
  /** Returns the view of a plugin, whose tables have the owner's name as a prefix. */
  prefixed(owner: string): Store;
  /**
   * Runs the migrations of `core` or of a plugin that have not run yet and that the level allows, in order; safe if several processes do it
   * at once. Rejects when the store's data is newer than the last migration known.
   */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /** Sets the function that tells whether a tenant exists; until then, tables of tenants accept every record. */
  guardTenants(exists: TenantExists): void;
  /** Full names of the tables that have records, opened or not. */
  tableNames(): Iterable<string>;
  /** Returns all opened tables of tenants. */
  tenantTables(): readonly Table<unknown>[];
  /** receives the table of each record that does not open, when it is first met */
  onUnreadable: ((table: string) => void) | undefined;
  /** Opens every record, past the cache, and reports those that do not open or decode. */
  check(): Iterable<CheckFinding>;
  /** Compares the records with those that were written, one by one; for a replica, the process that follows does this. */
  examineContent(): Promise<ExaminedContent>;
  /** Copies the current state, compacted and synced, into a new directory; it opens with the same data key. `records`: the entries in the copy. */
  backup(directory: string): Promise<{ readonly records: number }>;
  /** true if the directory is the replica of a shared store */
  readonly isReplica: boolean;
  /** false while a replica is being filled, when reads do not see a consistent state */
  readonly isWhole: boolean;
  /** revision found when the store was opened; each commit adds 1. Undefined for a replica, whose cluster has its changes */
  readonly openedAt: number | undefined;
  /** revision of the last commit of this process; undefined before the first one, and for a replica */
  readonly committed: number | undefined;
  /** Resolves when every appliance has the state behind this answer; undefined if it has already. Rejects with `cluster-unavailable`. */
  untilSettled(): Promise<void> | undefined;
  /** damage to its files while they are open, after which nothing is written: one sentence without a path; undefined without damage */
  readonly damage: string | undefined;
  /** Continues after this revision, which was acknowledged before the store was restored without it: no two states have the same revision. */
  goOnAfter(revision: number): Promise<void>;
  /** true if the disk has kept a commit of this process waiting for longer than five seconds; writes wait behind it */
  readonly isStalled: boolean;
  /** Calls `tell` when LMDB reports a damaged page. */
  onDamagedPage(tell: () => void): void;
  /** Finishes queued writes, closes and zeroes the key; later reads and writes are refused. Idempotent. */
  close(): Promise<void>;
}

export type StoreOptions = {
  /** created if missing; contains `data.mdb` and `lock.mdb` only */
  readonly directory: string;
  /** 32 octets; the same for all processes and starts */
  readonly dataKey: Secret<Uint8Array>;
  readonly log?: Log;
  /** called before each commit; throws if records written now could not be opened after a restart */
  readonly requireKept?: () => void;
  /** shared store of which this directory is the replica; only the process that follows it writes to the directory */
  readonly shared?: SharedStore;
  /** size limit of the cache of decoded records, in octets of their sealed form */
  readonly cacheBytes?: number;
};
