// One piece of work for many who ask at about the same time.

/** Runs `make` when there is no result of the last `milliseconds`, counted from its beginning, and gives all callers the same promise. */
export function sharedFor<T>(milliseconds: number, make: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly made: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.atMs > milliseconds) last = { atMs: performance.now(), made: make() };
    return last.made;
  };
}
