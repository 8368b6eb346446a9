// Everything that verifies what a primary key and its subkeys have signed.
import { findRecord, type OpenpgpKey, type OpenpgpKeys, type OpenpgpRecord } from '../records.ts';

/** Records of every version of every subkey that names the key as its primary. */
export function boundRecords(transitKeys: OpenpgpKeys, key: OpenpgpKey): readonly OpenpgpRecord[] {
  return Array.from(transitKeys.referringTo(key.tenantId, key.name)).flatMap((subkey) =>
    subkey.versions.flatMap((one) => findRecord(subkey, one) ?? []),
  );
}

/** Records of one version of a primary key, and of the subkeys that it has bound. */
export function certificateRecords(transitKeys: OpenpgpKeys, key: OpenpgpKey, primaryFingerprint: string): readonly OpenpgpRecord[] {
  const own = key.versions
    .flatMap((one) => findRecord(key, one) ?? [])
    .filter(({ fingerprints }) => fingerprints[0] === primaryFingerprint);
  return [...own, ...boundRecords(transitKeys, key).filter(({ subkey }) => subkey?.primaryFingerprint === primaryFingerprint)];
}

/** Records of all versions of a primary key, the newest first, and of all its subkeys. */
export function wholeRecords(transitKeys: OpenpgpKeys, key: OpenpgpKey): readonly OpenpgpRecord[] {
  return [...key.versions.toReversed().flatMap((one) => findRecord(key, one) ?? []), ...boundRecords(transitKeys, key)];
}
