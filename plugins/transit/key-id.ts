// Ids of keys: what material and version records are bound to, whatever name the key has.
import { encodeHex } from '../../core/base/bytes.ts';
import type { Hsm } from '../../hsm/api.ts';

/** A random UUID, version 4 (RFC 9562 section 5.4). */
export async function newKeyId(hsm: Hsm): Promise<string> {
  const octets = Uint8Array.from(await hsm.random(16));
  octets[6] = ((octets[6] as number) & 0x0f) | 0x40;
  octets[8] = ((octets[8] as number) & 0x3f) | 0x80;
  return encodeHex(octets).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
