// Where transit keys and OpenPGP meet: the transit plugin provides `transit-keys`, the OpenPGP plugin attaches its hooks.
import type { KeyReference } from '../../../hsm/api.ts';
import type { Caller } from '../../access/caller.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the transit plugin. */
export const transitKeysService = defineService<TransitKeys>('transit-keys');

/**
 * What OpenPGP keeps with a key version. The transit plugin stores it inside the version's record, carries it in backups and
 * drops it with the version; only the OpenPGP plugin reads it. Plain data, made once, returned verbatim for ever.
 */
export type OpenpgpRecord = {
  /** upper-case hexadecimal; the version's own key, or every signing key of an imported certificate */
  readonly fingerprints: readonly string[];
  /** seconds since 1970 in the key packet: part of the fingerprint, never recomputed */
  readonly created: number;
  /** earliest second a signature by this key may carry */
  readonly notBefore: number;
  /** primary key ‖ User ID ‖ self-signature; of a subkey: its primary's, as last certified; of an imported key: all of it */
  readonly certificate: Uint8Array;
  /** a subkey: subkey packet ‖ binding signature, and the primary version that made it */
  readonly subkey?: { readonly packets: Uint8Array; readonly primaryVersion: number; readonly primaryFingerprint: string };
  /** an imported block, as it was given */
  readonly imported?: string;
};

/** The part of a key's definition OpenPGP cares about; also of a key that is about to be made. */
export type OpenpgpDefinition = {
  readonly tenantId: string;
  readonly name: string;
  /** `rsa-2048`, `ed25519`, `ecdsa-p256`, `aes256-gcm96` … */
  readonly cipher: string;
  readonly openpgpUserId: string | undefined;
  readonly openpgpPrimary: string | undefined;
  /** empty when not given */
  readonly openpgpKeyUsage: readonly string[];
  /** made from `public-key`: there is no private key */
  readonly verificationOnly: boolean;
};

/** One version of a key; also one that is in the token but not yet committed. */
export type TransitKeyVersion = {
  readonly version: number;
  /** survives backup and restore */
  readonly created: Temporal.Instant;
  /** DER SubjectPublicKeyInfo; asymmetric ciphers only */
  readonly publicKey: Uint8Array | undefined;
  /** the private (or secret) key in the HSM; absent when the version can only verify */
  readonly key: KeyReference | undefined;
  readonly openpgp: OpenpgpRecord | undefined;
};

/** A key as other plugins see it: a view of the record of the moment. */
export type TransitKey = OpenpgpDefinition & {
  readonly keyId: string;
  readonly exportable: boolean;
  readonly latestVersion: number;
  /** ascending, without the trimmed ones */
  readonly versions: readonly TransitKeyVersion[];
};

export interface TransitKeys {
  /** The tenant's key of that name, or undefined; inside a transaction when one is given. */
  find(tenantId: string, name: string, transaction?: WriteTransaction): TransitKey | undefined;
  /** Keys of the tenant whose `openpgp-primary` is that name. */
  subkeysOf(tenantId: string, primaryName: string, transaction?: WriteTransaction): Iterable<TransitKey>;
  /** Every key of every tenant, for the invariant check. */
  all(): Iterable<TransitKey>;
  /**
   * The version to sign with: the one asked for, else the one in use (newest, unless it waits for activate-after).
   * Throws version-unknown, version-not-allowed, operation-not-supported (no private key).
   */
  requireSigningVersion(key: TransitKey, requested: number | undefined, now: Temporal.Instant): TransitKeyVersion;
  /** Counts a signature before it is made (api 74): a version that has signed is a version in use. */
  countSignature(key: TransitKey, version: number, now: Temporal.Instant): Promise<void>;
  /** Whether min-decryption-version or invalidate-after forbids checking signatures of this version. */
  isBarredForVerification(key: TransitKey, version: number, now: Temporal.Instant): boolean;
  /** Replaces the OpenPGP record of one version of a stored key; the version must exist. */
  putOpenpgpRecord(transaction: WriteTransaction, key: TransitKey, version: number, record: OpenpgpRecord): void;
  /** Makes a verification-only key at version 1 from a public key (SPKI DER) with its OpenPGP record. Throws already-exists, unsupported-cipher. */
  createVerificationOnly(
    caller: Caller,
    fields: { readonly name: string; readonly cipher: string; readonly publicKey: Uint8Array; readonly openpgp: OpenpgpRecord },
  ): Promise<void>;
  /** Called once, by the OpenPGP plugin, while it is provisioned. Until then keys with openpgp-* fields are refused. */
  attachOpenpgp(hooks: OpenpgpHooks): void;
}

/** A record ready to be stored; `recheck` runs inside the transaction and throws `conflict` when its ground has moved. */
export type Certified = { readonly record: OpenpgpRecord; recheck(transaction: WriteTransaction): void };

/** New records of all versions of a primary; `commit` refreshes the copies that its subkeys hold. */
export type Recertified = {
  readonly records: ReadonlyMap<number, OpenpgpRecord>;
  commit(transaction: WriteTransaction): void;
};

/** What the transit plugin calls; implemented by the OpenPGP plugin. */
export interface OpenpgpHooks {
  /**
   * Refuses openpgp-* fields that do not go together or not with the key: both roles, usage missing, primary missing or unfit,
   * symmetric or verification-only key, removal of the User ID of a primary with live subkeys. In `plan`; needs no token.
   * `current` is the key as it stands, undefined on creation.
   */
  requireDefinition(definition: OpenpgpDefinition, current: TransitKey | undefined): void;
  /**
   * For every new version (create, rotate, import), after the key pair is in the token and before the commit.
   * Undefined when the key is no OpenPGP key.
   */
  certify(definition: OpenpgpDefinition, version: TransitKeyVersion): Promise<Certified | undefined>;
  /**
   * When an update gives the key another User ID, or its first; `definition` is the new one, `current` the key as it stands. A key
   * that loses its User ID keeps its records: they count for nothing until it gets one again, under the same fingerprints.
   */
  recertify(definition: OpenpgpDefinition, current: TransitKey): Promise<Recertified>;
  /** Throws in-use while live subkeys are bound to this primary. In planRemoval and again inside its transaction. */
  requireRemovable(key: TransitKey, transaction?: WriteTransaction): void;
  /**
   * Trim and restore: throws in-use when one of the versions that go has bound live versions of subkeys, which nobody could revoke
   * without it. Inside the transaction that removes the versions.
   */
  requireUnbound(key: TransitKey, going: readonly TransitKeyVersion[], transaction: WriteTransaction): void;
  /**
   * Restore: checks the untrusted OpenPGP records of a backup (undefined for versions without) against the public keys.
   * Throws invalid-value; and in-use when the target has live subkeys and the backup is no primary key.
   */
  acceptRestored(
    target: TransitKey,
    definition: OpenpgpDefinition,
    versions: readonly { readonly version: number; readonly publicKey: Uint8Array | undefined; readonly openpgp: unknown }[],
  ): Promise<ReadonlyMap<number, OpenpgpRecord>>;
  /**
   * The action `export` with `format: openpgp`: what it returns makes the ASCII-armored private key blocks. The caller has chosen the
   * versions, checks `exportable` and audits in between. Throws missing-field (no User ID known), invalid-value, operation-not-supported.
   */
  planSecretExport(key: TransitKey, versions: readonly TransitKeyVersion[], userId: string | undefined): () => Promise<SecretBlock[]>;
}

/** ASCII-armored private key block of one version. */
export type SecretBlock = { readonly version: number; readonly value: string };
