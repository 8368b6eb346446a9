// Shares one piece of work among callers at about the same time.

/** Runs `make` unless it began within the last `milliseconds`, and returns the same promise to all callers. */
export function sharedFor<T>(milliseconds: number, make: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly made: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.atMs > milliseconds) last = { atMs: performance.now(), made: make() };
    return last.made;
  };
}
