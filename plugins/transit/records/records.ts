// The records of transit keys: one per key and one per version, so that a use costs the same with 10,000 versions.
import type { Custody, KeyBinding, StoredKey } from '../../../hsm/api.ts';
import type { KeyLedgerRecord } from '../../../core/plugin/key-ledger.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import type { VersionRules, VersionTimes } from './version-rules.ts';

/** Whether a key is distributed to other appliances (api 17). */
export type Distribution = 'all' | 'none' | 'inherit';

/** The auto-rotate container as the user wrote it; durations as text, echoed as given (api 12, 25). */
export type AutoRotate = {
  readonly rotateAfter: string;
  readonly activateAfter?: string | undefined;
  readonly deprecateAfter?: string | undefined;
  readonly invalidateAfter?: string | undefined;
};

/** A named key; the fields of attachments are further members (attachments.ts). All instants are microseconds since 1970. */
export type KeyRecord = VersionRules & {
  /** uuid; binds key material and version records to this key, whatever its name */
  readonly id: string;
  readonly cipher: string;
  readonly custody: Custody;
  readonly distribute: Distribution;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  readonly deletionAllowed: boolean;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  /** PEM as given at creation */
  readonly publicKey?: string;
  readonly autoRotate?: AutoRotate;
  readonly createdAt: number;
  /** when the next automatic rotation is due; present exactly when `timers` is */
  readonly rotatesAt?: number;
  /** derived keys: salt and iteration count of PBKDF2 (design hsm 9) */
  readonly kdf?: { readonly salt: Uint8Array; readonly iterations: number };
  /** no version has a private part yet: the key only verifies (api 20) */
  readonly verificationOnly: boolean;
};

/** One version of a key; what attachments keep with it are further members. `stored` is absent on versions that only verify. */
export type VersionRecord = VersionTimes & {
  /** the AES or private key; derived keys: the `secret-256` that keys are derived from */
  readonly stored?: StoredKey;
  readonly hmac?: StoredKey;
  readonly convergent?: StoredKey;
  /** DER SubjectPublicKeyInfo; asymmetric ciphers */
  readonly publicKey?: Uint8Array;
};

/** Uses of one version. `reserved` is never below the true count, also after a crash; `uses` may lack the last seconds before one. */
export type UsageRecord = {
  readonly reserved: number;
  readonly uses: number;
  /** values that rewrap moved to another version */
  readonly rewrapped: number;
  /** last use of any kind, microseconds since 1970 */
  readonly lastUsedAt?: number;
};

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
  /** [tenant, key id]: versions that do not exist any more, while some of their records are still here */
  readonly removedVersions: Table<RemovedVersions>;
  /** the key ledger */
  readonly pendingKeys: Table<KeyLedgerRecord>;
  /** ['rsa-4096']: the key under which others wrap what they import */
  readonly importWrappingKeys: Table<ImportWrappingKeyRecord>;
};

/** Of a key: what its references need, and the newest version that was removed. */
export type RemovedVersions = Pick<KeyRecord, 'cipher' | 'derived'> & { readonly through: number };

export type ImportWrappingKeyRecord = { readonly id: string; readonly stored: StoredKey; readonly publicKey: Uint8Array };

/** Opens the plugin's tables. */
export function openTables(store: Store): Tables {
  return {
    keys: store.tenantTable('keys'),
    versions: store.table('versions'),
    usage: store.table('usage'),
    rotations: store.table('rotations'),
    removedVersions: store.table('removed-versions'),
    pendingKeys: store.table('graveyard'),
    importWrappingKeys: store.table('wrapping'),
  };
}

/** What a stored key of a version does; part of its binding. */
export type Purpose = 'encrypt' | 'sign' | 'derive' | 'hmac' | 'convergent';

/** The words that bind key material to its place (design hsm 3). */
export function bindingOf(tenant: string, keyId: string, version: number, purpose: Purpose): KeyBinding {
  return { tenant, keyId, version, purpose };
}
