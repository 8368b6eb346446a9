// Finds and removes characters that a reader does not see, or that reorder the others, in texts for people.

/**
 * Control, format and line characters, and those without a width: bidirectional controls make a name read as another one, and with
 * zero-width characters two names look the same. `Default_Ignorable_Code_Point` adds the fillers and joiners that are not `Cf`.
 */
const unseen = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const firstUnseen = new RegExp(unseen, 'u');
const everyUnseen = new RegExp(unseen, 'gu');

/** Finds the first character that a shown text may not contain, as `U+202E`; undefined if all are allowed. */
export function findUnseen(text: string): string | undefined {
  const [found] = firstUnseen.exec(text) ?? [];
  return found === undefined ? undefined : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns the text with each such character replaced, by default removed. */
export function replaceUnseen(text: string, replacement = ''): string {
  return text.replaceAll(everyUnseen, replacement);
}
