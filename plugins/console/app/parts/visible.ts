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
