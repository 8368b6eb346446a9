// Text for people, such as a display name or a User ID: without invisible characters and those that reorder the others.
import { z } from 'zod';
import { encodeUtf8 } from '../base/bytes.ts';

/**
 * Control, format and line characters, and those without a width: bidirectional controls make a name read as another one, and with
 * zero-width characters two names look the same. `Default_Ignorable_Code_Point` adds the fillers and joiners that are not `Cf`.
 */
const unseen = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const firstUnseen = new RegExp(unseen, 'u');
const everyUnseen = new RegExp(unseen, 'gu');

/** The first character that a shown text may not contain, as `U+202E`; undefined when there is none. */
export function findUnseen(text: string): string | undefined {
  const [found] = firstUnseen.exec(text) ?? [];
  return found === undefined ? undefined : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with each such character replaced, by default removed. */
export function replaceUnseen(text: string, replacement = ''): string {
  return text.replaceAll(everyUnseen, replacement);
}

/**
 * A field for people. White space at its ends is removed before it is checked and stored. The refusal names an invisible character by its
 * code point.
 */
export function shownText(limits: {
  readonly minCharacters?: number;
  readonly maxCharacters: number;
  readonly maxOctets?: number;
  /** whether line ends and tabs are allowed */
  readonly lines?: true;
}) {
  const { minCharacters = 0, maxCharacters, maxOctets = Infinity, lines = false } = limits;
  return z
    .string()
    .trim()
    .min(minCharacters)
    .max(maxCharacters)
    .superRefine((text, context) => {
      const found = findUnseen(lines ? text.replaceAll(/\r?\n|\t/g, ' ') : text);
      const rules = [
        ...(found === undefined ? [] : [`must not contain ${found}: control, direction and zero-width characters are refused`]),
        ...(encodeUtf8(text).length > maxOctets ? [`must be at most ${maxOctets} octets of UTF-8`] : []),
      ];
      for (const message of rules) context.addIssue({ code: 'custom', message });
    });
}
