// Intent of a batch of changes: everything it has read and would write, from which another process decides whether it may be committed.
import type { Span } from './environment.ts';

/** Intent of a batch. Keys are texts of keys.ts; revisions are those of the shared store. */
export type Intent = {
  /** epoch of the shared store that was read */
  readonly epoch: string;
  readonly revision: number;
  /** level of the formats of the written records */
  readonly level: number;
  /** revision of each record that was looked up; 0: absent */
  readonly read: ReadonlyMap<string, number>;
  /** searched spans, in which no key may have been added, changed or removed since `revision` */
  readonly searched: readonly Span[];
  /** new sealed record of each key; undefined: a deletion */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
};

/** Store shared by several appliances. */
export interface SharedStore {
  /** id of this appliance: `[a-z0-9][a-z0-9-]*`, never reused by another one, even after it has left */
  readonly appliance: string;
  /** time for which keys are used without this store; absent or 0: not at all. Records that such uses need are written beforehand */
  readonly isolatedSeconds?: number;
  /** sizes above which a batch is committed without the writes that still wait */
  readonly batch: { readonly operations: number; readonly bytes: number };
  /**
   * Commits an intent. `committed`: durable, and visible in the store of this appliance. `lost`: records that were read have changed
   * meanwhile, nothing was written, and the newer state is visible here. Rejects with `cluster-unavailable`; its detail says so if the
   * outcome is unknown.
   */
  commit(intent: Intent): Promise<'committed' | 'lost'>;
  /** revision up to which every appliance that may answer has applied the shared store, as far as this appliance knows */
  readonly settled: number;
  /** Resolves when every appliance that may answer has applied a revision. Rejects with `cluster-unavailable`. */
  untilSettled(revision: number): Promise<void>;
}
