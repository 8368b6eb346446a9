// A certificate in words, for people, as `@peculiar/x509` reads it. No decision rests on it.
import type { TextObject } from '@peculiar/x509';
import { replaceUnseen } from '../../../core/wire/unseen-text.ts';
import { peculiar } from '../../../core/der/peculiar.ts';

/** Lines of octets that are shown of a value; a key for ML-DSA would have three hundred. */
const shownOctetLines = 3;

/**
 * Names, validity, key and extensions on a line each, as `openssl x509 -text` has them, without the signature, and long keys cut; undefined
 * where the library cannot read the certificate. Characters that are not seen are shown as U+FFFD, so that no name can look like another
 * line.
 */
export function certificateText(der: Uint8Array): string | undefined {
  try {
    const { X509Certificate, TextConverter } = peculiar();
    const content = new X509Certificate(new Uint8Array(der)).toTextObject();
    makeHarmless(content);
    const lines = TextConverter.serialize(content).split('\n');
    return withoutLongValues(lines.slice(0, lines.indexOf('  Signature:'))).join('\n');
  } catch {
    return undefined;
  }
}

/** Replaces characters in place, before lines are made of the text: one with an end of line would be two of them. */
function makeHarmless(content: TextObject): void {
  const { VALUE } = peculiar().TextObject;
  const own: unknown = content[VALUE];
  if (typeof own === 'string') content[VALUE] = replaceUnseen(own, '\u{FFFD}');
  for (const [name, value] of Object.entries<unknown>(content)) {
    if (typeof value === 'string') content[name] = replaceUnseen(value, '\u{FFFD}');
    else if (Array.isArray(value)) for (const item of value as readonly TextObject[]) makeHarmless(item);
    else if (isConvertible(value)) makeHarmless((content[name] = value.toTextObject()));
    else if (value instanceof peculiar().TextObject) makeHarmless(value);
  }
}

function isConvertible(value: unknown): value is { toTextObject(): TextObject } {
  return typeof value === 'object' && value !== null && 'toTextObject' in value;
}

function withoutLongValues(lines: readonly string[]): readonly string[] {
  let octetLines = 0;
  return lines.flatMap((line) => {
    octetLines = /^ +[0-9a-f]{2}(?: {1,2}[0-9a-f]{2})* *$/.test(line) ? octetLines + 1 : 0;
    if (octetLines <= shownOctetLines) return [line];
    return octetLines === shownOctetLines + 1 ? [line.replace(/\S.*/, '…')] : [];
  });
}
