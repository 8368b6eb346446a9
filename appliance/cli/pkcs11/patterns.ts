// Names with `*`, which stands for any characters.

/** The longest part of a pattern that a name must have, for the search of the appliance. */
export function longestPart(pattern: string): string {
  return pattern.split('*').reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** Matches the names of a pattern; of a name, that alone. */
export function patternOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`);
}
