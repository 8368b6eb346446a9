// Transit keys as the OpenPGP plugin sees them (core/plugin/services/transit-keys.ts).
import type { OpenpgpDefinition, TransitKey, TransitKeyVersion } from '../../../core/plugin/services/transit-keys.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { instantOf } from '../instants.ts';
import { type Key, type Version, mainPurpose, referenceTo } from '../records/keyring.ts';

/** The OpenPGP part of a key's definition. */
export function definitionOf(key: Key): OpenpgpDefinition {
  const { cipher, openpgpUserId, openpgpPrimary, openpgpKeyUsage, verificationOnly } = key.record;
  return { tenantId: key.tenantId, name: key.name, cipher, openpgpUserId, openpgpPrimary, openpgpKeyUsage, verificationOnly };
}

/** One version, stored or about to be. */
export function versionView(key: Key, version: Version): TransitKeyVersion {
  const { record } = version;
  const reference: KeyReference | undefined = record.stored === undefined ? undefined : referenceTo(key, version, mainPurpose(key.record));
  return {
    version: version.number,
    created: instantOf(record.createdAt),
    publicKey: record.publicKey,
    key: reference,
    openpgp: record.openpgp,
  };
}

/** A whole key; its versions are read when somebody looks at them. */
export function keyView(key: Key, versions: () => Iterable<Version>): TransitKey {
  let views: readonly TransitKeyVersion[] | undefined;
  return {
    ...definitionOf(key),
    keyId: key.record.id,
    exportable: key.record.exportable,
    latestVersion: key.record.latest,
    get versions() {
      views ??= Array.from(versions(), (version) => versionView(key, version));
      return views;
    },
  };
}
