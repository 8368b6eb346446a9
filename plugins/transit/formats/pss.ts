// EMSA-PSS-VERIFY (RFC 8017 section 9.1.2) for a finished hash, with MGF1 over the same hash and a salt of any length.
import { hash as hashOnce } from 'node:crypto';
import { concat, equalConstantTime, uint32 } from '../../../core/base/bytes.ts';
import type { HashName, OaepHash } from '../../../hsm/api.ts';

/** Tells whether `encoded` is a PSS encoding of `digest`; `bits` is one less than the modulus has. Public data only: time may vary. */
export function pssEncodes(hash: HashName, digest: Uint8Array, encoded: Uint8Array, bits: number): boolean {
  // encoded = maskedDB ‖ H ‖ 0xbc
  const split = encoded.length - digest.length - 1;
  if (split < 1 || encoded.at(-1) !== 0xbc) return false;
  const masked = encoded.subarray(0, split);
  const check = encoded.subarray(split, -1);
  const unusedBits = 8 * encoded.length - bits;
  if ((masked[0] as number) >> (8 - unusedBits) !== 0) return false;
  // DB = 0x00 … 0x00 ‖ 0x01 ‖ salt
  const mask = mgf1(hash, check, split);
  const block = masked.map((octet, at) => octet ^ (mask[at] as number));
  block[0] = (block[0] as number) & (0xff >> unusedBits);
  const one = block.findIndex((octet) => octet !== 0);
  if (one < 0 || block[one] !== 0x01) return false;
  return equalConstantTime(check, hashOnce(hash, concat(new Uint8Array(8), digest, block.subarray(one + 1)), 'buffer'));
}

/** MGF1 (RFC 8017 appendix B.2.1). */
export function mgf1(hash: OaepHash, seed: Uint8Array, octets: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let made = 0, counter = 0; made < octets; counter += 1) {
    const part = hashOnce(hash, concat(seed, uint32(counter)), 'buffer');
    parts.push(part);
    made += part.length;
  }
  return concat(...parts).subarray(0, octets);
}
