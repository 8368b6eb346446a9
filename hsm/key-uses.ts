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
  | { readonly scheme: 'ed25519'; readonly message: Uint8Array }
  | { readonly scheme: 'ml-dsa'; readonly message: Uint8Array };

/** Algorithms of signatures. RSA and ECDSA sign a digest. */
export type SignatureFamily = 'rsa' | 'ecdsa' | 'ed25519' | 'ml-dsa';

/** Use of keys of a type: authenticated encryption, a MAC, or signatures. */
export type KeyUsage =
  | { readonly use: 'encrypt'; readonly bytes: number }
  | { readonly use: 'mac' }
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
  'rsa-2048': rsa,
  'rsa-3072': rsa,
  'rsa-4096': rsa,
  'ecdsa-p256': { use: 'sign', family: 'ecdsa', coordinateBytes: 32 },
  'ecdsa-p384': { use: 'sign', family: 'ecdsa', coordinateBytes: 48 },
  'ecdsa-p521': { use: 'sign', family: 'ecdsa', coordinateBytes: 66 },
  ed25519: { use: 'sign', family: 'ed25519' },
  'ml-dsa-44': mlDsa,
  'ml-dsa-65': mlDsa,
  'ml-dsa-87': mlDsa,
} as const satisfies Readonly<Record<string, KeyUsage>>;

export type KeyType = keyof typeof keyUses;

type TypesOf<Use extends KeyUsage['use']> = { [Type in KeyType]: (typeof keyUses)[Type]['use'] extends Use ? Type : never }[KeyType];

export type EncryptingKeyType = TypesOf<'encrypt'>;
export type SigningKeyType = TypesOf<'sign'>;

/** Hash of a message before it is signed: null for families that sign the message itself. */
export function hashFor(family: SignatureFamily, hash: HashName): HashName | null {
  return family === 'rsa' || family === 'ecdsa' ? hash : null;
}

/** Scheme of a signature over a message; RSA by PKCS #1 v1.5. `digest` is called for families that sign one. */
export function schemeFor(family: SignatureFamily, message: Uint8Array, hash: HashName, digest: () => Uint8Array): SignScheme {
  if (family === 'rsa') return { scheme: 'rsa-pkcs1v15', hash, digest: digest() };
  return family === 'ecdsa' ? { scheme: family, digest: digest() } : { scheme: family, message };
}
