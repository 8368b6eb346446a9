// What is remembered of the audit trail outside of its files, where an attacker who changes the files cannot change it too.
import type { ChainHead } from './line.ts';

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
  /** Every chain that may exist, by name. */
  recall(): ReadonlyMap<string, RememberedChain>;
  /** Makes all changes together; resolves when they are on the disk. */
  update(changes: readonly MemoryChange[]): Promise<void>;
}
