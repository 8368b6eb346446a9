// ECDSA signatures as DER, made from the two numbers of fixed width that tokens return.
import { integer, sequence } from './der.ts';

/** ECDSA-Sig-Value (RFC 3279 2.2.3) of PKCS#11's r‖s: `SEQUENCE { INTEGER r, INTEGER s }`. */
export function encodeEcdsaSignature(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  return sequence(integer(raw.subarray(0, half)), integer(raw.subarray(half)));
}
