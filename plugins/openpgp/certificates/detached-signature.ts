// Signing data: one detached signature packet per call, dated so that every verifier finds the key already made.
import { uint32 } from '../../../core/base/bytes.ts';
import type { OpenpgpRecord } from '../records.ts';
import { subpacket } from '../format/packets.ts';
import { makeSignature, signatureType, subpacketType } from '../format/signature.ts';
import { openpgpSeconds, type Signer } from '../format/signer.ts';

/**
 * A detached signature over `data` (type 0x00), which is hashed where it lies. `expiresAfterSeconds` makes it invalid that long
 * after its date. Should the clock stand before the key's own date, the signature carries the key's: an older one verifies nowhere.
 */
export function signDetached(
  signer: Signer,
  record: OpenpgpRecord,
  data: Uint8Array,
  now: Temporal.Instant,
  expiresAfterSeconds?: number,
): Promise<Uint8Array> {
  const created = Math.max(openpgpSeconds(now), record.notBefore);
  const expiry =
    expiresAfterSeconds === undefined ? [] : [subpacket(subpacketType.expirationTime, uint32(expiresAfterSeconds), { critical: true })];
  return makeSignature(signer, signatureType.binary, created, [data], expiry);
}
