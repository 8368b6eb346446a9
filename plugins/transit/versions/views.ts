// Transit keys as an attachment sees them (core/plugin/services/transit-keys.ts).
import type { KeyDefinition, TransitKey, TransitKeyVersion } from '../../../core/plugin/services/transit-keys.ts';
import { cipherOf } from '../ciphers.ts';
import { instantOf } from '../instants.ts';
import { type AttachedFields, type Attachment, fieldsOf, keptOf } from '../records/attachments.ts';
import { type Key, type Version, mainPurpose, referenceTo } from '../records/keyring.ts';

export type KeyView = TransitKey<AttachedFields, unknown>;
export type VersionView = TransitKeyVersion<unknown>;

/** The definition of a key. */
export function definitionOf(attachment: Attachment, { tenantId, name, record }: Key): KeyDefinition<AttachedFields> {
  const { cipher, verificationOnly } = record;
  const signs = cipherOf(record).kind === 'signing';
  return { tenantId, name, cipher, signs, fields: fieldsOf(attachment, record), verificationOnly };
}

/** View of a version, stored or about to be. */
export function versionView(attachment: Attachment, key: Key, version: Version): VersionView {
  const { record } = version;
  return {
    version: version.number,
    created: instantOf(record.createdAt),
    publicKey: record.publicKey,
    key: record.stored === undefined ? undefined : referenceTo(key, version, mainPurpose(key.record)),
    attached: keptOf(attachment, record),
    isCertified: record.certificateChain !== undefined,
  };
}

/** A whole key; its versions are read when they are first asked for. */
export function keyView(attachment: Attachment, key: Key, versions: () => Iterable<Version>): KeyView {
  let views: readonly VersionView[] | undefined;
  return {
    ...definitionOf(attachment, key),
    keyId: key.record.id,
    exportable: key.record.exportable,
    isPublished: key.record.publish === true,
    latestVersion: key.record.latest,
    get versions() {
      views ??= Array.from(versions(), (version) => versionView(attachment, key, version));
      return views;
    },
  };
}
