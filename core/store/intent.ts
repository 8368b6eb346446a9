// What a batch of changes has read and would write: all that is needed to decide elsewhere whether it may be committed.
import type { Span } from './environment.ts';

/** Keys are texts of keys.ts; revisions are those of the shared store. */
export type Intent = {
  /** the state of the shared store that was read */
  readonly epoch: string;
  readonly revision: number;
  /** in whose formats the records are written */
  readonly level: number;
  /** the revision of each record that was looked for; 0: there was none */
  readonly read: ReadonlyMap<string, number>;
  /** where keys were searched: since that revision none may have come, changed or gone there */
  readonly searched: readonly Span[];
  /** the new sealed record of each key; undefined: the record that is there is deleted */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
};

/** The store that several appliances have in common. */
export interface SharedStore {
  /** id of this appliance: `[a-z0-9][a-z0-9-]*`, also after it has left never that of another */
  readonly appliance: string;
  /** How long keys are used without this store; absent or 0: not at all. What such uses need is written before. */
  readonly isolatedSeconds?: number;
  /** Sizes above which a batch is committed without the writes that still wait. */
  readonly batch: { readonly operations: number; readonly bytes: number };
  /**
   * `committed`: done, durable, and visible in the store of this appliance. `lost`: what was read has changed meanwhile, nothing was
   * written, and the newer state is visible here. Rejects with `cluster-unavailable`; its detail says so when the outcome is not known.
   */
  commit(intent: Intent): Promise<'committed' | 'lost'>;
  /** Everything up to this revision of the shared store is on every appliance that may answer, as far as is known here. */
  readonly settled: number;
  /** Resolves when a revision that is here is there too. Rejects with `cluster-unavailable`. */
  untilSettled(revision: number): Promise<void>;
}
