// What is remembered of the audit trail outside of its files, where whoever changes the files cannot change it too.
import type { ChainHead } from './line.ts';

/** One chain as it is remembered. */
export type RememberedChain = {
  /** the last record that a signed head covers; `emptyChain` while the chain is only announced */
  readonly signed?: ChainHead;
  /** the last record that was removed under a signature: the chain's first one follows it; absent: no start has looked yet */
  readonly retired?: ChainHead;
  /** its last record when its process ended in order; absent while a process goes on with it and after a crash */
  readonly closed?: ChainHead;
};

/** `head` absent: this part is forgotten. */
export type MemoryChange = { readonly chain: string; readonly part: keyof RememberedChain; readonly head?: ChainHead };

export interface TrailMemory {
  /** Every chain that may exist, by name. */
  recall(): ReadonlyMap<string, RememberedChain>;
  /** Makes all changes together; they are on the disk when it resolves. */
  update(changes: readonly MemoryChange[]): Promise<void>;
}
