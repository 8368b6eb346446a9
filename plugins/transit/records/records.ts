// The records of transit keys: one per key and one per version, so that a use costs the same with 10,000 versions.
import type { CipherUse } from '../ciphers.ts';
import type { SharedUses, UsageRecord } from './usage-record.ts';
import type { Custody, KeyBinding, StoredKey } from '../../../hsm/api.ts';
import type { KeyLedgerRecord } from '../../../core/plugin/key-ledger.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import type { VersionRules, VersionTimes } from './version-rules.ts';

/** Distribution of a key to other appliances; in a cluster every appliance has every key. */
export type Distribution = 'all' | 'none' | 'inherit';

/** The auto-rotate container as the user wrote it; durations as text, echoed as given. */
export type AutoRotate = {
  readonly rotateAfter: string;
  readonly activateAfter?: string | undefined;
  readonly deprecateAfter?: string | undefined;
  readonly invalidateAfter?: string | undefined;
};

/** Export or backup of key material, as it was begun: the audit record with its request id tells the outcome. */
export type KeyExport = {
  readonly kind: 'export' | 'backup';
  /** `clear`, `wrapped`, or the format of an attachment */
  readonly format: string;
  /** the versions, from the oldest to the newest of them */
  readonly oldest: number;
  readonly newest: number;
  readonly at: number;
  readonly requestId: string;
};

/** History of how far a key could and did leave its token. Keys of earlier versions of the appliance have none. */
export type KeyHistory = {
  /** times at which the flags were set here; absent for flags that were set before this was kept, or that came with a backup */
  readonly exportableAt?: number;
  readonly backupAllowedAt?: number;
  /** time at which a backup replaced the key: of the time before, this appliance knows nothing */
  readonly restoredAt?: number;
  /** number of exports; the newest of them are listed, in their order */
  readonly exportCount?: number;
  readonly exports?: readonly KeyExport[];
};

/** A named key; the fields of attachments are further members (attachments.ts). All instants are microseconds since 1970. */
export type KeyRecord = VersionRules & {
  /** uuid; binds key material and version records to this key, whatever its name */
  readonly id: string;
  readonly cipher: string;
  /** absent: that of keys of the cipher made without one (ciphers.ts) */
  readonly use?: CipherUse;
  readonly custody: Custody;
  readonly distribute: Distribution;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  /** true: decapsulate answers shared secrets */
  readonly allowSharedSecret?: boolean;
  readonly deletionAllowed: boolean;
  /** true: the JWKS of the tenant has its public keys */
  readonly publish?: boolean;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  /** PEM as given at creation */
  readonly publicKey?: string;
  readonly autoRotate?: AutoRotate;
  /** as the user wrote it; present exactly when `deletesAt` is */
  readonly deleteAfter?: string;
  readonly createdAt: number;
  /** time at which the next automatic rotation is due; present exactly when `timers` is */
  readonly rotatesAt?: number;
  /** derived keys: salt and iteration count of PBKDF2, or HKDF, with which the values came that open under the key */
  readonly kdf?: { readonly salt: Uint8Array; readonly iterations: number } | typeof hkdf;
  /** true while no version has a private part: the key only verifies */
  readonly verificationOnly: boolean;
  readonly history?: KeyHistory;
};

/** Derivations of derived keys, by name. */
export const kdfNames = ['pbkdf2', 'hkdf-sha256'] as const;

/** Derivation of a key that derives by HKDF; its secret is what HKDF-Extract made of that of elsewhere. */
export const hkdf = kdfNames[1];

/** Name of the derivation of a key; undefined for one that is not derived. */
export const kdfOf = (kdf: KeyRecord['kdf']): (typeof kdfNames)[number] | undefined => (kdf === undefined || kdf === hkdf ? kdf : 'pbkdf2');

/** `generated` in the token, `imported` by a caller, or `restored` from a backup. */
export type Origin = 'generated' | 'imported' | 'restored';

/** Version of a key; the data that attachments keep with it are further members. `stored` is absent on versions that only verify. */
export type VersionRecord = VersionTimes & {
  /** the AES or private key; derived keys: the `secret-256` that keys are derived from */
  readonly stored?: StoredKey;
  readonly hmac?: StoredKey;
  readonly convergent?: StoredKey;
  /** the private key that agrees, of a cipher whose `stored` decapsulates and which needs both */
  readonly agreement?: StoredKey;
  /** DER SubjectPublicKeyInfo of `stored`; asymmetric ciphers */
  readonly publicKey?: Uint8Array;
  /** that of `agreement` */
  readonly agreementPublicKey?: Uint8Array;
  /** certificates that were issued for the public key, DER: its own first, then those above it */
  readonly certificateChain?: readonly Uint8Array[];
  /** id of the key that it was in first, of a version that a restore has brought back into its own key: what names the version still finds it */
  readonly firstKeyId?: string;
  /** origin of the material of `stored`; absent on versions that an earlier version of the appliance made */
  readonly origin?: Origin;
};

/** Facts about a version whose entry is gone, or was about to go. `keyId`: the key that it was in last. */
export type PastMaterial = UsageRecord & Pick<KeyRecord, 'exportable' | 'allowPlaintextBackup'> & { readonly keyId: string };

/** Key and version that has the material, if that key is still there. */
export type MaterialPlace = { readonly name: string; readonly number: number };

/** Question to every appliance whether it holds this version. */
export type DistributionQuestion = {
  /** appliance that asks */
  readonly appliance: string;
  readonly tenantId: string;
  readonly name: string;
  readonly keyId: string;
  readonly version: number;
};

/**
 * Answer of an appliance: its token has opened the version, or the reason for which it has not. Without a private part there is nothing to
 * open.
 */
export type Holding =
  | { readonly isHeld: true; readonly token?: { readonly name: string; readonly serial: string } }
  | { readonly isHeld: false; readonly reason: string };

/** Tables of the plugin with the shape of their keys. */
export type Tables = {
  /** [tenant, name] */
  readonly keys: Table<KeyRecord>;
  /** [tenant, key id, version] */
  readonly versions: Table<VersionRecord>;
  /** [tenant, key id, version] */
  readonly usage: Table<UsageRecord>;
  /** [rotatesAt, tenant, name] → key id: automatic rotations in the order they fall due */
  readonly rotations: Table<string>;
  /** [deletesAt, tenant, name] → key id: keys that wait for their deletion, in the order they fall due */
  readonly deletions: Table<string>;
  /** [tenant, name] → key id: keys with `publish` */
  readonly published: Table<string>;
  /** [tenant, key id]: versions that no longer exist, while some of their records are still here */
  readonly removedVersions: Table<RemovedVersions>;
  /** [tenant, proof of the material]: facts that a restored backup must not lose */
  readonly pastMaterial: Table<PastMaterial>;
  /** [tenant, proof of the material, key id]: of keys of which there is a backup, or that came from one; gone keys included */
  readonly materialPlaces: Table<MaterialPlace>;
  /** [tenant, key id, version] → proof of the material, of versions that share it with others */
  readonly versionMaterials: Table<string>;
  /** [tenant, proof of the material]: of material that several keys have had at a time */
  readonly sharedUses: Table<SharedUses>;
  /** [tenant, thumbprint of the public key, key id, version]: versions that have a private key */
  readonly privateKeyUses: Table<{ readonly name: string; readonly use: CipherUse }>;
  /** [tenant]: the table above has all its private keys, those of earlier versions of the appliance as well */
  readonly privateKeysNoted: Table<true>;
  /** [tenant, key id]: of keys that are gone */
  readonly pastHistories: Table<KeyHistory>;
  /** [question, drawn at random]: kept while it is asked */
  readonly distributionQuestions: Table<DistributionQuestion>;
  /** [question, appliance] */
  readonly distributionAnswers: Table<Holding>;
  /** the key ledger */
  readonly pendingKeys: Table<KeyLedgerRecord>;
  /** [tenant, 'tenant' or the id of a transit key]: under which others wrap what they import, any key or that one */
  readonly importWrappingKeys: Table<ImportWrappingKeyRecord>;
  /** ['rsa-4096']: the one for all tenants of version 0.1.0, which no longer opens anything */
  readonly formerImportWrappingKeys: Table<ImportWrappingKeyRecord>;
};

/** Removed versions of a key: the fields that its references need, and the newest version that was removed. */
export type RemovedVersions = Pick<KeyRecord, 'cipher' | 'use' | 'derived'> & { readonly through: number };

export type ImportWrappingKeyRecord = {
  readonly id: string;
  readonly stored: StoredKey;
  readonly publicKey: Uint8Array;
  /** end of a key that takes one import: microseconds since 1970 */
  readonly expiresAt?: number;
};

/** Opens the plugin's tables. */
export function openTables(store: Store): Tables {
  return {
    keys: store.tenantTable('keys'),
    versions: store.table('versions'),
    usage: store.table('usage'),
    rotations: store.table('rotations'),
    deletions: store.table('deletions'),
    published: store.table('published'),
    removedVersions: store.table('removed-versions'),
    pastMaterial: store.tenantTable('past-material'),
    materialPlaces: store.tenantTable('material-places'),
    versionMaterials: store.table('version-materials'),
    sharedUses: store.tenantTable('shared-uses'),
    privateKeyUses: store.tenantTable('private-key-uses'),
    privateKeysNoted: store.tenantTable('private-keys-noted'),
    pastHistories: store.tenantTable('past-histories'),
    distributionQuestions: store.table('distribution-questions'),
    distributionAnswers: store.table('distribution-answers'),
    pendingKeys: store.table('graveyard'),
    importWrappingKeys: store.tenantTable('import-wrapping-keys'),
    formerImportWrappingKeys: store.table('wrapping'),
  };
}

/** Use of a stored key of a version; part of its binding. */
export type Purpose = 'encrypt' | 'decrypt' | 'sign' | 'cmac' | 'agree' | 'decapsulate' | 'derive' | 'hmac' | 'convergent';

/** The words that bind key material to its place. */
export function bindingOf(tenant: string, keyId: string, version: number, purpose: Purpose): KeyBinding {
  return { tenant, keyId, version, purpose };
}
