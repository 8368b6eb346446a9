// Runs work at the first call only.

/** Runs `make` at the first call and returns the same value from then on. A call that throws is repeated by the next one. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
