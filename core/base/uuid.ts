// UUIDs of octets from the HSM's random generator; elsewhere node:crypto's randomUUID serves.

/** A UUID of version 4 (RFC 9562 section 5.4) with 122 of the 128 bits of 16 random octets. */
export function uuidOf(random: Uint8Array): string {
  const octets = Uint8Array.from(random);
  octets[6] = ((octets[6] ?? 0) & 0x0f) | 0x40;
  octets[8] = ((octets[8] ?? 0) & 0x3f) | 0x80;
  return octets.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
