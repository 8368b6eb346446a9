// Host names in certificates, in one form.

/** Lower case, no trailing dot; undefined unless every label is letters, digits, hyphens and underscores (IDN as A-labels). */
export function normaliseDomain(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  return name.length <= 253 && /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/.test(name)
    ? name
    : undefined;
}
