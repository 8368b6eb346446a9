// Finds PEM blocks (RFC 7468) in texts of others. The base64 of a block has no hyphen, so each search ends at the next one: a text of many
// beginnings without an end costs no more time than its length.

/** The blocks with that label, each with its first and last line, and the text without them. */
export function findPemBlocks(text: string, label: string): { readonly blocks: readonly string[]; readonly rest: string } {
  const pattern = new RegExp(`-----BEGIN ${label}-----[^-]*-----END ${label}-----`, 'g');
  return { blocks: text.match(pattern) ?? [], rest: text.replaceAll(pattern, '') };
}
