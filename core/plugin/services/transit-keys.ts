// Transit keys for other plugins: using them, and attaching data and rules to them. Types and the name of the service only.
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
   * How a key of the tenant is to be used, for the translation of a request that the policies have allowed there; undefined: there is none of
   * that name.
   */
  natureOf(tenantId: string, name: string): KeyNature | undefined;
  /**
   * Called by a plugin while it is provisioned: from now on its attachment takes part in the life of every transit key. Answers the keys as
   * the attachment sees them, the same object that `make` receives.
   */
  attach<Fields extends object, Kept>(make: (keys: AttachedKeys<Fields, Kept>) => KeyAttachment<Fields, Kept>): AttachedKeys<Fields, Kept>;
}

/** `cipher` as in a definition. */
export type KeyNature = { readonly cipher: string; readonly isDerived: boolean };

/** The definition of a key that exists or is about to be created. `Fields`: what the attachment adds to it. */
export type KeyDefinition<Fields> = {
  readonly tenantId: string;
  readonly name: string;
  /** `rsa-2048`, `ed25519`, `ecdsa-p256`, `aes256-gcm96` … */
  readonly cipher: string;
  readonly fields: Fields;
  /** created from `public-key`: there is no private key */
  readonly verificationOnly: boolean;
};

/** One version of a key; also one that is in the token but not yet committed. */
export type TransitKeyVersion<Kept> = {
  readonly version: number;
  /** survives backup and restore */
  readonly created: Temporal.Instant;
  /** DER SubjectPublicKeyInfo; asymmetric ciphers only */
  readonly publicKey: Uint8Array | undefined;
  /** the private (or secret) key in the HSM; absent when the version can only verify */
  readonly key: KeyReference | undefined;
  /** what the attachment keeps with the version */
  readonly attached: Kept | undefined;
};

/** A key as an attachment sees it: a view of the record at one moment. */
export type TransitKey<Fields, Kept> = KeyDefinition<Fields> & {
  readonly keyId: string;
  readonly exportable: boolean;
  readonly latestVersion: number;
  /** ascending, without the trimmed ones */
  readonly versions: readonly TransitKeyVersion<Kept>[];
};

/** Transit keys with what one attachment keeps with them. */
export interface AttachedKeys<Fields, Kept> {
  /** The tenant's key of that name, or undefined; inside a transaction when one is given. */
  find(tenantId: string, name: string, transaction?: WriteTransaction): TransitKey<Fields, Kept> | undefined;
  /** Keys of the tenant whose reference field has that name. */
  referringTo(tenantId: string, name: string, transaction?: WriteTransaction): Iterable<TransitKey<Fields, Kept>>;
  /** Every key of every tenant, for the invariant check. */
  all(): Iterable<TransitKey<Fields, Kept>>;
  /**
   * The version to sign with: the requested one, else the one in use (the newest, unless it waits for activate-after).
   * Throws version-unknown, version-not-allowed, operation-not-supported (no private key).
   */
  requireSigningVersion(key: TransitKey<Fields, Kept>, requested: number | undefined, now: Temporal.Instant): TransitKeyVersion<Kept>;
  /** Counts a signature before it is made (api 74): a version that has signed is a version in use. */
  countSignature(key: TransitKey<Fields, Kept>, version: number, now: Temporal.Instant): Promise<void>;
  /** Whether min-decryption-version or invalidate-after forbids verifying signatures of this version. */
  isBarredForVerification(key: TransitKey<Fields, Kept>, version: number, now: Temporal.Instant): boolean;
  /** Replaces what is kept with one version of a stored key. Throws conflict when the version is gone. */
  put(transaction: WriteTransaction, key: TransitKey<Fields, Kept>, version: number, kept: Kept): void;
  /** Takes fields of the attachment out of the definition of a stored key. Throws conflict when the key has changed since it was found. */
  dropFields(key: TransitKey<Fields, Kept>, names: readonly (keyof Fields & string)[]): Promise<void>;
  /**
   * Creates a verification-only key with version 1 from a public key (SPKI DER) and what is kept with it, if policies allow its document as that
   * of a creation. Throws policy-denied, already-exists, unsupported-cipher.
   */
  createVerificationOnly(
    call: Pick<EndpointCall, 'caller' | 'access'>,
    wanted: { readonly name: string; readonly cipher: string; readonly publicKey: Uint8Array; readonly attached: Kept },
  ): Promise<void>;
}

/** A field that an attachment adds to the definition of keys. */
export type AttachedField = {
  /** as requests give it */
  readonly schema: ZodType;
  /** what is kept of a value; also accepts what earlier versions stored. Idempotent */
  readonly stored: ZodType;
  /** set when the key is created, and never again */
  readonly isFixed?: true;
  /** fields of the key that it is valid or not by: who cannot see one of them changes it only together with that */
  readonly judgedBy?: readonly string[];
  /** the action at the key that a caller must be allowed who gives the field another value, because that does the same */
  readonly setsLike?: string;
};

/** What is kept with a new version. `recheck` runs inside its transaction; throws `conflict` when what it rests on has changed. */
export type Certified<Kept> = { readonly kept: Kept; recheck(transaction: WriteTransaction): void };

/** What replaces the kept data of versions when a definition changes; `commit` runs in the same transaction. */
export type Recertified<Kept> = { readonly kept: ReadonlyMap<number, Kept>; commit(transaction: WriteTransaction): void };

/** An action that a key can do as it is, and the fields of the key (wire form) that this tells about. */
export type KeyAction = { readonly name: string; readonly tellsAbout: readonly string[] };

/** What a raw signature was asked for. */
export type SignatureRequest = {
  readonly text: Uint8Array;
  readonly family: 'rsa' | 'ecdsa' | 'ed25519' | 'ml-dsa';
  /** the text is the finished hash */
  readonly prehashed: boolean;
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
  /** the same in words: `an OpenPGP private key block` */
  readonly title: string;
  /** parameters that go with this format only */
  readonly parameters: Readonly<Record<string, ZodType>>;
  /** schema of one exported value */
  readonly value: ZodType<string>;
  /**
   * Checks the request; what it returns reads the private keys. In between, the caller checks `exportable`. The versions are chosen by the
   * caller, and have private keys.
   */
  plan(
    key: TransitKey<Fields, Kept>,
    versions: readonly TransitKeyVersion<Kept>[],
    parameters: Readonly<Record<string, unknown>>,
  ): () => Promise<readonly ExportedVersion[]>;
};

/**
 * Something that a plugin attaches to transit keys: fields of the definition, and plain data with each version. The data is opaque to the
 * transit plugin, which stores it in the version's record, puts it into backups, and drops it with the version.
 */
export interface KeyAttachment<Fields extends object, Kept> {
  /** Lower-case word, the member of version records and of backups that has the kept data. */
  readonly name: string;
  /** Members of documents, key records and backups, by name. */
  readonly fields: { readonly [Name in keyof Fields]-?: AttachedField };
  /** The field that names another key of the tenant, and the table that indexes keys by it. */
  readonly reference: { readonly field: keyof Fields & string; readonly table: string };
  readonly exportFormat: ExportFormat<Fields, Kept>;
  /** Actions of the attachment that a key can do as it is, that of its export format among them; the state of the key shows them. */
  actions(key: TransitKey<Fields, Kept>): readonly KeyAction[];
  /** Codes of the errors that `requireSignable` throws. */
  readonly signErrors: readonly string[];
  /**
   * Throws when the fields do not fit together or do not fit the key. While a creation, change or restore is planned; needs no token.
   * `current` is undefined for a new key.
   */
  requireDefinition(definition: KeyDefinition<Fields>, current: TransitKey<Fields, Kept> | undefined): void;
  /** For every new version (create, rotate, import), when its key pair is in the token and before the commit. Undefined: keep nothing. */
  certify(definition: KeyDefinition<Fields>, version: TransitKeyVersion<Kept>): Promise<Certified<Kept> | undefined>;
  /** When a definition is changed; undefined when the change does not concern what is kept. */
  recertify(definition: KeyDefinition<Fields>, current: TransitKey<Fields, Kept>): Promise<Recertified<Kept> | undefined>;
  /** Throws in-use while other keys need this one. When a removal is planned, and again inside its transaction. */
  requireRemovable(key: TransitKey<Fields, Kept>, transaction?: WriteTransaction): void;
  /**
   * Throws in-use while other keys need one of the versions that a trim or a restore removes. `restored`: what a restore puts in their place.
   * Inside its transaction. `shows`: whether the caller may read a field (on the wire) of another key.
   */
  requireVersionsRemovable(
    key: TransitKey<Fields, Kept>,
    versions: { readonly going: readonly TransitKeyVersion<Kept>[]; readonly restored: readonly TransitKeyVersion<Kept>[] },
    transaction: WriteTransaction,
    shows: (name: string, field: string) => boolean,
  ): void;
  /** Checks what an untrusted backup has kept; answers what to keep. `target` is the key that the restore replaces. */
  acceptRestored(
    target: TransitKey<Fields, Kept>,
    definition: KeyDefinition<Fields>,
    versions: readonly RestoredVersion[],
  ): Promise<ReadonlyMap<number, Kept>>;
  /** Throws when the action `sign` must not make this signature with this version. On every signature: fast. */
  requireSignable(fields: Fields, kept: Kept | undefined, request: SignatureRequest): void;
}
