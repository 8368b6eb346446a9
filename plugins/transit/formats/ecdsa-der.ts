// ECDSA signatures: from r‖s of fixed width, which tokens return, to DER.

/** Ecdsa-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER } (RFC 3279 section 2.2.3) from r‖s. */
export function derFromRaw(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  const r = derInteger(raw.subarray(0, half));
  const s = derInteger(raw.subarray(half));
  const length = r.length + s.length;
  // P-521 needs the long form of the length: 0x30 0x81 length.
  const head = length < 0x80 ? [0x30, length] : [0x30, 0x81, length];
  return Uint8Array.of(...head, ...r, ...s);
}

// The shortest form, with a leading zero where the first bit would be a sign.
function derInteger(octets: Uint8Array): Uint8Array {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0) start += 1;
  const digits = octets.subarray(start);
  const pad = (digits[0] as number) & 0x80 ? [0] : [];
  return Uint8Array.of(0x02, digits.length + pad.length, ...pad, ...digits);
}
