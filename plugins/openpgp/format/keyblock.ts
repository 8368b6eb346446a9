// Key blocks: armor around stored packets, and the parsed certificate of a record for verification.
import type { enums, Key } from 'openpgp';
import { concat } from '../../../core/base/bytes.ts';
import type { OpenpgpRecord, PacketVersion } from '../records.ts';
import { openpgp } from './library.ts';
import { eachPacket, packetTag, splitPacket } from './packets.ts';
import { inPieces, pieceOctets, piecesOf } from './pieces.ts';
import { readingConfig } from './reading.ts';
import { packetVersionOf } from './signer.ts';

const armorKinds = { public: 'publicKey', private: 'privateKey', signature: 'signature', message: 'message' } as const satisfies Record<
  string,
  keyof typeof enums.armor
>;

/**
 * ASCII armor with its checksum: gpg refuses a block without one whenever the base64 happens to need no padding. Version 6 has none (RFC
 * 9580, 6.1).
 */
export function formatArmor(kind: keyof typeof armorKinds, packets: Uint8Array, version: PacketVersion = 4): string {
  const { armor, enums } = openpgp();
  // openpgp.js writes \n line endings on all platforms.
  return armor(enums.armor[armorKinds[kind]], packets, undefined, undefined, undefined, version === 4);
}

/** The same for packets of any length. */
export async function formatLargeArmor(kind: keyof typeof armorKinds, packets: Uint8Array, version: PacketVersion = 4): Promise<string> {
  if (packets.length <= pieceOctets) return formatArmor(kind, packets, version);
  const { armor, enums } = openpgp();
  // The types leave out that a stream gives a stream.
  const text = armor(enums.armor[armorKinds[kind]], inPieces(packets), undefined, undefined, undefined, version === 4) as unknown;
  return (await piecesOf(text as ReadableStream<string>)).join('');
}

/** The packets of a record's certificate: of a subkey, its primary's and its own. */
export function certificatePackets(record: OpenpgpRecord): Uint8Array {
  return record.subkey === undefined ? record.certificate : concat(record.certificate, record.subkey.packets);
}

/** The public block of a key version: the same octets at every call; an imported block as it was given. */
export function formatPublicBlock(record: OpenpgpRecord): string {
  return record.imported ?? formatArmor('public', certificatePackets(record), packetVersionOf(record));
}

/**
 * Writes one block of many records: each primary key once, with all its subkeys behind it, in the order of the records. Armor around
 * several certificates is what `gpg --export --armor` of several keys writes; of several blocks in one file, many programs read the first
 * only.
 */
export function formatWholeBlock(records: readonly OpenpgpRecord[]): string {
  const [first] = records;
  return formatArmor('public', wholePackets(records), first === undefined ? 4 : packetVersionOf(first));
}

/** The packets of that block. */
export function wholePackets(records: readonly OpenpgpRecord[]): Uint8Array {
  const parts = new Map<string, Uint8Array[]>();
  const brought = new Map<string, Uint8Array>();
  for (const record of records) {
    const { fingerprints, certificate, subkey } = record;
    const primary = subkey?.primaryFingerprint ?? fingerprints[0] ?? '';
    const packets = parts.get(primary) ?? [certificate];
    if (subkey !== undefined) packets.push(subkey.packets);
    parts.set(primary, packets);
    if (record.brought !== undefined) brought.set(primary, record.brought.subkeys);
  }
  return concat(...[...parts].flatMap(([primary, packets]) => [...packets, ...subkeysElsewhere(brought.get(primary), packets)]));
}

/** Subkeys that an imported key came with, without those that are here by now; each with its signatures. */
function subkeysElsewhere(brought: Uint8Array | undefined, here: readonly Uint8Array[]): readonly Uint8Array[] {
  if (brought === undefined) return [];
  const known = new Set(here.slice(1).map((packets) => splitPacket(packets).body.toHex()));
  let isKnown = false;
  return Array.from(eachPacket(brought)).flatMap(({ tag, body, whole }) => {
    if (tag === packetTag.publicSubkey) isKnown = known.has(body.toHex());
    return isKnown ? [] : [whole];
  });
}

/** The parsed certificate of a record; parsed once, because openpgp.js keeps in it which self-signatures it has verified. */
export function parsedCertificate(record: OpenpgpRecord): Promise<Key> {
  let parsed = parsedCertificates.get(record);
  if (parsed === undefined) {
    parsed = parseCertificate(record);
    parsedCertificates.set(record, parsed);
  }
  return parsed;
}

/** The same, parsed again. */
export function parseCertificate(record: OpenpgpRecord): Promise<Key> {
  return openpgp().readKey({ binaryKey: certificatePackets(record), config: readingConfig });
}

const parsedCertificates = new WeakMap<OpenpgpRecord, Promise<Key>>();
