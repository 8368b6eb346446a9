// Finds a repeated key of a map in a YAML document. The library compares each key with every other one: 30,000 keys took half a minute.
import type * as library from 'yaml';

/** Finds the first repeated key, and its node. `yaml` is the library, which callers load when they need it. */
export function findRepeatedKey(
  { isScalar, visit }: Pick<typeof library, 'isScalar' | 'visit'>,
  document: library.Document.Parsed,
): { readonly key: string; readonly node: library.Node } | undefined {
  let found: { key: string; node: library.Node } | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key;
        if (!seen.has(value)) seen.add(value);
        else found ??= { key: String(value), node: key as library.Node };
      }
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}
