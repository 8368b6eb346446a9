// PATCH: objects merge, scalars replace, unordered lists are united, null removes (RFC 7396 with another rule for lists).
import { isJsonObject } from '../../wire/json.ts';
import type { Shape } from '../../wire/schema.ts';

/** `unite` is api 5; `replace` is RFC 7396, for callers that state the whole list. */
export type ListRule = 'unite' | 'replace';

/** Merges; neither input is changed. */
export function mergeDocument(shape: Shape | undefined, base: unknown, patch: unknown, lists: ListRule = 'unite'): unknown {
  if (Array.isArray(patch)) {
    const isUnited = lists === 'unite' && Array.isArray(base) && !(shape?.kind === 'list' && shape.ordered);
    return isUnited ? united(base, patch) : patch;
  }
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, unknown> = isJsonObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergeDocument(shapeBelow(shape, name), merged[name], value, lists);
  }
  return merged;
}

/** Removes repeated elements of unordered lists: two elements may become equal only with their defaults. */
export function withoutRepeats(shape: Shape | undefined, value: unknown): unknown {
  if (shape?.kind === 'list') return Array.isArray(value) && !shape.ordered ? united([], value) : value;
  if ((shape?.kind !== 'object' && shape?.kind !== 'map') || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutRepeats(shapeBelow(shape, name), one)]));
}

function shapeBelow(shape: Shape | undefined, name: string): Shape | undefined {
  if (shape?.kind === 'object') return shape.byCamel.get(name)?.shape;
  return shape?.kind === 'map' ? shape.value : undefined;
}

/**
 * Unites lists. Present elements keep their order; new ones follow in the order given. Elements are compared by their text, so that long
 * lists take linear time.
 */
function united(base: readonly unknown[], more: readonly unknown[]): unknown[] {
  const all = [...base];
  const known = new Set(base.map(textOf));
  for (const one of more) {
    const text = textOf(one);
    if (known.has(text)) continue;
    known.add(text);
    all.push(one);
  }
  return all;
}

/** Canonical text of an element, independent of the order of its members. */
function textOf(element: unknown): string {
  return JSON.stringify(element, (_, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))) : value,
  );
}
