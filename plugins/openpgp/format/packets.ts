// The OpenPGP wire format, versions 4 and 6, as far as we write it: numbers, packets, subpackets, key packets and fingerprints (RFC 9580).
import { createHash } from 'node:crypto';
import { concat, uint32 } from '../../../core/base/bytes.ts';

/** Packet types we write (RFC 9580, 5). */
export const packetTag = {
  signature: 2,
  onePassSignature: 4,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  literalData: 11,
  userId: 13,
  publicSubkey: 14,
} as const;

/** Two octets, big-endian. */
export function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value);
}

/**
 * Multiprecision integer: bit count (u16) ‖ octets (RFC 9580, 3.2). Without leading zeros: Sequoia refuses an integer whose bit
 * count is not exact, which would affect one signature in 128.
 */
export function mpi(octets: Uint8Array): Uint8Array {
  const first = octets.findIndex((octet) => octet !== 0);
  if (first < 0) return uint16(0);
  const bits = (octets.length - first) * 8 - (Math.clz32(octets[first] as number) - 24);
  return concat(uint16(bits), octets.subarray(first));
}

/** A packet with a new-format header: 0xC0|tag ‖ length(1, 2 or 5) ‖ body (RFC 9580, 4.2.1). */
export function packet(tag: number, body: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0xc0 | tag), lengthOctets(body.length, 8384), body);
}

/** A signature subpacket: length(1, 2 or 5) ‖ critical bit and type ‖ data (RFC 9580, 5.2.3.7). */
export function subpacket(type: number, data: Uint8Array, options: { critical?: boolean } = {}): Uint8Array {
  const typeOctet = options.critical === true ? type | 0x80 : type;
  return concat(lengthOctets(data.length + 1, 16320), Uint8Array.of(typeOctet), data);
}

// The two-octet form of a packet ends at 8383, that of a subpacket at 16319.
function lengthOctets(length: number, twoOctetLimit: number): Uint8Array {
  if (length < 192) return Uint8Array.of(length);
  if (length < twoOctetLimit) return Uint8Array.of(192 + ((length - 192) >>> 8), length - 192);
  return concat(Uint8Array.of(0xff), uint32(length));
}

/** First packet of a sequence; `whole` has its header as well. */
export type FirstPacket = { readonly tag: number; readonly body: Uint8Array; readonly whole: Uint8Array; readonly rest: Uint8Array };

/** Splits the first packet off a sequence written by this file. */
export function splitPacket(packets: Uint8Array): FirstPacket {
  const [, first = 0, second = 0] = packets;
  let start = 2;
  let length = first;
  if (first === 0xff) {
    start = 6;
    length = Buffer.from(packets.buffer, packets.byteOffset, packets.length).readUInt32BE(2);
  } else if (first >= 192) {
    start = 3;
    length = ((first - 192) << 8) + second + 192;
  }
  return {
    tag: (packets[0] ?? 0) & 0x3f,
    body: packets.subarray(start, start + length),
    whole: packets.subarray(0, start + length),
    rest: packets.subarray(start + length),
  };
}

/** The packets of a sequence written by this file. */
export function* eachPacket(packets: Uint8Array): Generator<FirstPacket> {
  for (let left = packets; left.length > 0;) {
    const first = splitPacket(left);
    yield first;
    left = first.rest;
  }
}

/** A key packet as it is hashed: 0x99 ‖ length(2) ‖ body; of version 6: 0x9B ‖ length(4) ‖ body (RFC 9580, 5.2.4). */
export function framedKey(body: Uint8Array): Uint8Array {
  return body[0] === 6 ? concat(Uint8Array.of(0x9b), uint32(body.length), body) : concat(Uint8Array.of(0x99), uint16(body.length), body);
}

/** A User ID as it is hashed for its certification: 0xB4 ‖ length(4) ‖ UTF-8 (RFC 9580, 5.2.4). */
export function framedUserId(userId: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0xb4), uint32(userId.length), userId);
}

/** Hash of the framed key packet: SHA-1, 20 octets, or SHA-256 of version 6 (RFC 9580, 5.5.4). */
export function fingerprintOf(body: Uint8Array): Uint8Array {
  return createHash(body[0] === 6 ? 'sha256' : 'sha1')
    .update(framedKey(body))
    .digest();
}

/** The key ID in a fingerprint in hexadecimal: its end, or of version 6 its beginning (RFC 9580, 5.5.4). */
export function keyIdOf(fingerprint: string): string {
  return fingerprint.length > 40 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
}

/** Upper-case hexadecimal, as gpg and sq show fingerprints. */
export function formatFingerprint(fingerprint: Uint8Array): string {
  return fingerprint.toHex().toUpperCase();
}
