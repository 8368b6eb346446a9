// Work that is done at the first call only.

/** A function that runs `make` at its first call and answers the same value from then on; a call that throws is made again. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
