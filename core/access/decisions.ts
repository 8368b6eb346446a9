// Decisions of the policies, remembered while the store is in one state: clients repeat their paths.
import type { Caller } from './caller.ts';
import type { PolicyOperation } from './policy/patterns.ts';
import { Remembered } from '../store/records/remembered.ts';
import type { Store } from '../store/store.ts';

/** Limit of paths with remembered decisions, and of callers for each: a quarter of a kilobyte for each pair. */
const mostPaths = 1_000;
const mostCallers = 16;

type Known<Decision> = { readonly operation: PolicyOperation; readonly decision: Decision };

/** Decisions by identity: the pipeline gives the same segments for the same target, and access control the same caller for the same token. */
export class Decisions<Decision> {
  readonly #paths: Remembered<readonly string[], Map<Caller, Known<Decision>>>;

  constructor(store: Store) {
    this.#paths = new Remembered(store, mostPaths);
  }

  find(caller: Caller, segments: readonly string[], operation: PolicyOperation): Decision | undefined {
    const known = this.#paths.find(segments)?.get(caller);
    return known?.operation === operation ? known.decision : undefined;
  }

  keep(caller: Caller, segments: readonly string[], operation: PolicyOperation, decision: Decision): void {
    let callers = this.#paths.find(segments);
    if (callers === undefined) this.#paths.keep(segments, (callers = new Map()));
    else if (callers.size >= mostCallers) callers.clear();
    callers.set(caller, { operation, decision });
  }
}
