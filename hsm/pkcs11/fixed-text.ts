// Texts in fields of fixed length: PKCS#11 has no end of text in them, but blanks up to the end (PKCS#11 3.1 section 2.1, CK_TOKEN_INFO, C_InitToken).

/** The text with blanks up to so many octets of UTF-8, all of which a module reads. Throws RangeError for a text that is longer. */
export function padded(text: string, bytes: number): string {
  const blanks = bytes - Buffer.byteLength(text);
  if (blanks < 0) throw new RangeError(`a field of ${bytes} octets cannot hold ${JSON.stringify(text)}`);
  return text + ' '.repeat(blanks);
}

/** The text of a field, without the blanks at its end. Some modules end it with a zero, and what follows that is no text. */
export function unpadded(field: string): string {
  const end = field.indexOf('\0');
  return (end < 0 ? field : field.slice(0, end)).replace(/ +$/, '');
}
