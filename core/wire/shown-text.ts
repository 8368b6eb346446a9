// Text for people, such as a display name or a User ID: without invisible characters and those that reorder the others.
import { z } from 'zod';
import { encodeUtf8 } from '../base/bytes.ts';
import { findUnseen } from './unseen-text.ts';

/**
 * A field for people. White space at its ends is removed before it is checked and stored. The refusal names an invisible character by its
 * code point.
 */
export function shownText(limits: {
  readonly minCharacters?: number;
  readonly maxCharacters: number;
  readonly maxOctets?: number;
  /** allows line ends and tabs */
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
