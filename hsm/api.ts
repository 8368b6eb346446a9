// Interface of the HSM for the other floors: key types, stored keys, the operations, the configuration and the error class. No PKCS#11.
import type { KeyEvidence } from './key-evidence.ts';
import type { Secret } from './secret.ts';
import type { HsmError } from './errors.ts';
import type { HashName, KeyType, SignatureVariant, SignScheme } from './key-uses.ts';

export { HsmError, lacksWrappingKey, isOwnKeyMissing, unprepared, isUnprepared, isKeyLost, isMakingRepeatable } from './errors.ts';
export type { HsmErrorKind } from './errors.ts';
export { revealSecret, Secret } from './secret.ts';
export type { KeyEvidence } from './key-evidence.ts';
export { hashFor, keyUses, schemeFor, variantsOf } from './key-uses.ts';
export { givesSecrets, throwAwayPair, trySecret } from './throw-away-pair.ts';
export type {
  AgreeingKeyType,
  CmacKeyType,
  DecapsulatingKeyType,
  EncryptingKeyType,
  HashName,
  KeyType,
  KeyUsage,
  SignatureFamily,
  SigningKeyType,
  SchemeOptions,
  SignatureVariant,
  SignScheme,
} from './key-uses.ts';

/** `wrapped`: the key is a blob under the token's wrapping key. `token`: the key is a persistent object in the token. */
export type Custody = 'wrapped' | 'token';

/**
 * Maker of the IVs of AES-GCM in a token: the appliance, from random octets of the token (`own`), or the token, which writes it where the appliance gave
 * zeros (`returned`) or behind the tag (`appended`). Of the last two convergent encryption is not possible.
 */
export type IvSource = 'own' | 'returned' | 'appended';

/** Hashes of RSAES-OAEP. Collisions of SHA-1 do not touch its security; SoftHSM2 up to 2.6.1 takes no other. */
export type OaepHash = HashName | 'sha1';

/**
 * Identifies the key that a blob belongs to. An HMAC made in the token binds the blob to these fields and to its type, so that a blob copied to
 * another record is refused when it is loaded. Each field is free text without a NUL character.
 */
export type KeyBinding = {
  /** uuid of the tenant, or `system` for the appliance's own keys */
  readonly tenant: string;
  /** unique id of the key (never its reusable name) */
  readonly keyId: string;
  readonly version: number;
  /** purpose of the key: `encrypt`, `sign`, `hmac`, `cmac`, `derive`, `convergent`, `ca` … An RSA key for `decrypt` decrypts and does nothing else. */
  readonly purpose: string;
};

/** A key as the store keeps it. Plain data without readable key material. */
export type StoredKey = {
  readonly type: KeyType;
  readonly custody: Custody;
  /** configured name of the token that holds or unwraps the key */
  readonly token: string;
  /** wrapped custody: the wrapped key; token custody: its CKA_ID */
  readonly blob: Uint8Array;
  /** HMAC-SHA-256 (32 octets) over binding, type, custody and blob */
  readonly mac: Uint8Array;
};

/** Argument of every operation: the stored key and the binding it must have. */
export type KeyReference = { readonly stored: StoredKey; readonly binding: KeyBinding };

export type GeneratedKey = {
  readonly stored: StoredKey;
  /** DER SubjectPublicKeyInfo; asymmetric keys only */
  readonly publicKey?: Uint8Array;
};

/** Options of a new key. */
export type MakingOptions = {
  /** default: `defaultCustody` of the configuration */
  readonly custody?: Custody;
  /** token custody only, default true: false makes an object that can never be wrapped out of its token (CA keys) */
  readonly extractable?: boolean;
  /** the answer of `reserve` for this type and binding: the object gets the CKA_ID in it */
  readonly reserved?: StoredKey;
};

/** A symmetric key derived from a stored secret and a context; the derived key exists only as a session object in the token. */
export type Derivation = {
  /** the derivation secret (`secret-256`) of the key version */
  readonly secret: KeyReference;
  readonly type: 'aes-128' | 'aes-192' | 'aes-256';
} & (PasswordDerivation | Expansion);

/** The service's own derivation, by PBKDF2. */
type PasswordDerivation = {
  /** SHA-256 of the caller's context, 32 octets */
  readonly contextHash: Uint8Array;
  /** the key's random salt, 16 octets or more */
  readonly salt: Uint8Array;
  readonly iterations: number;
};

/** HKDF-Expand with SHA-256 (RFC 5869 section 2.3): the secret is the pseudorandom key. */
type Expansion = {
  /** the caller's context, 4,096 octets at most */
  readonly info: Uint8Array;
};

/** The key of an AEAD operation: a stored AES key, or one derived for a context. */
export type AeadKey = KeyReference | { readonly derivation: Derivation };

/**
 * Verifies a signature with the public key, outside the token. A signature with one wrong octet can reveal an
 * RSA-CRT or Ed25519 key (Boneh, DeMillo and Lipton 1997; Poddebniak and others 2018).
 */
export type SignatureCheck = (signature: Uint8Array) => boolean | Promise<boolean>;

/** One use of a key, as the method of Hsm with the name in `use`. */
export type KeyUse =
  | {
      readonly use: 'encrypt' | 'decrypt';
      readonly key: AeadKey;
      readonly octets: Uint8Array;
      readonly associatedData?: Uint8Array | undefined;
      /** encrypt only */
      readonly nonce?: Uint8Array | undefined;
    }
  | ({ readonly use: 'sign'; readonly key: KeyReference; readonly scheme: SignScheme } & SigningOptions)
  | { readonly use: 'hmac'; readonly key: KeyReference; readonly hash: HashName; readonly octets: Uint8Array }
  | { readonly use: 'agree'; readonly key: KeyReference; readonly octets: Uint8Array }
  | { readonly use: 'decapsulate'; readonly key: KeyReference; readonly octets: Uint8Array }
  | ({
      readonly use: 'decryptOaep';
      readonly key: KeyReference;
      readonly hash: OaepHash;
      readonly octets: Uint8Array;
      readonly askedBy?: Asker | undefined;
    } & OaepOptions);

/** Parameters of RSAES-OAEP: the hash of MGF1, by default that of the scheme, and the label, by default empty. */
export type OaepOptions = { readonly mgf1Hash?: OaepHash | undefined; readonly label?: Uint8Array | undefined };

/**
 * Owner that a use of a key is charged to instead of the tenant of its key: all unauthenticated callers count as one owner, or those of one tenant do,
 * whose turns at the token are then beside those of other tenants' callers.
 */
export type Asker = 'anybody' | `anybody of ${string}`;
type SigningOptions = { readonly check?: SignatureCheck | undefined; readonly askedBy?: Asker | undefined };

/** Outcome of one use in a list: the octets, or the error. */
export type UseOutcome = Uint8Array | HsmError;

export type SessionCounts = { readonly size: number; readonly busy: number; readonly waiting: number };

export type TokenStatus = {
  readonly name: string;
  readonly module: string;
  readonly label: string;
  readonly serial: string;
  readonly manufacturer: string;
  readonly model: string;
  /** `damaged`: its own keys are gone; loaded keys continue to work */
  readonly state: 'up' | 'damaged' | 'down' | 'pin-refused';
  /** one sentence for people unless the state is `up`: what is wrong and how to repair it */
  readonly reason?: string;
  /** for a token of a group: the group, and true if its keys open in this token now */
  readonly group?: { readonly name: string; readonly opensKeys: boolean };
  readonly keyTypes: readonly KeyType[];
  readonly ivSource: IvSource;
  /** ways of signing that were proven beside the plain ones of its key types */
  readonly signatureVariants: readonly SignatureVariant[];
  /** names of the mechanisms offered, `CKM_…` (unknown ones as hexadecimal) */
  readonly mechanisms: readonly string[];
  readonly loadedKeys: number;
  /** sessions of the host: allowed, busy, and the number of jobs that wait for one */
  readonly sessions: SessionCounts;
  /** per operation */
  readonly latencies: Readonly<Record<string, OperationLatency>>;
};

/**
 * A persistent object of this service in a token. `uses`: operations that the token allows with it; `needless`: those that its purpose does
 * not need.
 */
export type OwnObject = {
  readonly label: string;
  readonly kind: 'secret' | 'private';
  /** true if its value is never revealed in clear */
  readonly isSensitive: boolean;
  /** true if it can leave the token wrapped */
  readonly isExtractable: boolean;
  /** true if its attributes can be changed */
  readonly isModifiable: boolean;
  readonly uses: readonly string[];
  readonly needless: readonly string[];
};

/** Upper bounds of `perBound` in microseconds; longer calls are only in `count`. */
export const latencyBoundsMicros = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
] as const;

/** Durations of an operation in the token, without the time that calls wait for a session. */
export type OperationLatency = {
  /** calls since the process started */
  readonly count: number;
  /** median and 99th percentile of recent calls, in microseconds */
  readonly p50: number;
  readonly p99: number;
  /** of all calls, in microseconds */
  readonly sumMicros: number;
  /** calls by size: above the bound before and at most this one of `latencyBoundsMicros` */
  readonly perBound: readonly number[];
};

/**
 * Identifies an own key. `carrying`: 16 hexadecimal digits, drawn once for the tokens that took the key together (setup/carry.ts); absent for a
 * key that its token generated. Two keys with the same number are the same key only if `carrying` is equal.
 */
export type OwnKeyName = { readonly number: number; readonly carrying?: string | undefined };

/**
 * Rotation of the wrapping keys: a token by itself, or all tokens of a group together. Wrapping keys are numbered, the newest has the highest
 * number. A new one is used as soon as it is made; the old ones unwrap the keys they wrapped until they are destroyed.
 */
export interface WrappingKeys {
  /** Sets the function that returns the newest wrapping key of a token. It is called whenever a key is made, so that no older one wraps it. */
  follow(newest: (token: string) => number, carrying?: (token: string) => string | undefined): void;
  /** Names, as in stored keys, of the tokens that are up and of the groups with at least one token that is up. */
  holders(): readonly string[];
  /** Tells whether the name is that of a group. Its next wrapping key is carried (setup.ts), not made by makeNext. */
  isGroup(token: string): boolean;
  /** Numbers of the wrapping keys in the token, ascending, without leftovers of an interrupted carrying. */
  list(token: string): Promise<readonly number[]>;
  /** Makes the wrapping key after this number unless it exists. Returns the newest number. Idempotent. */
  makeNext(token: string, after: number): Promise<number>;
  /** Destroys a wrapping key that is not the newest. Idempotent. */
  destroy(token: string, number: number): Promise<void>;
  /** The number of the wrapping key of a stored key; undefined in token custody. */
  numberOf(stored: StoredKey): number | undefined;
  /** Wraps the key under the newest wrapping key, inside the token, and makes a new binding MAC. The stored key passed in stays valid. */
  rewrap(key: KeyReference): Promise<StoredKey>;
}

/**
 * The operations of the HSM. Calls made in one event-loop turn travel to the token's host process as one batch.
 * Every method rejects with HsmError and nothing else.
 */
export interface Hsm {
  /** custody of a key when MakingOptions names none */
  readonly defaultCustody: Custody;
  /** custody of the keys of CAs and of the appliance: objects in the token, unless several tokens have to open them */
  ownCustody(type: KeyType): Custody;
  /** as HsmConfig.checkAnswers: if true, callers pass a check with every signature */
  readonly checksAnswers: boolean;
  readonly wrappingKeys: WrappingKeys;
  /**
   * Reserves the id of a token-custody key, so that the caller can store it before the key is made: after a crash `destroy` finds the key
   * by it. Undefined for wrapped custody, without a call to the token: a crash leaves nothing of such a key.
   */
  reserve(type: KeyType, binding: KeyBinding, custody?: Custody): Promise<StoredKey | undefined>;
  /** Makes a key in the token that offers its type. `unsupported` when no token does. */
  generate(type: KeyType, binding: KeyBinding, options?: MakingOptions): Promise<GeneratedKey>;
  /**
   * Imports key material: raw octets for symmetric types, PKCS#8 DER for asymmetric ones. The caller has validated the material; an
   * operation with the new object checks it again. The caller's buffer is zeroed.
   */
  importKey(type: KeyType, material: Uint8Array, binding: KeyBinding, options?: MakingOptions): Promise<GeneratedKey>;
  /** Reads a key for export or backup: raw octets or PKCS#8 DER in clear. The caller zeroes them after use and writes an audit record. */
  readKeyMaterialInClear(key: KeyReference): Promise<Uint8Array>;
  /** Token custody: removes the key from its token. Both custodies: drops its loaded objects. */
  destroy(key: KeyReference): Promise<void>;

  /**
   * AES-GCM, random 96-bit nonce from the token unless given (convergent mode), or one that the token makes. Returns nonce(12, or 16) ‖ ciphertext ‖ tag(16).
   * `unsupported` for a given nonce where the token makes them.
   */
  encrypt(key: AeadKey, plaintext: Uint8Array, options?: { associatedData?: Uint8Array; nonce?: Uint8Array }): Promise<Uint8Array>;
  /** Reverses encrypt; `decryption-failed` for every input that does not decrypt, whatever the reason. */
  decrypt(key: AeadKey, sealed: Uint8Array, options?: { associatedData?: Uint8Array }): Promise<Uint8Array>;
  /**
   * RSAES-OAEP (RFC 8017 section 7.1.2), in the token, under an RSA key for `decrypt`, or a wrapped one with a purpose of its own.
   * `decryption-failed` for every input that does not decrypt; `refused` for a key that signs; `unsupported` for a label where the token has
   * no RSA without padding. The caller zeroes the result. Charged as `sign` is.
   */
  decryptOaep(key: KeyReference, hash: OaepHash, sealed: Uint8Array, askedBy?: Asker): Promise<Uint8Array>;
  /**
   * RSAES-PKCS1-v1_5 (RFC 8017 section 7.2.2) under a wrapped RSA key, in the token: for content keys of `bytes` octets, 0 to 501. What does not
   * decrypt to so many octets gives as many pseudo-random ones, the same each time (implicit rejection): nobody learns which it was, and what
   * is decrypted with them fails. The caller zeroes the result. Charged as `sign` is.
   */
  decryptPkcs1(key: KeyReference, bytes: number, sealed: Uint8Array, askedBy?: Asker): Promise<Uint8Array>;
  /**
   * ECDH, or X25519, with the holder of a raw public point (SEC 1 section 2.3.3 without compression; RFC 7748), under a key that agrees: the secret is the
   * coordinate, from which the caller derives keys, and zeroes it. `decryption-failed` for what is not a point of the curve, or one of low order, which
   * is found out before the token is asked; `refused` for a key of another type.
   */
  agree(key: KeyReference, point: Uint8Array): Promise<Uint8Array>;
  /** As agree, by ML-KEM (FIPS 203): a ciphertext that was made otherwise gives a pseudo-random secret; `decryption-failed` for another length. */
  decapsulate(key: KeyReference, ciphertext: Uint8Array): Promise<Uint8Array>;
  /**
   * Signs with one C_Sign. Returns the raw signature of the token (ECDSA: r‖s). A signature that `check` refuses is made once more, and
   * refused as `unavailable` if that one does not pass either. Its time is charged to the key's tenant, or to `askedBy`.
   */
  sign(key: KeyReference, scheme: SignScheme, check?: SignatureCheck, askedBy?: Asker): Promise<Uint8Array>;
  /** Computes an HMAC under a `secret-256` key. */
  hmac(key: KeyReference, hash: HashName, data: Uint8Array): Promise<Uint8Array>;
  /** Runs one use, as the method with the name in `use.use`. */
  use(use: KeyUse): Promise<Uint8Array>;
  /**
   * Runs a list of uses; the outcomes are in its order, and one that fails does not affect the others. Uses of one key travel as one job, which
   * costs both processes a fraction of a job for each. Octets are views of the received message: a caller that keeps them copies them.
   */
  useAll(uses: readonly KeyUse[]): Promise<readonly UseOutcome[]>;
  /** Returns 1 to 131072 octets of C_GenerateRandom. */
  random(bytes: number): Promise<Uint8Array>;

  /** Tells whether a configured token can hold and use keys of this type. No call to a token. */
  offers(type: KeyType): boolean;
  /** Tells whether the token of a key, or one of its group, signs in this way; true also while it is down. No call to a token. */
  signsBy(stored: StoredKey, variant: SignatureVariant): boolean;
  /** Tells whether every token encrypts under a given nonce. No call to a token. */
  takesNonces(): boolean;
  /** Sets the function that tells whether tokens of other appliances, which must open the keys of a group, have a type. Default: they have all. */
  agreeOn(isElsewhere: (type: KeyType) => boolean): void;
  /** Name of the mechanism a key type needs (`CKM_ML_DSA`), for error messages. */
  mechanismFor(type: KeyType): string;
  /** Microseconds of token time since the start, charged to a tenant or to an `Asker`. No call to a token. */
  timeOf(tenant: string): number;
  /** Last known state of every configured token. No call to a token. */
  status(): readonly TokenStatus[];
  /**
   * Returns the reason for which keys wrapped by this token would be unusable after a restart: `key-missing`, or `unavailable` if it is
   * unknown whether its own keys are present. From the last known state, and for SoftHSM from the existence of the token's files now. No
   * call to the token.
   */
  damage(token: string): HsmError | undefined;
  /** One sentence for each persistent object of this service with which the token allows more uses than its purpose needs. */
  widerObjects(token: string): Promise<readonly string[]>;
  /** One sentence for each use that a token allows a key that was made without it: tried with temporary keys, whatever attributes say. */
  forbiddenUses(token: string): Promise<readonly string[]>;
  /** At most `most` persistent objects of this service in a token, with their attributes as they are now. */
  ownObjects(token: string, most: number): Promise<readonly OwnObject[]>;
  /**
   * Reads the token's description of a key, for statements about custody. A wrapped key is unwrapped for it.
   * `key-missing` and `key-not-usable` as for a use.
   */
  evidence(key: KeyReference): Promise<KeyEvidence>;
  /** Tests every token, or one: random octets, canary encryption and decryption. Rejects when one does not work. */
  selfTest(token?: string): Promise<void>;
  /** Logs out, closes sessions and ends the host processes; kills those that take longer than `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>;
}

/**
 * Source of a user or SO PIN. `next`: a file beside it that holds the new PIN during a change; after a crash in that moment both
 * PINs are tried, so it is only for tokens that never lock. `credential` names a file under $CREDENTIALS_DIRECTORY (systemd); `given`
 * is the PIN itself, as a person gave it: never in a configuration, and in clear only in the pipe to the host process and in the PKCS#11 call.
 */
export type PinSource =
  | { readonly file: string; readonly next?: string }
  | { readonly environment: string }
  | { readonly credential: string }
  | { readonly given: Secret<string> };

/** Address of a token, without the PIN that opens it. */
export type TokenAddress = Omit<TokenConfig, 'pin'>;

/** One configured token. */
export type TokenConfig = {
  /** name used in stored keys, unless it is in a group: never change it for a token that holds keys */
  readonly name: string;
  /** name in stored keys of several tokens that all open the same keys; a token that was alone joins the group under its former name */
  readonly group?: string;
  /** path of the PKCS#11 module (shared object) */
  readonly module: string;
  /** exactly one of label and serial selects the token */
  readonly label?: string;
  readonly serial?: string;
  /** of the token as it was open before, in whatever process of this start: another one in its place gets no PIN */
  readonly knownSerial?: string | undefined;
  readonly pin: PinSource;
  /** environment of the host process, e.g. SOFTHSM2_CONF or LD_LIBRARY_PATH */
  readonly environment?: Readonly<Record<string, string>>;
  /** sessions that a process opens at most; absent: as many as it can use */
  readonly maxSessions?: number;
  /** C_Initialize parameters string (NSS softoken: configdir and so on) */
  readonly libraryParameters?: string;
};

export type HsmConfig = {
  readonly tokens: readonly TokenConfig[];
  /** custody of transit keys that name none */
  readonly defaultCustody: Custody;
  /** loaded session objects kept per host process */
  readonly cacheKeys: number;
  /** checks answers of a token before they leave (README, "Decisions"): for hardware exposed to faults or to attackers */
  readonly checkAnswers?: boolean | undefined;
  /** limit of a job, after which its host is replaced; ten times as long for key generation */
  readonly jobTimeoutSeconds: number;
};
