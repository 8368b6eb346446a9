// Selects the files of a directory that are old enough to be deleted.

/** `keep`: the newest so many stay; 0: all. `keepMonthly`: for so many months, the first file of each stays as well. */
export type Keeping = { readonly keep: number; readonly keepMonthly: number };

/** The names to remove. Only names that this appliance gives are considered; earlier versions gave whole seconds. */
export function expendable(names: readonly string[], prefix: string, { keep, keepMonthly }: Keeping): readonly string[] {
  if (keep === 0) return [];
  const own = names
    .filter((name) => name.startsWith(prefix) && /^\d{8}T\d{6}(?:\.\d{3})?Z\.tar\.age$/.test(name.slice(prefix.length)))
    .toSorted();
  const firstOfMonth = new Map<string, string>();
  for (const name of own) {
    const month = name.slice(prefix.length, prefix.length + 6);
    if (!firstOfMonth.has(month)) firstOfMonth.set(month, name);
  }
  const kept = new Set([...own.slice(-keep), ...[...firstOfMonth.values()].slice(keepMonthly === 0 ? Infinity : -keepMonthly)]);
  return own.filter((name) => !kept.has(name));
}
