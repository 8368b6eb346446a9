// Key blocks: armor around stored packets, and the parsed certificate of a record for verification.
import type { enums, Key } from 'openpgp';
import { concat } from '../../../core/base/bytes.ts';
import type { OpenpgpRecord } from '../records.ts';
import { openpgp } from './library.ts';
import { readingConfig } from './reading.ts';

const armorKinds = { public: 'publicKey', private: 'privateKey', signature: 'signature' } as const satisfies Record<
  string,
  keyof typeof enums.armor
>;

/** ASCII armor with its checksum: gpg refuses a block without one whenever the base64 happens to need no padding. */
export function formatArmor(kind: keyof typeof armorKinds, packets: Uint8Array): string {
  const { armor, enums } = openpgp();
  // openpgp.js writes \n line endings on all platforms.
  return armor(enums.armor[armorKinds[kind]], packets, undefined, undefined, undefined, true);
}

/** The packets of a record's certificate: of a subkey, its primary's and its own. */
export function certificatePackets(record: OpenpgpRecord): Uint8Array {
  return record.subkey === undefined ? record.certificate : concat(record.certificate, record.subkey.packets);
}

/** The public block of a key version: the same octets at every call; an imported block as it was given. */
export function formatPublicBlock(record: OpenpgpRecord): string {
  return record.imported ?? formatArmor('public', certificatePackets(record));
}

/**
 * Writes one block of many records: each primary key once, with all its subkeys behind it, in the order of the records. Armor around
 * several certificates is what `gpg --export --armor` of several keys writes; of several blocks in one file, many programs read the first
 * only.
 */
export function formatWholeBlock(records: readonly OpenpgpRecord[]): string {
  const parts = new Map<string, Uint8Array[]>();
  for (const { fingerprints, certificate, subkey } of records) {
    const primary = subkey?.primaryFingerprint ?? fingerprints[0] ?? '';
    const packets = parts.get(primary) ?? [certificate];
    if (subkey !== undefined) packets.push(subkey.packets);
    parts.set(primary, packets);
  }
  return formatArmor('public', concat(...[...parts.values()].flat()));
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
