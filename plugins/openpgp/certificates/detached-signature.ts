// Signing data: one detached signature packet per call, never dated before the key.
import { uint32 } from '../../../core/base/bytes.ts';
import type { OpenpgpRecord } from '../records.ts';
import { subpacket } from '../format/packets.ts';
import { makeSignature, signatureType, subpacketType } from '../format/signature.ts';
import { openpgpSeconds, type Signer } from '../format/signer.ts';

/**
 * A detached signature over `data` (type 0x00), which is not copied. `expiresAfterSeconds` is counted from its date. While the clock is
 * behind the date of the key, the signature has the date of the key: no verifier accepts an earlier one.
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
