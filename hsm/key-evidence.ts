// Evidence about a key, read from its token at that moment and not from the store. Types only.

/** The token that answers, as it describes itself now (CK_TOKEN_INFO and CK_INFO of PKCS#11 3.2, sections 3.2 and 3.1). */
export type TokenIdentity = {
  readonly label: string;
  readonly serial: string;
  readonly manufacturer: string;
  readonly model: string;
  /** versions as `major.minor` */
  readonly hardware: string;
  readonly firmware: string;
  /** the vendor's module */
  readonly library: {
    readonly manufacturer: string;
    readonly description: string;
    readonly version: string;
    /** version of PKCS#11 that it implements */
    readonly cryptoki: string;
  };
};

/** Attributes of a key object (PKCS#11 3.2, sections 4.3, 4.7, 4.9 and 4.10). One that the token does not return is absent. */
export type ObjectAttributes = {
  /** CKA_CLASS */
  readonly kind: 'secret' | 'private';
  /** CKA_KEY_TYPE: `CKK_AES`; an unknown one in hexadecimal */
  readonly keyType: string;
  /** length of a secret key or of an RSA modulus */
  readonly bits?: number;
  /** curve or parameter set: `prime256v1`, `ed25519`, `ml-dsa-65`; an unknown curve as the hexadecimal DER of CKA_EC_PARAMS */
  readonly parameters?: string;
  /** CKA_TOKEN: it is a persistent object */
  readonly token?: boolean;
  readonly private?: boolean;
  /** CKA_LOCAL: it was generated in this token; never true for an object that was unwrapped or created */
  readonly local?: boolean;
  readonly sensitive?: boolean;
  readonly alwaysSensitive?: boolean;
  readonly extractable?: boolean;
  readonly neverExtractable?: boolean;
  readonly modifiable?: boolean;
  /** CKA_KEY_GEN_MECHANISM: `CKM_AES_KEY_GEN`; absent where `local` is false */
  readonly keyGenMechanism?: string;
  /** operations that the token allows with it: `sign`, `wrap` */
  readonly uses: readonly string[];
};

/** A statement of the vendor's device about an object, under a signature of the vendor's own (hsm/README.md, "Vendor attestation"). */
export type VendorEvidence = {
  /** attestor that obtained it, which defines how it is verified */
  readonly format: string;
  readonly about: 'key' | 'wrapping-key';
  /** base64; for example a certificate and its chain */
  readonly parts: readonly string[];
};

/** Evidence of a token about a key. */
export type KeyEvidence = {
  readonly token: TokenIdentity;
  /** token custody: the key itself; wrapped custody: the session object that its blob was unwrapped to */
  readonly object: ObjectAttributes;
  /**
   * Wrapped custody: the key under which the blob is wrapped. `content`: `seed` if the token cannot wrap keys of the type, so that the seed
   * passes through the memory of its host process each time the key is loaded (`capabilities/`).
   */
  readonly wrappingKey?: {
    readonly number: number;
    readonly mechanism: string;
    readonly content: 'key' | 'seed';
    /** true if it was made in another token, or in this one for several, and imported by RSA-OAEP: `local` and `neverExtractable` are then false */
    readonly carried?: true;
    readonly object: ObjectAttributes;
  };
  readonly vendor: readonly VendorEvidence[];
};
