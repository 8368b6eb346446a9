// Fences of work that holds a claim: each of its writes checks that the claim is still held, or is undone.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WriteTransaction } from './store.ts';

/** Reads the claim of the work in a transaction, so that the commit depends on it; throws if it is lost. */
export type Fence = (transaction: WriteTransaction) => void;

const fences = new AsyncLocalStorage<Fence>();

/** Runs work, including its asynchronous parts; each of its writes checks the fence first. */
export function behindFence<T>(fence: Fence, work: () => T): T {
  return fences.run(fence, work);
}

/** Returns the fence of the running work. */
export function presentFence(): Fence | undefined {
  return fences.getStore();
}
