// The chains of the audit trail: how they are named, and what is remembered of them outside of their files, where an attacker who changes the
// files cannot change it too.
import type { HeadEntry } from './heads.ts';
import type { ChainHead } from './line.ts';

/** Names of the chains of an appliance; those of several that share a store are told apart by the id of the appliance in front. */
export function chainNames(appliance: string | undefined): { readonly worker: (number: number) => string; readonly supervisor: string } {
  const own = appliance === undefined ? '' : `${appliance}-`;
  return {
    worker: (number) => `${own}worker-${number}`,
    /** of attempts to unseal */
    supervisor: `${own}supervisor`,
  };
}

/** The id of the appliance that a chain is named by; undefined for chains of one that stood alone. */
export function applianceOf(chain: string): string | undefined {
  return /^(.+)-(?:worker-\d+|supervisor)$/.exec(chain)?.[1];
}

/** The remembered state of one chain. */
export type RememberedChain = {
  /** the last record covered by a signed head; `emptyChain` while the chain has only been announced */
  readonly signed?: ChainHead;
  /** the last record that was removed under a signature; the chain starts after it; absent: not checked by any start yet */
  readonly retired?: ChainHead;
  /** the last record when its process stopped in order; absent while a process writes the chain, and after a crash */
  readonly closed?: ChainHead;
};

/** Without `head` this part is forgotten. */
export type MemoryChange = { readonly chain: string; readonly part: keyof RememberedChain; readonly head?: ChainHead };

export interface TrailMemory {
  /** Every chain of this appliance that may exist, by name. */
  recall(): ReadonlyMap<string, RememberedChain>;
  /**
   * The last signed records of chains of other appliances that share the store. Signed here too, they show when the whole trail of an
   * appliance has disappeared.
   */
  recallOthers(): readonly HeadEntry[];
  /** Makes all changes together; resolves when they are on the disk. */
  update(changes: readonly MemoryChange[]): Promise<void>;
}
