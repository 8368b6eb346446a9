// Optional members of objects: exactOptionalPropertyTypes distinguishes an absent member from an undefined one.

/** The same members; those that may be undefined become optional. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy of an object without its undefined members: `{ name, ...defined({ parent, limit }) }`. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as Defined<T>;
}
