// Signature packets: one digest, one C_Sign, one packet (RFC 9580, 5.2.3).
import { concat, uint32 } from '../../../core/base/bytes.ts';
import type { HashName } from '../../../hsm/api.ts';
import { hashInTurns } from '../../../core/base/hash.ts';
import { hashIds, type Signed } from './algorithms.ts';
import { packet, packetTag, subpacket, uint16 } from './packets.ts';
import type { PacketVersion } from '../records.ts';
import type { PublicKeyBody, Signer } from './signer.ts';

/** Signature types we make (RFC 9580, 5.2.1). */
export const signatureType = {
  binary: 0x00,
  text: 0x01,
  positiveCertification: 0x13,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
} as const;

/** Subpacket types we write (RFC 9580, 5.2.3.7). */
export const subpacketType = {
  creationTime: 2,
  expirationTime: 3,
  keyExpirationTime: 9,
  issuerKeyId: 16,
  notation: 20,
  preferredHashes: 21,
  primaryUserId: 25,
  keyFlags: 27,
  revocationReason: 29,
  embeddedSignature: 32,
  issuerFingerprint: 33,
} as const;

/** A signature packet over the concatenation of `parts` (RFC 9580, 5.2.4). */
export function makeSignature(
  signer: Signer,
  type: number,
  created: number,
  parts: readonly Uint8Array[],
  subpackets: readonly Uint8Array[] = [],
): Promise<Uint8Array> {
  return signData(signer, signatureHead(signer, type, created, subpackets), ...parts);
}

/** A signature packet with that head over the concatenation of `parts`, none of which is copied. */
export async function signData(signer: Signer, head: Uint8Array, ...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const hash = hashOfHead(head);
  const salt = head[0] === 6 ? await signer.draw(saltBytes[hash]) : new Uint8Array(0);
  const signed = [salt, ...parts, trailerOf(head)];
  const digest = await hashInTurns(hash, ...signed);
  return finishSignature(signer, head, { hash, digest, octets: () => concat(...signed) }, salt);
}

/** Octets that are hashed before the data in version 6 (RFC 9580, 9.5). */
const saltBytes: Readonly<Record<HashName, number>> = { sha256: 16, sha384: 24, sha512: 32 };

/**
 * Hashed part of a signature packet: version ‖ type ‖ algorithm ‖ hash ‖ length(2) ‖ hashed subpackets; the length has four octets in version 6.
 */
export function signatureHead(
  { version, algorithm, fingerprint }: PublicKeyBody,
  type: number,
  created: number,
  subpackets: readonly Uint8Array[] = [],
  hash: HashName = algorithm.hashes[0],
): Uint8Array {
  const hashed = concat(
    subpacket(subpacketType.creationTime, uint32(created), { critical: true }),
    subpacket(subpacketType.issuerFingerprint, concat(Uint8Array.of(version), fingerprint)),
    ...subpackets,
  );
  return concat(Uint8Array.of(version, type, algorithm.id, hashIds[hash]), lengthOf(version, hashed), hashed);
}

/** The hash that a head names. */
function hashOfHead(head: Uint8Array): HashName {
  const found = Object.entries(hashIds).find(([, id]) => id === head[3]);
  if (found === undefined) throw new Error(`a signature with the hash ${head[3]}`);
  return found[0] as HashName;
}

function lengthOf(version: PacketVersion, octets: Uint8Array): Uint8Array {
  return version === 6 ? uint32(octets.length) : uint16(octets.length);
}

/** Octets that are hashed behind the data: head ‖ version ‖ FF ‖ length(4) of the head. */
export function trailerOf(head: Uint8Array): Uint8Array {
  return concat(head, head.subarray(0, 1), Uint8Array.of(0xff), uint32(head.length));
}

/** The packet: head ‖ length ‖ unhashed subpackets ‖ left 16 bits of the digest ‖ in version 6 the salt ‖ material. One C_Sign. */
export async function finishSignature(signer: Signer, head: Uint8Array, signed: Signed, salt?: Uint8Array): Promise<Uint8Array> {
  const material = signer.algorithm.signatureMaterial(await signer.sign(signed));
  const { version, fingerprint } = signer;
  // A key ID is in the fingerprint; signatures of version 6 have no subpacket for it.
  const unhashed = version === 6 ? new Uint8Array(0) : subpacket(subpacketType.issuerKeyId, fingerprint.subarray(12));
  const salted = version === 6 && salt !== undefined ? concat(Uint8Array.of(salt.length), salt) : new Uint8Array(0);
  return packet(packetTag.signature, concat(head, lengthOf(version, unhashed), unhashed, signed.digest.subarray(0, 2), salted, material));
}

/** Type, date and salt of a signature of version 4 or 6. Undefined without a date among the hashed subpackets. */
export function readSignature(
  packetBody: Uint8Array,
): { readonly type: number; readonly created: number; readonly salt: Uint8Array } | undefined {
  const view = new DataView(packetBody.buffer, packetBody.byteOffset, packetBody.length);
  const isSixth = view.getUint8(0) === 6;
  const [hashedAt, width] = isSixth ? [8, 4] : [6, 2];
  const unhashedAt = hashedAt + (isSixth ? view.getUint32(4) : view.getUint16(4));
  const created = findSubpacket(packetBody.subarray(hashedAt, unhashedAt), subpacketType.creationTime);
  if (created?.length !== 4) return undefined;
  const saltAt = unhashedAt + width + (isSixth ? view.getUint32(unhashedAt) : view.getUint16(unhashedAt)) + 2;
  return {
    type: view.getUint8(1),
    created: Buffer.from(created).readUInt32BE(),
    salt: isSixth ? packetBody.subarray(saltAt + 1, saltAt + 1 + view.getUint8(saltAt)) : new Uint8Array(0),
  };
}

/**
 * Issuers that a signature of anybody names: key IDs and fingerprints in upper-case hexadecimal. None where it cannot be read: of version 3, for
 * example, which no certificate needs.
 */
export function issuersOf(packetBody: Uint8Array): readonly string[] {
  const isSixth = packetBody[0] === 6;
  if (packetBody[0] !== 4 && !isSixth) return [];
  const [hashedAt, width] = isSixth ? [8, 4] : [6, 2];
  const lengthAt = (at: number): number =>
    Buffer.from(
      packetBody
        .subarray(at, at + width)
        .toHex()
        .padStart(8, '0'),
      'hex',
    ).readUInt32BE();
  if (packetBody.length < hashedAt) return [];
  const unhashedAt = hashedAt + lengthAt(hashedAt - width);
  if (packetBody.length < unhashedAt + width) return [];
  const areas = [
    packetBody.subarray(hashedAt, unhashedAt),
    packetBody.subarray(unhashedAt + width, unhashedAt + width + lengthAt(unhashedAt)),
  ];
  return areas.flatMap((area) => [
    findSubpacket(area, subpacketType.issuerKeyId)?.toHex().toUpperCase() ?? '',
    findSubpacket(area, subpacketType.issuerFingerprint)?.subarray(1).toHex().toUpperCase() ?? '',
  ]);
}

/** Data of the first subpacket of a type: length(1, 2 or 5) ‖ type, with the critical bit ‖ data. */
function findSubpacket(area: Uint8Array, type: number): Uint8Array | undefined {
  for (let left = area; left.length > 0;) {
    const [first = 0, second = 0] = left;
    if (first === 0 || (first === 255 && left.length < 5)) return undefined;
    const [start, length] =
      first < 192
        ? [1, first]
        : first < 255
          ? [2, ((first - 192) << 8) + second + 192]
          : [5, Buffer.from(left.subarray(1, 5)).readUInt32BE()];
    if (((left[start] ?? 0) & 0x7f) === type) return left.subarray(start + 1, start + length);
    left = left.subarray(start + length);
  }
  return undefined;
}
