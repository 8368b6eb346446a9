// Documents, and the values at paths in them, as `fields=` and error messages name these: `auto-rotate/rotate-after`.

export type Document = Record<string, unknown>;

export function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets the value at a path such as `auto-rotate/rotate-after`, making the containers on the way. */
export function setField(document: Document, path: string, value: unknown): void {
  const names = path.split('/');
  const last = names.pop() ?? '';
  let holder: Document = document;
  for (const name of names) {
    const inner = holder[name];
    holder = typeof inner === 'object' && inner !== null ? (inner as Document) : (holder[name] = {});
  }
  holder[last] = value;
}

/** The value at a path such as `keys/0/keyblock`. */
export function fieldAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((holder, name) => (typeof holder === 'object' && holder !== null ? (holder as Document)[name] : undefined), value);
}
