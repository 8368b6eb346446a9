// What a serving process knows of the cluster of its appliance, and asks of it. cluster/link.ts is the way.
import type { SharedStore } from '../../core/store/intent.ts';

/** A member as this appliance sees it. */
export type SeenAppliance = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** `in`: it may answer, and a change waits for it; `expelled`: it did not apply what it should; `out`: it answers no more */
  readonly state: 'in' | 'expelled' | 'out';
  /** everything up to this revision is in its store, as its last sign of life says */
  readonly applied: number;
  /** since its last sign was seen here */
  readonly silentMs: number;
};

export type ClusterState = {
  /** of this appliance */
  readonly id: string;
  /** of the shared store; absent while there is none */
  readonly epoch?: string | undefined;
  /** everything up to this revision is in the store of this appliance */
  readonly position: number;
  readonly isValid: boolean;
  readonly members: readonly SeenAppliance[];
};

export type ClusterWay = SharedStore & {
  /** Whether this appliance may answer at this moment. */
  readonly isValid: boolean;
  /** Names of the members that are not in, as last heard. */
  readonly missing: readonly string[];
  /** The keys that the shared store was founded with (cluster-keys.ts); undefined while there is none. */
  wrappedKeys(): Promise<Uint8Array | undefined>;
  /** Makes the shared store of the store of this appliance. Throws an Error with the reason when it cannot be made. */
  found(wrappedKeys: Uint8Array): Promise<void>;
  /** Lets this appliance be a member, from now on. Throws an Error with the reason when it cannot be one. */
  enter(): Promise<void>;
  /** Resolves when this appliance may answer; false: it may not within that time. */
  untilValid(withinMs: number): Promise<boolean>;
  /** Rejects while the process that knows it is being started again. */
  state(): Promise<ClusterState>;
  close(): Promise<void>;
};
