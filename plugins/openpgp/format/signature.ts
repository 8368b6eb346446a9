// Signature packets: one digest, one C_Sign, one packet (RFC 9580, 5.2.3).
import { concat, uint32 } from '../../../core/base/bytes.ts';
import { hashInTurns } from '../../../core/base/hash.ts';
import { hashIds } from './algorithms.ts';
import { packet, packetTag, subpacket, uint16 } from './packets.ts';
import type { Signer } from './signer.ts';

/** Signature types we make (RFC 9580, 5.2.1). */
export const signatureType = {
  binary: 0x00,
  positiveCertification: 0x13,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
} as const;

/** Subpacket types we write (RFC 9580, 5.2.3.7). */
export const subpacketType = {
  creationTime: 2,
  expirationTime: 3,
  issuerKeyId: 16,
  preferredHashes: 21,
  primaryUserId: 25,
  keyFlags: 27,
  revocationReason: 29,
  embeddedSignature: 32,
  issuerFingerprint: 33,
} as const;

/**
 * A signature packet over the concatenation of `parts`, none of which is copied. Layout of the body:
 * 04 ‖ type ‖ algorithm ‖ hash ‖ length(2) hashed subpackets ‖ length(2) unhashed subpackets ‖ left 16 bits of the digest ‖ material.
 * After the data, the hash covers the body up to the hashed subpackets ‖ 04 FF ‖ length(4) of that (RFC 9580, 5.2.4).
 */
export async function makeSignature(
  signer: Signer,
  type: number,
  created: number,
  parts: readonly Uint8Array[],
  subpackets: readonly Uint8Array[] = [],
): Promise<Uint8Array> {
  const { algorithm, fingerprint } = signer;
  const hashed = concat(
    subpacket(subpacketType.creationTime, uint32(created), { critical: true }),
    subpacket(subpacketType.issuerFingerprint, concat(Uint8Array.of(4), fingerprint)),
    ...subpackets,
  );
  const head = concat(Uint8Array.of(4, type, algorithm.id, hashIds[algorithm.hash]), uint16(hashed.length), hashed);
  const signed = [...parts, head, Uint8Array.of(4, 0xff), uint32(head.length)];
  const digest = await hashInTurns(algorithm.hash, ...signed);
  const left16 = digest.subarray(0, 2);
  const material = algorithm.signatureMaterial(await signer.sign({ digest, octets: () => concat(...signed) }));
  const unhashed = subpacket(subpacketType.issuerKeyId, fingerprint.subarray(12));
  return packet(packetTag.signature, concat(head, uint16(unhashed.length), unhashed, left16, material));
}
