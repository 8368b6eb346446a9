// Values in the text of a name (RFC 4514).
/** Escapes a value for the text of a name (RFC 4514 2.4). */
export function escapeNameValue(text: string): string {
  return text.replaceAll(/[\\,+"<>;=#]/g, String.raw`\$&`).replaceAll(/^ | $/g, String.raw`\ `);
}
