// Limits the nesting of a provider's JSON. The parser accepts any depth, but code that walks or prints such a value exhausts the stack.

/** The limit of request bodies (core/wire/json.ts) holds for what providers send, too. */
const maxDepth = 32;

/** Tells whether objects and lists are nested deeper than 32 levels. Iterative, not recursive. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === maxDepth) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
