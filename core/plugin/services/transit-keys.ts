// Service of transit keys for other plugins: uses keys, and attaches data and rules to them. Types and the name of the service only.
import type { ZodType } from 'zod';
import type { KeyReference } from '../../../hsm/api.ts';
import type { EndpointCall } from '../../http/endpoint.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the transit plugin. */
export const transitKeysService = defineService<TransitKeys>('transit-keys');

export interface TransitKeys {
  /** names of the ciphers that a key can have */
  readonly cipherNames: readonly string[];
  /**
   * Describes the use of a key of the tenant, for the translation of a request that its policies have allowed; undefined without a key with
   * that name.
   */
  natureOf(tenantId: string, name: string): KeyNature | undefined;
  /**
   * Describes a version of a key of the tenant, by default the one in use, for the record of another plugin that stands for it; undefined without one. Such a
   * record allows nothing: each use of the key is a request of its own to its action.
   */
  findVersion(tenantId: string, name: string, version?: number): KeyVersionNature | undefined;
  /**
   * For a private key that another plugin keeps: throws private-key-in-use where a key of the tenant has it for a use that is not one of these, or these are
   * several, unless the tenant may have one private key for several uses. `publicKey`: DER SubjectPublicKeyInfo.
   */
  requireOneJob(tenantId: string, publicKey: Uint8Array, uses: readonly KeyVersionNature['use'][]): Promise<void>;
  /**
   * Throws policy-denied unless the caller may have that key sign anything, as the action `sign` does: for a setting under which the appliance signs
   * with it by itself. Called before it is known whether the key exists.
   */
  requireMaySign(access: Pick<EndpointCall['access'], 'requireEffectAt'>, name: string): void;
  /**
   * Signs a text with RSASSA-PKCS1-v1_5 and SHA-256 (RS256 of RFC 7518) by the version in use of an RSA key of the tenant, in the token, and counts
   * it. The caller records it. Throws not-found, operation-not-supported, key-disabled and the other refusals of `sign`.
   */
  signRs256(tenantId: string, name: string, text: Uint8Array): Promise<Rs256Signature>;
  /**
   * Called by a plugin while it is provisioned: from then on its attachment takes part in the life of every transit key. Returns the keys as
   * the attachment sees them, the same object that `make` receives.
   */
  attach<Fields extends object, Kept>(make: (keys: AttachedKeys<Fields, Kept>) => KeyAttachment<Fields, Kept>): AttachedKeys<Fields, Kept>;
}

/** A signature of `signRs256`; `signedDigest` as in the audit records of `sign`. */
export type Rs256Signature = { readonly signature: Uint8Array; readonly version: number; readonly signedDigest: string };

/** Use of a key; `cipher` and `signs` as in a definition. */
export type KeyNature = { readonly cipher: string; readonly signs: boolean; readonly isDerived: boolean };

/** A version of a key as `findVersion` describes it. `keyId`: a later key of the name has another one; a version that a restore brings back keeps its own. */
export type KeyVersionNature = Pick<KeyNature, 'cipher' | 'isDerived'> & {
  readonly keyId: string;
  readonly use: 'encrypt' | 'sign' | 'mac' | 'agree' | 'decapsulate';
  readonly version: number;
  readonly isExportable: boolean;
  /** false: it verifies alone */
  readonly hasSecret: boolean;
  /** DER SubjectPublicKeyInfo; asymmetric ciphers only */
  readonly publicKey?: Uint8Array;
};

/** Definition of a key that exists or is about to be created. `Fields`: those added by the attachment. */
export type KeyDefinition<Fields> = {
  readonly tenantId: string;
  readonly name: string;
  /** `rsa-2048`, `ed25519`, `ecdsa-p256`, `aes256-gcm96` … */
  readonly cipher: string;
  /** false: the key is for encryption, and signs nothing */
  readonly signs: boolean;
  readonly fields: Fields;
  /** created from `public-key`, without a private key */
  readonly verificationOnly: boolean;
};

/** One version of a key; also one that is in the token but not yet committed. */
export type TransitKeyVersion<Kept> = {
  readonly version: number;
  /** survives backup and restore */
  readonly created: Temporal.Instant;
  /** DER SubjectPublicKeyInfo; asymmetric ciphers only */
  readonly publicKey: Uint8Array | undefined;
  /** private (or secret) key in the HSM; absent if the version can only verify */
  readonly key: KeyReference | undefined;
  /** data of the attachment for the version */
  readonly attached: Kept | undefined;
  /** certificates are kept with it: what it signs may be CMS, or a certificate */
  readonly isCertified: boolean;
};

/** A key for an attachment: a view of the record at one moment. */
export type TransitKey<Fields, Kept> = KeyDefinition<Fields> & {
  readonly keyId: string;
  readonly exportable: boolean;
  /** its public keys are in the JWKS of the tenant: what it signs may be a token */
  readonly isPublished: boolean;
  readonly latestVersion: number;
  /** ascending, without the trimmed ones */
  readonly versions: readonly TransitKeyVersion<Kept>[];
};

/** Transit keys with the data of one attachment. */
export interface AttachedKeys<Fields, Kept> {
  /** Finds the tenant's key with that name; inside `transaction` if given. */
  find(tenantId: string, name: string, transaction?: WriteTransaction): TransitKey<Fields, Kept> | undefined;
  /** Keys of the tenant whose reference field contains that name. */
  referringTo(tenantId: string, name: string, transaction?: WriteTransaction): Iterable<TransitKey<Fields, Kept>>;
  /** Names of the keys of the tenant that are published, at most 100; reads no record. */
  publishedNames(tenantId: string): readonly string[];
  /** Every key of every tenant, for the invariant check. */
  all(): Iterable<TransitKey<Fields, Kept>>;
  /**
   * The version to sign with: the requested one, else the one in use (the newest, unless it waits for activate-after).
   * Throws version-unknown, version-not-allowed, key-disabled, operation-not-supported (no private key).
   */
  requireSigningVersion(key: TransitKey<Fields, Kept>, requested: number | undefined, now: Temporal.Instant): TransitKeyVersion<Kept>;
  /** Throws key-disabled for a key that is disabled or waits for its deletion, and for one with a disabled version: for what signs with all of them. */
  requireEnabled(key: TransitKey<Fields, Kept>): void;
  /** Counts a signature before it is made: a version that has signed is a version in use. */
  countSignature(key: TransitKey<Fields, Kept>, version: number, now: Temporal.Instant): Promise<void>;
  /** Throws version-not-allowed, key-disabled where isBarredForVerification is true. */
  requireVerifyingVersion(key: TransitKey<Fields, Kept>, version: number, now: Temporal.Instant): void;
  /** Tells whether min-decryption-version, invalidate-after or somebody who has disabled it forbids verifying signatures of this version. */
  isBarredForVerification(key: TransitKey<Fields, Kept>, version: number, now: Temporal.Instant): boolean;
  /** Replaces the data kept with one version of a stored key. Throws conflict if the version is gone. */
  put(transaction: WriteTransaction, key: TransitKey<Fields, Kept>, version: number, kept: Kept): void;
  /** Removes fields of the attachment from the definition of a stored key. Throws conflict if the key has changed since it was found. */
  dropFields(key: TransitKey<Fields, Kept>, names: readonly (keyof Fields & string)[]): Promise<void>;
  /**
   * Creates a verification-only key with version 1 from a public key (SPKI DER) and its attached data, if policies allow its document as that
   * of a creation. Throws policy-denied, already-exists, unsupported-cipher.
   */
  createVerificationOnly(
    call: Pick<EndpointCall, 'caller' | 'access'>,
    wanted: { readonly name: string; readonly cipher: string; readonly publicKey: Uint8Array; readonly attached: Kept },
  ): Promise<void>;
}

/** A field that an attachment adds to the definition of keys. */
export type AttachedField = {
  /** schema in requests */
  readonly schema: ZodType;
  /** schema of the stored value; also accepts values stored by earlier versions. Idempotent */
  readonly stored: ZodType;
  /** set when the key is created, and never again */
  readonly isFixed?: true;
  /** fields of the key on which its validity depends: a caller who cannot see one of them changes it only together with that one */
  readonly judgedBy?: readonly string[];
  /** true in it makes the key public: others will trust what it signs */
  readonly isPublic?: true;
  /** texts for which a public key speaks: those who fetch it trust it for each */
  readonly speaksFor?: true;
  /** action at the key with the same effect, which a caller must be allowed in order to change the field */
  readonly setsLike?: string;
  /** to take the field out has that effect as well */
  readonly removalSets?: true;
  /** tells whether a change of a stored key ends what others count on, as its destruction does */
  readonly ends?: (after: unknown, before: unknown) => boolean;
  /** a change uses the keys that the fields name, as a new version does */
  readonly usesNamed?: true;
};

/** Data kept with a new version. `recheck` runs inside its transaction; throws `conflict` if the basis of the data has changed. */
export type Certified<Kept> = { readonly kept: Kept; recheck(transaction: WriteTransaction): void };

/** Replacement of the kept data of versions after a change of the definition; `commit` runs in the same transaction. */
export type Recertified<Kept> = { readonly kept: ReadonlyMap<number, Kept>; commit(transaction: WriteTransaction): void };

/** An action that a key supports in its present state, and the fields of the key (wire form) that this reveals. */
export type KeyAction = { readonly name: string; readonly tellsAbout: readonly string[] };

/** Request for a raw signature. */
export type SignatureRequest = {
  readonly text: Uint8Array;
  readonly family: 'rsa' | 'ecdsa' | 'ed25519' | 'ml-dsa';
  /** the text is the finished hash */
  readonly prehashed: boolean;
  /** the service has made the text: a request for a certificate, the attributes of a CMS signature */
  readonly isMadeHere: boolean;
  /** tells whether policies allow the caller another action at the key */
  allows(action: string): boolean;
};

/** A private key that comes in a form of the attachment, or whose fields the attachment reads. */
export type BroughtKey = {
  /** PKCS#8, DER; absent where the text is in no form of the attachment. The caller zeroes it. */
  readonly pkcs8?: Uint8Array;
  /** past of the key elsewhere, for `certify` */
  readonly origin?: unknown;
};

/** Forms and parameters that an attachment adds to the action `import`. */
export type ImportForm<Fields> = {
  /** parameters of the action */
  readonly parameters: Readonly<Record<string, ZodType>>;
  /** Reads the text and the parameters of a request. Throws invalid-key-data, invalid-value, missing-field. */
  read(
    definition: KeyDefinition<Fields>,
    text: string | undefined,
    passphrase: string | undefined,
    parameters: Readonly<Record<string, unknown>>,
    now: Temporal.Instant,
  ): Promise<BroughtKey>;
};

/** A version as an untrusted backup describes it. */
export type RestoredVersion = {
  readonly version: number;
  readonly publicKey: Uint8Array | undefined;
  readonly hasPrivateKey: boolean;
  readonly attached: unknown;
};

/** Private key of one version as text. */
export type ExportedVersion = { readonly version: number; readonly value: string };

/** A format that an attachment adds to the action `export`. */
export type ExportFormat<Fields, Kept> = {
  /** value of the parameter `format`, and with `export-` before it an action of its own */
  readonly name: string;
  /** name in words: `an OpenPGP private key block` */
  readonly title: string;
  /** parameters that go with this format only */
  readonly parameters: Readonly<Record<string, ZodType>>;
  /** schema of one exported value */
  readonly value: ZodType<string>;
  /**
   * Checks the request; the returned function reads the private keys. In between, the caller checks `exportable`. The versions are chosen by the
   * caller, and have private keys.
   */
  plan(
    key: TransitKey<Fields, Kept>,
    versions: readonly TransitKeyVersion<Kept>[],
    parameters: Readonly<Record<string, unknown>>,
  ): () => Promise<readonly ExportedVersion[]>;
};

/**
 * Attachment of a plugin to transit keys: fields of the definition, and plain data with each version. The data is opaque to the
 * transit plugin, which stores it in the version's record, puts it into backups, and drops it with the version.
 */
export interface KeyAttachment<Fields extends object, Kept> {
  /** lower-case word: the member of version records and of backups that has the kept data */
  readonly name: string;
  /** members of documents, key records and backups, by name */
  readonly fields: { readonly [Name in keyof Fields]-?: AttachedField };
  /** field that names another key of the tenant, one that has the field `to`, and the table that indexes keys by it */
  readonly reference: { readonly field: keyof Fields & string; readonly to: keyof Fields & string; readonly table: string };
  /** field that is true in keys whose names anybody may come across, and the table that has them */
  readonly published: { readonly field: keyof Fields & string; readonly table: string };
  readonly exportFormat: ExportFormat<Fields, Kept>;
  readonly importForm: ImportForm<Fields>;
  /** Actions of the attachment that a key supports in its present state, including that of its export format; the state of the key shows them. */
  actions(key: TransitKey<Fields, Kept>): readonly KeyAction[];
  /** Codes of the errors that `requireSignable` throws. */
  readonly signErrors: readonly string[];
  /** The action at the key that a caller must be allowed for some texts of `sign`, as `requireSignable` says. */
  readonly signNeeds: string;
  /**
   * Throws if the fields do not fit together or do not fit the key. Called while a creation, change or restore is planned; needs no token.
   * `current` is undefined for a new key.
   */
  requireDefinition(definition: KeyDefinition<Fields>, current: TransitKey<Fields, Kept> | undefined): void;
  /**
   * Makes the data of a new version (create, rotate, import), when its key pair is in the token and before the commit. Undefined: keep nothing.
   * `origin`: of a key that was brought, as `importForm` read it.
   */
  certify(definition: KeyDefinition<Fields>, version: TransitKeyVersion<Kept>, origin?: unknown): Promise<Certified<Kept> | undefined>;
  /** Makes new data after a change of the definition; undefined if the change does not concern the kept data. */
  recertify(definition: KeyDefinition<Fields>, current: TransitKey<Fields, Kept>): Promise<Recertified<Kept> | undefined>;
  /** Throws in-use while other keys need this one. Called when a removal is planned, and again inside its transaction. */
  requireRemovable(key: TransitKey<Fields, Kept>, transaction?: WriteTransaction): void;
  /**
   * Throws in-use while other keys need one of the versions that a trim or a restore removes. `restored`: the replacement by a restore.
   * Called inside its transaction. `shows`: tells whether the caller may read a field (wire form) of another key.
   */
  requireVersionsRemovable(
    key: TransitKey<Fields, Kept>,
    versions: { readonly going: readonly TransitKeyVersion<Kept>[]; readonly restored: readonly TransitKeyVersion<Kept>[] },
    transaction: WriteTransaction,
    shows: (name: string, field: string) => boolean,
  ): void;
  /** Checks the kept data of an untrusted backup; returns the data to keep. `target` is the key that the restore replaces. */
  acceptRestored(
    target: TransitKey<Fields, Kept>,
    definition: KeyDefinition<Fields>,
    versions: readonly RestoredVersion[],
  ): Promise<ReadonlyMap<number, Kept>>;
  /** Throws if the action `sign` must not make this signature with this version. Called for every signature: fast. */
  requireSignable(fields: Fields, kept: Kept | undefined, request: SignatureRequest): void;
}
