// View of the cluster for a serving process, and its requests to it. replication/link.ts implements it.
import type { RemovalOutcome } from '../../core/cluster/entry.ts';
import type { MemberState } from '../../core/cluster/validity.ts';
import type { Levels } from '../../core/store/records/level.ts';
import type { SharedStore } from '../../core/store/intent.ts';

/** A member as this appliance sees it. */
export type SeenAppliance = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** of the records that its program works with */
  readonly levels: Levels;
  readonly state: MemberState;
  /** URL that its certificates and links name; absent: its program does not say that */
  readonly publicUrl?: string | undefined;
  /** everything up to this revision is in its store, as its last heartbeat says */
  readonly applied: number;
  /** since its last sign was seen here */
  readonly silentMs: number;
};

export type ClusterState = {
  /** of this appliance */
  readonly id: string;
  /** of the shared store; absent while it does not exist */
  readonly epoch?: string | undefined;
  /** of its records; absent with it */
  readonly level?: number | undefined;
  /** everything up to this revision is in the store of this appliance */
  readonly position: number;
  readonly isValid: boolean;
  readonly members: readonly SeenAppliance[];
};

/** A server of etcd that an appliance runs itself. */
export type ServerState = {
  /** id; empty for one that has not started yet */
  readonly appliance: string;
  readonly url: string;
  /** it is being filled, and does not count for the majority */
  readonly isLearner: boolean;
  readonly isLeader: boolean;
  readonly version?: string | undefined;
  /** size of its file */
  readonly bytes?: number | undefined;
  /** one sentence, where it has one */
  readonly problem?: string | undefined;
};

/** Records that no appliance wrote, between two revisions. `records`: their number. `named`: keys of the first ones, for people. */
export type ForeignReport = { readonly first: number; readonly last: number; readonly records: number; readonly named: readonly string[] };

export type ClusterWay = SharedStore & {
  /** True if this appliance may answer at this moment. */
  readonly isValid: boolean;
  /** True if keys may be used at this moment from the last state, although nothing else is answered. */
  readonly isIsolated: boolean;
  /** Names of the members that are not in and were not removed, as last heard. */
  readonly missing: readonly string[];
  /** Ids of the members that were not removed, this appliance among them, as last heard. */
  readonly members: readonly string[];
  /** Reason for which this appliance is no longer a member; undefined while it is one, as far as it has heard. */
  readonly over: string | undefined;
  /** Time by the clocks of most other appliances, in milliseconds since 1970; undefined if they are too few or do not agree. */
  readonly othersMs: number | undefined;
  /**
   * Reads the present keys of the shared store (cluster-keys.ts); undefined while there are no keys. Rejects with `cluster-unavailable`.
   */
  wrappedKeys(): Promise<Uint8Array | undefined>;
  /** Replaces them by another wrapping of the same keys. False if they are no longer `from`. Rejects with `cluster-unavailable`. */
  replaceWrappedKeys(from: Uint8Array, to: Uint8Array): Promise<boolean>;
  /** Makes the shared store of the store of this appliance. Throws an Error with the reason when it cannot be made. */
  bootstrap(wrappedKeys: Uint8Array): Promise<void>;
  /** Lets this appliance be a member, from now on. Throws an Error with the reason when it cannot be one. */
  enter(): Promise<void>;
  /** Resolves when this appliance may answer; false: it may not within that time. */
  untilValid(withinMs: number): Promise<boolean>;
  /** As removeMember of core/cluster/entry.ts, for another member by its id. */
  remove(id: string, evenIfAlive: boolean): Promise<RemovalOutcome>;
  /**
   * The servers of etcd, where the appliances run them; rejects with `cluster-unavailable`. `alone`: those that this appliance knows of by
   * itself, also of an etcd that somebody else runs, with a problem for each that it does not reach.
   */
  servers(which?: { readonly alone?: boolean }): Promise<readonly ServerState[]>;
  /** Sets the function that puts on record that records were written past every appliance; it is called again until it resolves. */
  onForeignWrites(record: (report: ForeignReport) => Promise<void>): void;
  /** Rejects while the process that knows it is being started again. */
  state(): Promise<ClusterState>;
  close(): Promise<void>;
};
