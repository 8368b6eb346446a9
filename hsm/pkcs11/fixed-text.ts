// Texts in fields of fixed length: PKCS#11 pads them with blanks and has no terminator (PKCS#11 3.1 section 2.1, CK_TOKEN_INFO, C_InitToken).

/** Pads a text with blanks to `bytes` octets of UTF-8, all of which a module reads. Throws RangeError for a longer text. */
export function padded(text: string, bytes: number): string {
  const blanks = bytes - Buffer.byteLength(text);
  if (blanks < 0) throw new RangeError(`a field of ${bytes} octets cannot hold ${JSON.stringify(text)}`);
  return text + ' '.repeat(blanks);
}

/** Returns the text of a field without the blanks at its end. Some modules end it with a zero; octets after that are not text. */
export function unpadded(field: string): string {
  const end = field.indexOf('\0');
  return (end < 0 ? field : field.slice(0, end)).replace(/ +$/, '');
}
