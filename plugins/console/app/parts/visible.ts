// Texts of others as they are, with what cannot be seen made visible: control, zero-width and bidirectional characters.

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** `⟨U+202E⟩` for each character that has no glyph of its own. Line ends and tabs stay where `lines` says so. */
export function visible(text: string, keeps: 'lines' | 'nothing' = 'nothing'): string {
  return text.replaceAll(hidden, (character) =>
    keeps === 'lines' && /[\n\t]/.test(character)
      ? character
      : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}

/** The instant of an API's timestamp in the reader's zone; undefined for any other text. */
export function momentOf(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** A link that a person may follow: https alone. Other schemes are shown as text. */
export function safeLink(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' ? url.href : undefined;
}
