// Certificates of our own keys: a primary key with its User ID, and a subkey bound to a primary (RFC 9580, 10.1).
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import { framedKey, framedUserId, packet, packetTag, splitPacket, subpacket } from '../format/packets.ts';
import { makeSignature, signatureType, subpacketType } from '../format/signature.ts';
import type { PublicKeyBody, Signer } from '../format/signer.ts';

// Key flags (RFC 9580, 5.2.3.29): a primary that only certifies would not be accepted as a signer.
const certifyAndSign = Uint8Array.of(0x03);
const signOnly = Uint8Array.of(0x02);
const sha512Sha384Sha256 = Uint8Array.of(10, 9, 8);

/**
 * primary key ‖ User ID ‖ self-signature. The self-signature is dated at the creation of the key, also when the User ID changes
 * later: verifiers refuse signatures that are older than the self-signature they see.
 */
export async function certifyPrimary(primary: Signer, userId: string): Promise<Uint8Array> {
  const text = encodeUtf8(userId);
  const selfSignature = await makeSignature(
    primary,
    signatureType.positiveCertification,
    primary.created,
    [framedKey(primary.body), framedUserId(text)],
    [
      subpacket(subpacketType.keyFlags, certifyAndSign, { critical: true }),
      subpacket(subpacketType.primaryUserId, Uint8Array.of(1)),
      subpacket(subpacketType.preferredHashes, sha512Sha384Sha256),
    ],
  );
  return concat(packet(packetTag.publicKey, primary.body), packet(packetTag.userId, text), selfSignature);
}

/**
 * subkey ‖ binding signature with the embedded back-signature of the subkey. Without that, anyone could claim the key of somebody else as
 * a subkey, and verifiers refuse the binding (RFC 9580, 5.2.1.9). Dated at the later creation.
 */
export async function bindSubkey(primary: Signer, subkey: Signer): Promise<Uint8Array> {
  const created = bindingTime(primary, subkey);
  const parts = [framedKey(primary.body), framedKey(subkey.body)];
  const backSignature = await makeSignature(subkey, signatureType.primaryKeyBinding, created, parts);
  const binding = await makeSignature(primary, signatureType.subkeyBinding, created, parts, [
    subpacket(subpacketType.keyFlags, signOnly, { critical: true }),
    subpacket(subpacketType.embeddedSignature, splitPacket(backSignature).body),
  ]);
  return concat(packet(packetTag.publicSubkey, subkey.body), binding);
}

/** Date of the binding of a subkey: the later of the two creation times. */
export function bindingTime(primary: Pick<PublicKeyBody, 'created'>, subkey: Pick<PublicKeyBody, 'created'>): number {
  return Math.max(primary.created, subkey.created);
}
