// Paths at which two documents differ.

/** Paths of the values that differ; lists are values. */
export function changedPaths(before: unknown, now: unknown, within = ''): readonly string[] {
  if (!isDocument(before) && !isDocument(now)) return JSON.stringify(before) === JSON.stringify(now) ? [] : [within];
  const [left, right] = [isDocument(before) ? before : {}, isDocument(now) ? now : {}];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) =>
    changedPaths(ownValue(left, name), ownValue(right, name), within === '' ? name : `${within}/${name}`),
  );
}

type Document = Readonly<Record<string, unknown>>;

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ownValue(document: Document, name: string): unknown {
  return Object.hasOwn(document, name) ? document[name] : undefined;
}
