// Text that people read, such as a display name or a User ID: what no eye can see in it, or what moves the rest, may not be there.
import { z } from 'zod';
import { encodeUtf8 } from '../base/bytes.ts';

/**
 * Control, format and line characters, and those without a width: bidirectional controls make a name read as another one, and with
 * zero-width characters two names look the same. `Default_Ignorable_Code_Point` has the fillers and joiners that are not `Cf`.
 */
const unseen = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const firstUnseen = new RegExp(unseen, 'u');
const everyUnseen = new RegExp(unseen, 'gu');

/** The first character that may not be in a shown text, as `U+202E`; undefined when there is none. */
export function findUnseen(text: string): string | undefined {
  const [found] = firstUnseen.exec(text) ?? [];
  return found === undefined ? undefined : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with something else, by default nothing, in place of each of those characters. */
export function replaceUnseen(text: string, replacement = ''): string {
  return text.replaceAll(everyUnseen, replacement);
}

/**
 * A field that people read. Blanks at its ends are taken off before it is judged and stored; a character that is not seen is refused
 * by its code point, because a message that showed it would show nothing.
 */
export function shownText(limits: {
  readonly minCharacters?: number;
  readonly maxCharacters: number;
  readonly maxOctets?: number;
  /** whether it may have line ends and tabs */
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

/** The User ID of an OpenPGP key; gpg refuses one of 2,048 octets or more, and half of that leaves no doubt (api 19). */
export function userIdText() {
  return shownText({ minCharacters: 1, maxCharacters: 1_024, maxOctets: 1_024 });
}
