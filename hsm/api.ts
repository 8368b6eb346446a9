// What the other floors see of the HSM: key types, stored keys, the operations, the configuration and the error class. No PKCS#11.
import type { KeyEvidence } from './key-evidence.ts';
import type { Secret } from './secret.ts';
import type { HsmError } from './errors.ts';

export { HsmError, lacksWrappingKey, isOwnKeyMissing, unprepared, isUnprepared, isKeyLost, isMakingRepeatable } from './errors.ts';
export type { HsmErrorKind } from './errors.ts';
export { revealSecret, Secret } from './secret.ts';
export type { KeyEvidence } from './key-evidence.ts';

/** Key types a token can hold for us. `secret-256` is a generic secret of 32 octets (HMAC, derivation). */
export type KeyType =
  | 'aes-128'
  | 'aes-192'
  | 'aes-256'
  | 'secret-256'
  | 'rsa-2048'
  | 'rsa-3072'
  | 'rsa-4096'
  | 'ecdsa-p256'
  | 'ecdsa-p384'
  | 'ecdsa-p521'
  | 'ed25519'
  | 'ml-dsa-44'
  | 'ml-dsa-65'
  | 'ml-dsa-87';

/** `wrapped`: the key is a blob under the token's wrapping key. `token`: the key is a persistent object in the token. */
export type Custody = 'wrapped' | 'token';

/** SHA-2 functions offered for signatures and HMAC. */
export type HashName = 'sha256' | 'sha384' | 'sha512';

/**
 * Which key a blob belongs to. An HMAC made in the token binds the blob to these fields and to its type, so that a blob copied to
 * another record is refused when it is loaded (design hsm 3). Each field is free text without a NUL character.
 */
export type KeyBinding = {
  /** uuid of the tenant, or `system` for the appliance's own keys */
  readonly tenant: string;
  /** unique id of the key (never its reusable name) */
  readonly keyId: string;
  readonly version: number;
  /** what the key does: `encrypt`, `sign`, `hmac`, `derive`, `convergent`, `ca` … */
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

/** What every operation takes: the stored key and the binding it must have. */
export type KeyReference = { readonly stored: StoredKey; readonly binding: KeyBinding };

export type GeneratedKey = {
  readonly stored: StoredKey;
  /** DER SubjectPublicKeyInfo; asymmetric keys only */
  readonly publicKey?: Uint8Array;
};

/** Custody of a new key. */
export type MakingOptions = {
  /** default: `defaultCustody` of the configuration */
  readonly custody?: Custody;
  /** token custody only, default true: false makes an object that can never be wrapped out of its token (CA keys) */
  readonly extractable?: boolean;
  /** the answer of `reserve` for this type and binding: the object gets the CKA_ID in it */
  readonly reserved?: StoredKey;
};

/**
 * How to sign. `digest` inputs are the finished hash; ed25519 and ml-dsa take the whole message.
 * ECDSA signatures come back as r‖s, fixed width; RSA-PSS uses MGF1 with the same hash and a salt of hash length.
 */
export type SignScheme =
  | { readonly scheme: 'rsa-pkcs1v15'; readonly hash: HashName; readonly digest: Uint8Array }
  | { readonly scheme: 'rsa-pss'; readonly hash: HashName; readonly digest: Uint8Array }
  | { readonly scheme: 'ecdsa'; readonly digest: Uint8Array }
  | { readonly scheme: 'ed25519'; readonly message: Uint8Array }
  | { readonly scheme: 'ml-dsa'; readonly message: Uint8Array };

/** A symmetric key derived from a stored secret and a context; the derived key exists only as a session object in the token. */
export type Derivation = {
  /** the derivation secret (`secret-256`) of the key version */
  readonly secret: KeyReference;
  /** SHA-256 of the caller's context, 32 octets */
  readonly contextHash: Uint8Array;
  /** the key's random salt, 16 octets or more */
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly type: 'aes-128' | 'aes-192' | 'aes-256';
};

/** The key of an AEAD operation: a stored AES key, or one derived for a context. */
export type AeadKey = KeyReference | { readonly derivation: Derivation };

/**
 * Whether octets are the signature that was asked for, by the public key and outside the token. A signature with one wrong octet can give an
 * RSA-CRT or Ed25519 key away (Boneh, DeMillo and Lipton 1997; Poddebniak and others 2018).
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
  | { readonly use: 'hmac'; readonly key: KeyReference; readonly hash: HashName; readonly octets: Uint8Array };

/** Who wants a signature instead of the tenant of its key: unauthenticated callers, one owner with turns and a time of its own. */
export type Asker = 'anybody';
type SigningOptions = { readonly check?: SignatureCheck | undefined; readonly askedBy?: Asker | undefined };

/** What came of one use in a list: the octets, or why there are none. */
export type UseOutcome = Uint8Array | HsmError;

export type SessionCounts = { readonly size: number; readonly busy: number; readonly waiting: number };

export type TokenStatus = {
  readonly name: string;
  readonly module: string;
  readonly label: string;
  readonly serial: string;
  readonly manufacturer: string;
  readonly model: string;
  /** `damaged`: its own keys are gone; keys that are loaded continue to work */
  readonly state: 'up' | 'damaged' | 'down' | 'pin-refused';
  /** when not up, one sentence for people: what is wrong and how to repair it */
  readonly reason?: string;
  /** of one of several tokens: the group, and whether its keys open in this token now */
  readonly group?: { readonly name: string; readonly opensKeys: boolean };
  readonly keyTypes: readonly KeyType[];
  /** names of the mechanisms offered, `CKM_…` (unknown ones as hexadecimal) */
  readonly mechanisms: readonly string[];
  readonly loadedKeys: number;
  /** sessions of the host: how many may be open, how many are working, and how many jobs wait for one */
  readonly sessions: SessionCounts;
  /** per operation */
  readonly latencies: Readonly<Record<string, OperationLatency>>;
};

/** A persistent object of this service in a token. `uses`: what the token allows it, `needless`: those of them that its job does not need. */
export type OwnObject = {
  readonly label: string;
  readonly kind: 'secret' | 'private';
  /** its value is never shown in clear */
  readonly isSensitive: boolean;
  /** it can leave the token wrapped */
  readonly isExtractable: boolean;
  /** its attributes can be changed */
  readonly isModifiable: boolean;
  readonly uses: readonly string[];
  readonly needless: readonly string[];
};

/** Upper bounds of `perBound` in microseconds; longer calls are only in `count`. */
export const latencyBoundsMicros = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
] as const;

/** How long the token takes for an operation, without the time that calls wait for a session. */
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
 * Which own key it is. `carrying`: 16 hexadecimal digits, drawn once for the tokens that took the key together (setup/carry.ts); absent for a
 * key that its token generated. Two keys of one number are the same key only when this agrees.
 */
export type OwnKeyName = { readonly number: number; readonly carrying?: string | undefined };

/**
 * Rotation of the tokens' wrapping keys, each token by itself and each group as one. Each has a number, the newest the highest. A new one is used as soon as it is made; the old ones
 * unwrap the keys they wrapped until they are destroyed.
 */
export interface WrappingKeys {
  /** Sets the function that knows the newest wrapping key of a token. It is called whenever a key is made, so that no older one wraps it. */
  follow(newest: (token: string) => number, carrying?: (token: string) => string | undefined): void;
  /** Names in stored keys of what is up: tokens, and groups of which one is. */
  holders(): readonly string[];
  /** Whether the name is that of several tokens. Their next wrapping key is carried (setup.ts), and not made by makeNext. */
  isGroup(token: string): boolean;
  /** Numbers of the wrapping keys in the token, ascending, without what a carrying that was cut off has left. */
  list(token: string): Promise<readonly number[]>;
  /** Makes the wrapping key after this number unless it exists. Returns the newest number. Safe to repeat. */
  makeNext(token: string, after: number): Promise<number>;
  /** Destroys a wrapping key that is not the newest; no error when it is gone. */
  destroy(token: string, number: number): Promise<void>;
  /** The number of the wrapping key of a stored key; undefined in token custody. */
  numberOf(stored: StoredKey): number | undefined;
  /** The same key under the newest wrapping key, with a new binding MAC, without leaving the token. The stored key passed in stays valid. */
  rewrap(key: KeyReference): Promise<StoredKey>;
}

/**
 * The operations of the HSM. Calls made in one event-loop turn travel to the token's host process as one batch.
 * Every method rejects with HsmError and nothing else.
 */
export interface Hsm {
  /** custody of a key when MakingOptions has none */
  readonly defaultCustody: Custody;
  /** custody of the keys of CAs and of the appliance: objects in the token, unless several tokens have to open them */
  ownCustody(type: KeyType): Custody;
  /** as HsmConfig.checkAnswers: callers then give a check with every signature */
  readonly checksAnswers: boolean;
  readonly wrappingKeys: WrappingKeys;
  /**
   * Reserves the id of a token-custody key, so that the caller can store it before the key is made: after a crash `destroy` finds the key
   * by it. Undefined, without a call to the token, for wrapped custody: a crash leaves nothing of such a key.
   */
  reserve(type: KeyType, binding: KeyBinding, custody?: Custody): Promise<StoredKey | undefined>;
  /** Makes a key in the token that offers its type (design hsm 1, 2). `unsupported` when no token does. */
  generate(type: KeyType, binding: KeyBinding, options?: MakingOptions): Promise<GeneratedKey>;
  /**
   * Imports key material: raw octets for symmetric types, PKCS#8 DER for asymmetric ones. The caller has validated the material; an
   * operation with the new object checks it again. The caller's buffer is zeroed.
   */
  importKey(type: KeyType, material: Uint8Array, binding: KeyBinding, options?: MakingOptions): Promise<GeneratedKey>;
  /** For export and backup only: raw octets or PKCS#8 DER in clear. The caller zeroes it after use and writes an audit record. */
  readKeyMaterialInClear(key: KeyReference): Promise<Uint8Array>;
  /** Token custody: removes the key from its token. Both custodies: drops its loaded objects. */
  destroy(key: KeyReference): Promise<void>;

  /** AES-GCM, random 96-bit nonce from the token unless given (convergent mode). Returns nonce(12) ‖ ciphertext ‖ tag(16). */
  encrypt(key: AeadKey, plaintext: Uint8Array, options?: { associatedData?: Uint8Array; nonce?: Uint8Array }): Promise<Uint8Array>;
  /** The reverse of encrypt; `decryption-failed` for every input that does not decrypt, whatever the reason. */
  decrypt(key: AeadKey, sealed: Uint8Array, options?: { associatedData?: Uint8Array }): Promise<Uint8Array>;
  /**
   * RSAES-OAEP (RFC 8017 section 7.1.2), MGF1 with the same hash and an empty label, under a wrapped RSA key, in the token: for keys
   * that callers wrapped. `decryption-failed` for every input that does not decrypt. The caller zeroes the result.
   */
  decryptOaep(key: KeyReference, hash: HashName, sealed: Uint8Array): Promise<Uint8Array>;
  /**
   * One C_Sign. Returns the raw signature of the token (ECDSA: r‖s). With a check, a signature that it refuses is made once more, and
   * refused as `unavailable` if that one does not pass either. It takes the time and the turns of the key's tenant, or of `askedBy`.
   */
  sign(key: KeyReference, scheme: SignScheme, check?: SignatureCheck, askedBy?: Asker): Promise<Uint8Array>;
  /** HMAC under a `secret-256` key. */
  hmac(key: KeyReference, hash: HashName, data: Uint8Array): Promise<Uint8Array>;
  /** One use, as the method with the name in `use.use`. */
  use(use: KeyUse): Promise<Uint8Array>;
  /**
   * Runs a list of uses; the outcomes are in its order, and one that fails leaves the others alone. Uses of one key travel as one job, which
   * costs both processes a fraction of a job for each. Octets are views of what was received: a caller that keeps them copies them.
   */
  useAll(uses: readonly KeyUse[]): Promise<readonly UseOutcome[]>;
  /** C_GenerateRandom, 1..131072 octets. */
  random(bytes: number): Promise<Uint8Array>;

  /** Whether a configured token can hold and use keys of this type. No call to a token. */
  offers(type: KeyType): boolean;
  /** Sets the function that knows whether tokens elsewhere, which are to open the keys of a group, have a type. By default they have all. */
  agreeOn(isElsewhere: (type: KeyType) => boolean): void;
  /** Name of the mechanism a key type needs (`CKM_ML_DSA`), for error messages. */
  mechanismFor(type: KeyType): string;
  /** Microseconds of the tokens that calls under keys of a tenant have taken since the start, or what an `Asker` wanted. No call to a token. */
  timeOf(tenant: string): number;
  /** Last known state of every configured token. No call to a token. */
  status(): readonly TokenStatus[];
  /**
   * Why keys wrapped by this token could not be used after a restart: `key-missing`, or `unavailable` where nobody can say whether its own keys
   * are there. The last known state, and for SoftHSM whether the token's files exist now. No call to the token.
   */
  damage(token: string): HsmError | undefined;
  /** One sentence for each persistent object of this service that the token allows more uses than its one purpose. */
  widerObjects(token: string): Promise<readonly string[]>;
  /** At most `most` persistent objects of this service in a token, with their attributes as they are now. */
  ownObjects(token: string, most: number): Promise<readonly OwnObject[]>;
  /**
   * What the token says of a key at this moment, read from it: for statements about custody. A wrapped key is unwrapped for it.
   * `key-missing`, `key-not-usable` as for a use.
   */
  evidence(key: KeyReference): Promise<KeyEvidence>;
  /** Calls every token, or one (random, canary encryption and decryption); rejects when one does not work. */
  selfTest(token?: string): Promise<void>;
  /** Logs out, closes sessions and ends the host processes, by force those that take longer than `patienceMs`. Safe to call twice. */
  close(patienceMs?: number): Promise<void>;
}

/**
 * Where a user or SO PIN comes from. `next`: a file beside it that holds the new PIN during a change; after a crash in that moment both
 * PINs are tried, so it is only for tokens that never lock. `credential` names a file under $CREDENTIALS_DIRECTORY (systemd); `given`
 * is the PIN itself, as a person gave it: never in a configuration, and in clear only in the pipe to the host process and in the PKCS#11 call.
 */
export type PinSource =
  | { readonly file: string; readonly next?: string }
  | { readonly environment: string }
  | { readonly credential: string }
  | { readonly given: Secret<string> };

/** How a token is found, without the PIN that opens it. */
export type TokenAddress = Omit<TokenConfig, 'pin'>;

/** One configured token. */
export type TokenConfig = {
  /** name used in stored keys, unless it is in a group: never change it for a token that holds keys */
  readonly name: string;
  /** name in stored keys of several tokens, in each of which their keys open; one that was alone is in the group with its former name */
  readonly group?: string;
  /** path of the PKCS#11 module (shared object) */
  readonly module: string;
  /** exactly one of label and serial selects the token */
  readonly label?: string;
  readonly serial?: string;
  readonly pin: PinSource;
  /** environment of the host process, e.g. SOFTHSM2_CONF or LD_LIBRARY_PATH */
  readonly environment?: Readonly<Record<string, string>>;
  /** C_Initialize parameters string (NSS softoken: configdir and so on) */
  readonly libraryParameters?: string;
};

export type HsmConfig = {
  readonly tokens: readonly TokenConfig[];
  /** custody of transit keys that name none (design hsm 2) */
  readonly defaultCustody: Custody;
  /** loaded session objects kept per host process */
  readonly cacheKeys: number;
  /** What a token answers is checked before it is given out (README, "Decisions"): for hardware whose faults, or whose enemies, are near it. */
  readonly checkAnswers?: boolean | undefined;
  /** a job that takes longer has its host replaced; key generation gets ten times as long */
  readonly jobTimeoutSeconds: number;
};
