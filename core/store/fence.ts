// What a piece of work holds while it runs: each of its writes finds that it still does, or is undone.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WriteTransaction } from './store.ts';

/** Reads in a transaction what the work holds, so that the commit depends on it; throws when it is lost. */
export type Fence = (transaction: WriteTransaction) => void;

const fences = new AsyncLocalStorage<Fence>();

/** Runs work, also what it waits for, whose every write checks the fence first. */
export function behindFence<T>(fence: Fence, work: () => T): T {
  return fences.run(fence, work);
}

/** The fence of the work that asks. */
export function presentFence(): Fence | undefined {
  return fences.getStore();
}
