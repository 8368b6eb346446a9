// Reads untrusted blocks and signatures with openpgp.js: one armored block of the right kind, of bounded size and packet count.
import type { Key, PartialConfig, PrivateKey, SignaturePacket } from 'openpgp';
import { parseBase64 } from '../../../core/base/bytes.ts';
import { fail } from '../errors.ts';
import { openpgp } from './library.ts';

/** Largest key block, octets of its packets: what armor adds depends on who writes it. */
const maxBlockBytes = 256 * 1024;

/** Largest signature in a request, characters of armor or base64. */
export const maxSignatureCharacters = 64 * 1024;

// Each self-signature costs a verification, up to 2 ms for P-521.
const maxBlockPackets = 1000;
/** Signatures of one document. */
export const maxSignaturePackets = 16;

/**
 * A key whose self-signature was replaced later (gpg does so to extend a key) still verifies what it signed before. Everything else is
 * a default of openpgp.js: no RSA below 2047 bits, no MD5, no SHA-1 for data.
 */
export const readingConfig: PartialConfig = { allowInsecureVerificationWithReformattedKeys: true };

/** The packets of one public key block. Throws `invalid-key-data`. */
export function unarmoredBlock(text: string): Promise<Uint8Array> {
  requireOneBlock(text, 'PUBLIC KEY BLOCK', (detail) => fail('invalid-key-data', { detail }));
  return unarmored(text, () => unreadableBlock());
}

/** The one certificate of a public key block. Throws `invalid-key-data` with the reason. */
export async function readCertificate(text: string): Promise<Key> {
  const packets = await unarmoredBlock(text);
  if (packets.length > maxBlockBytes) {
    const taken = `${maxBlockBytes} (${maxBlockBytes / 1024} KiB) are taken, counted when armor or base64 is decoded`;
    throw fail('invalid-key-data', {
      detail: `The packets in openpgp have ${packets.length} octets; ${taken}. Export a minimal block, without signatures of others.`,
    });
  }
  if (countPackets(packets, maxBlockPackets + 1) > maxBlockPackets) {
    throw fail('invalid-key-data', {
      detail: `openpgp has more than ${maxBlockPackets} packets. Export a minimal block, without signatures of others.`,
    });
  }
  const keys = await openpgp()
    .readKeys({ binaryKeys: packets, config: readingConfig })
    .catch(() => {
      throw unreadableBlock();
    });
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    throw fail('invalid-key-data', {
      detail: 'openpgp must hold exactly one certificate. Import several one by one, each under its own name.',
    });
  }
  if (key.isPrivate()) throw fail('invalid-key-data', { detail: privateBlockRefused });
  return key;
}

/** The one certificate of a private key block, its keys as protected as they came. Throws `invalid-key-data` with the reason. */
export async function readPrivateKeyBlock(text: string): Promise<PrivateKey> {
  const refuse = (detail: string): Error => fail('invalid-key-data', { detail });
  const unreadable = (): Error => refuse('"data" is not a readable OpenPGP private key block.');
  if (text.split('-----BEGIN ').length !== 2 || !text.includes('-----BEGIN PGP PRIVATE KEY BLOCK-----'))
    throw refuse('"data" must be one block that starts with -----BEGIN PGP PRIVATE KEY BLOCK-----.');
  const packets = await unarmored(text, unreadable);
  if (packets.length > maxBlockBytes || countPackets(packets, maxBlockPackets + 1) > maxBlockPackets)
    throw refuse(`The private key block has more than ${maxBlockBytes / 1024} KiB or ${maxBlockPackets} packets. Export a minimal block.`);
  const keys = await openpgp()
    .readPrivateKeys({ binaryKeys: packets, config: readingConfig })
    .catch(() => {
      throw unreadable();
    });
  const [key] = keys;
  if (key === undefined || keys.length > 1) throw refuse('"data" must hold exactly one certificate with its private keys.');
  return key;
}

const privateBlockRefused = 'openpgp holds a private key. Send the public block; a private key goes through the import of a transit key.';

function unreadableBlock(): Error {
  return fail('invalid-key-data', { detail: 'openpgp is not a readable OpenPGP public key block.' });
}

/** The signature packets of an armored signature, or of one in base64. Throws `invalid-format`, `invalid-base64`. */
export async function readSignatures(text: string): Promise<readonly SignaturePacket[]> {
  const armored = text.includes('-----BEGIN ');
  if (armored) requireOneBlock(text, 'SIGNATURE', (detail) => fail('invalid-format', { detail }));
  const packets = armored ? await unarmored(text, () => unreadableSignature()) : parseBase64(text, 'signature');
  if (countPackets(packets, maxSignaturePackets + 1) > maxSignaturePackets) {
    throw fail('invalid-format', { detail: `signature has more than ${maxSignaturePackets} packets.` });
  }
  const signature = await openpgp()
    .readSignature({ binarySignature: packets, config: readingConfig })
    .catch(() => {
      throw unreadableSignature();
    });
  const found = signature.packets.filterByTag(openpgp().enums.packet.signature);
  if (found.length === 0) throw unreadableSignature();
  return found;
}

function unreadableSignature(): Error {
  return fail('invalid-format', { detail: 'signature is not a readable detached OpenPGP signature, armored or in base64.' });
}

// openpgp.js reads the first block and ignores the rest, which would seem to be accepted.
function requireOneBlock(text: string, label: 'PUBLIC KEY BLOCK' | 'SIGNATURE', refuse: (detail: string) => Error): void {
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ,/]{1,40})-----/g)].map((match) => match[1]);
  const [found] = labels;
  if (found === 'PGP PRIVATE KEY BLOCK') throw refuse(privateBlockRefused);
  if (found === 'PGP SIGNED MESSAGE') {
    throw refuse('signature is a clearsigned document. Send the detached signature: text and signature are two fields.');
  }
  if (found !== `PGP ${label}`) throw refuse(`Expected one block that starts with -----BEGIN PGP ${label}-----.`);
  if (labels.length > 1) throw refuse(`Expected one PGP ${label}; there are several.${severalInOne[label]}`);
}

const severalInOne = {
  SIGNATURE: ' Several signatures go into one block.',
  'PUBLIC KEY BLOCK': ' Import several one by one, each under its own name.',
} as const;

/** The octets in an armor. */
export async function unarmored(text: string, refuse: () => Error): Promise<Uint8Array> {
  try {
    const { data } = await openpgp().unarmor(text, undefined);
    if (data instanceof Uint8Array) return data;
  } catch {
    // Refused below, whatever the cause.
  }
  throw refuse();
}

/** Counts packets by their headers, up to `limit`: cheap, and before anything is parsed. */
function countPackets(packets: Uint8Array, limit: number): number {
  let count = 0;
  for (let at = 0; at < packets.length && count < limit; count += 1) at += packetOctets(packets, at);
  return count;
}

/** A packet of somebody else: new or old header, and a length that is stated. */
export type ForeignPacket = { readonly tag: number; readonly body: Uint8Array; readonly whole: Uint8Array };

/** The packets of a sequence by their headers. Undefined when there are more than `most`, or one is torn or without a stated length. */
export function splitForeign(packets: Uint8Array, most: number): readonly ForeignPacket[] | undefined {
  const found: ForeignPacket[] = [];
  for (let at = 0; at < packets.length;) {
    const header = packets[at] ?? 0;
    const length = packetOctets(packets, at);
    const headerOctets = headerLength(packets, at);
    if (found.length >= most || headerOctets === undefined || at + length > packets.length) return undefined;
    const whole = packets.subarray(at, at + length);
    found.push({ tag: (header & 0x40) === 0 ? (header >> 2) & 0x0f : header & 0x3f, body: whole.subarray(headerOctets), whole });
    at += length;
  }
  return found;
}

function headerLength(packets: Uint8Array, at: number): number | undefined {
  const [header = 0, first = 0] = packets.subarray(at, at + 2);
  if ((header & 0x40) === 0) return [2, 3, 5, undefined][header & 3];
  if (first < 192) return 2;
  if (first < 224) return 3;
  return first === 255 ? 6 : undefined;
}

/** Octets of the packet that starts there, header included; partial and indeterminate lengths take the rest. */
function packetOctets(packets: Uint8Array, at: number): number {
  const view = new DataView(packets.buffer, packets.byteOffset, packets.length);
  const left = packets.length - at;
  const [tag, first = 0, second = 0] = packets.subarray(at, at + 3);
  const u32At = (offset: number): number => (offset + 4 <= packets.length ? view.getUint32(offset) : left);
  if (((tag ?? 0) & 0x40) === 0) {
    const lengthType = (tag ?? 0) & 3;
    if (lengthType === 0) return 2 + first;
    if (lengthType === 1) return 3 + ((first << 8) | second);
    return lengthType === 2 ? 5 + u32At(at + 1) : left;
  }
  if (first < 192) return 2 + first;
  if (first < 224) return 3 + ((first - 192) << 8) + second + 192;
  return first === 255 ? 6 + u32At(at + 2) : left;
}
