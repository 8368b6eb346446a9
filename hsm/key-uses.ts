// Use of keys by type, the one table of it. Tables of other floors are typed by it, so that a type without a row does not compile there.

/** SHA-2 functions offered for signatures and HMAC. */
export type HashName = 'sha256' | 'sha384' | 'sha512';

/**
 * Scheme of a signature. `digest` inputs are the finished hash; ed25519 and ml-dsa take the whole message.
 * ECDSA signatures come back as r‖s, fixed width; RSA-PSS uses MGF1 with the same hash and a salt of hash length.
 */
export type SignScheme =
  | { readonly scheme: 'rsa-pkcs1v15'; readonly hash: HashName; readonly digest: Uint8Array }
  | { readonly scheme: 'rsa-pss'; readonly hash: HashName; readonly digest: Uint8Array }
  | { readonly scheme: 'ecdsa'; readonly digest: Uint8Array }
  | { readonly scheme: 'ed25519'; readonly message: Uint8Array; readonly options?: Pick<SchemeOptions, 'context' | 'prehash'> | undefined }
  | {
      readonly scheme: 'ml-dsa';
      readonly message: Uint8Array;
      readonly options?: Pick<SchemeOptions, 'context' | 'deterministic'> | undefined;
    }
  /** AES-CMAC (RFC 4493), 16 octets */
  | { readonly scheme: 'cmac'; readonly message: Uint8Array };

/**
 * Options of Ed25519 and ML-DSA. `context`: 255 octets at most, absent and empty are the same; `prehash`: Ed25519ph, of which the token gets the message
 * too (RFC 8032 section 5.1); `deterministic`: without the random octets of FIPS 204 section 3.4.
 */
export type SchemeOptions = {
  readonly context?: Uint8Array | undefined;
  readonly prehash?: boolean | undefined;
  readonly deterministic?: boolean | undefined;
};

/** A way of signing that not every token has which has keys of the type. */
export type SignatureVariant = 'ed25519ctx' | 'ed25519ph' | 'ml-dsa-context' | 'ml-dsa-deterministic';

/** The ways of signing that a signature with these options needs; none without options. */
export function variantsOf({
  scheme,
  options = {},
}: {
  readonly scheme: string;
  readonly options?: SchemeOptions | undefined;
}): readonly SignatureVariant[] {
  const hasContext = (options.context?.length ?? 0) > 0;
  if (scheme === 'ed25519') return options.prehash === true ? ['ed25519ph'] : hasContext ? ['ed25519ctx'] : [];
  return [
    ...(hasContext ? (['ml-dsa-context'] as const) : []),
    ...(options.deterministic === true ? (['ml-dsa-deterministic'] as const) : []),
  ];
}

/** Algorithms of signatures. RSA and ECDSA sign a digest. */
export type SignatureFamily = 'rsa' | 'ecdsa' | 'ed25519' | 'ml-dsa';

/** Use of keys of a type: authenticated encryption, HMAC, AES-CMAC, signatures, key agreement alone, or decapsulation (ML-KEM). */
export type KeyUsage =
  | { readonly use: 'encrypt'; readonly bytes: number }
  | { readonly use: 'mac' }
  | { readonly use: 'cmac'; readonly bytes: number }
  | { readonly use: 'agree'; /** name in a JWK */ readonly curve: 'P-256' | 'P-384' | 'P-521' | 'X25519' }
  | { readonly use: 'decapsulate'; readonly ciphertextBytes: number }
  | { readonly use: 'sign'; readonly family: 'ecdsa'; /** octets of r and of s */ readonly coordinateBytes: number }
  | { readonly use: 'sign'; readonly family: Exclude<SignatureFamily, 'ecdsa'> };

const rsa = { use: 'sign', family: 'rsa' } as const;
const mlDsa = { use: 'sign', family: 'ml-dsa' } as const;

/** The types of keys that a token can hold. `secret-256` is a generic secret of 32 octets (HMAC, derivation). */
export const keyUses = {
  'aes-128': { use: 'encrypt', bytes: 16 },
  'aes-192': { use: 'encrypt', bytes: 24 },
  'aes-256': { use: 'encrypt', bytes: 32 },
  'secret-256': { use: 'mac' },
  'cmac-128': { use: 'cmac', bytes: 16 },
  'cmac-256': { use: 'cmac', bytes: 32 },
  'rsa-2048': rsa,
  'rsa-3072': rsa,
  'rsa-4096': rsa,
  'ecdsa-p256': { use: 'sign', family: 'ecdsa', coordinateBytes: 32 },
  'ecdsa-p384': { use: 'sign', family: 'ecdsa', coordinateBytes: 48 },
  'ecdsa-p521': { use: 'sign', family: 'ecdsa', coordinateBytes: 66 },
  'ecdsa-secp256k1': { use: 'sign', family: 'ecdsa', coordinateBytes: 32 },
  ed25519: { use: 'sign', family: 'ed25519' },
  'ecdh-p256': { use: 'agree', curve: 'P-256' },
  'ecdh-p384': { use: 'agree', curve: 'P-384' },
  'ecdh-p521': { use: 'agree', curve: 'P-521' },
  x25519: { use: 'agree', curve: 'X25519' },
  'ml-dsa-44': mlDsa,
  'ml-dsa-65': mlDsa,
  'ml-dsa-87': mlDsa,
  'ml-kem-768': { use: 'decapsulate', ciphertextBytes: 1088 },
  'ml-kem-1024': { use: 'decapsulate', ciphertextBytes: 1568 },
} as const satisfies Readonly<Record<string, KeyUsage>>;

export type KeyType = keyof typeof keyUses;

type TypesOf<Use extends KeyUsage['use']> = { [Type in KeyType]: (typeof keyUses)[Type]['use'] extends Use ? Type : never }[KeyType];

export type EncryptingKeyType = TypesOf<'encrypt'>;
export type SigningKeyType = TypesOf<'sign'>;
export type CmacKeyType = TypesOf<'cmac'>;
export type AgreeingKeyType = TypesOf<'agree'>;
export type DecapsulatingKeyType = TypesOf<'decapsulate'>;

/** Hash of a message before it is signed: null for families that sign the message itself. */
export function hashFor(family: SignatureFamily, hash: HashName): HashName | null {
  return family === 'rsa' || family === 'ecdsa' ? hash : null;
}

/** Scheme of a signature over a message; RSA by PKCS #1 v1.5. `digest` is called for families that sign one. */
export function schemeFor(family: SignatureFamily, message: Uint8Array, hash: HashName, digest: () => Uint8Array): SignScheme {
  if (family === 'rsa') return { scheme: 'rsa-pkcs1v15', hash, digest: digest() };
  return family === 'ecdsa' ? { scheme: family, digest: digest() } : { scheme: family, message };
}
