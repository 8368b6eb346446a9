// What an opened store offers, and what it is opened with.
import type { CheckFinding, Log } from '../base/context.ts';
import type { Secret } from '../base/secret.ts';
import type { ExaminedContent } from './check.ts';
import type { SharedStore } from './intent.ts';
import type { Migration } from './migrate.ts';
import type { Store, Table } from './store.ts';
import type { TenantExists } from './tables.ts';

/** The whole store, for the composition root; all others get a `Store`. */
export interface OpenStore extends Store {
  /** A view whose tables have the owner's name as a prefix: what a plugin gets. */
  prefixed(owner: string): Store;
  /**
   * Runs the migrations of `core` or of a plugin that have not run yet and that the level allows, in order; safe when several processes do it
   * at once. Rejects when the store's data is newer than the last migration known.
   */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /** Sets how to tell whether a tenant exists; until then, tables of tenants accept every record. */
  guardTenants(exists: TenantExists): void;
  /** Full names of the tables that have records, opened or not. */
  tableNames(): Iterable<string>;
  /** All tables of tenants that have been opened. */
  tenantTables(): readonly Table<unknown>[];
  /** Told the table of each record that does not open when it is met first. */
  onUnreadable: ((table: string) => void) | undefined;
  /** Opens every record, past the cache, and reports those that do not open or decode. */
  check(): Iterable<CheckFinding>;
  /** Whether the records are those that were written, read one by one; of a replica, the process that follows looks at it. */
  examineContent(): Promise<ExaminedContent>;
  /** Copies the current state, compacted and synced, into a new directory; it opens with the same data key. `records`: the entries in the copy. */
  backup(directory: string): Promise<{ readonly records: number }>;
  /** Whether the directory is the replica of a shared store. */
  readonly isReplica: boolean;
  /** Whether what is read is a state that the store ever had: false while a replica is being filled. */
  readonly isWhole: boolean;
  /** The revision that was found when the store was opened; each commit adds 1. Undefined for a replica, whose cluster has its changes. */
  readonly openedAt: number | undefined;
  /** The revision of the last commit of this process; undefined before one, and for a replica. */
  readonly committed: number | undefined;
  /** What an answer has to wait for that rests on what was read; undefined: nothing. Rejects with `cluster-unavailable`. */
  untilSettled(): Promise<void> | undefined;
  /** What was done to its files while they are open, so that nothing is written any more: one sentence without a path. Undefined: nothing. */
  readonly damage: string | undefined;
  /** Goes on after this revision, which was acknowledged before the store was brought back without it: no two states have the same one. */
  goOnAfter(revision: number): Promise<void>;
  /** Whether the disk has kept a commit of this process waiting for longer than five seconds; writes wait behind it. */
  readonly isStalled: boolean;
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
  /** The store of several appliances, of which this directory is the replica. Only the process that follows it writes to the directory. */
  readonly shared?: SharedStore;
  /** size limit of the cache of decoded records, in octets of their sealed form */
  readonly cacheBytes?: number;
};
