// The ciphers of transit keys, one row each. A new cipher is a row here, one in hsm/pkcs11/mechanisms.ts, and test vectors.
import type { Hsm, KeyType } from '../../hsm/api.ts';
import { fail } from './errors.ts';

/** The signature schemes; decides what is sent to the token and how the result is encoded. */
export type SignatureFamily = 'rsa' | 'ecdsa' | 'ed25519' | 'ml-dsa';

/** A symmetric AEAD cipher: encrypts, decrypts, derives. */
export type AeadCipher = {
  readonly kind: 'aead';
  readonly keyType: 'aes-128' | 'aes-192' | 'aes-256';
  readonly keyBytes: number;
};

/** A signing cipher. */
export type SigningCipher = {
  readonly kind: 'signing';
  readonly keyType: KeyType;
  readonly family: SignatureFamily;
  /** type and size or curve in node:crypto: `rsa 2048`, `ec prime256v1`, `ed25519` */
  readonly nodeKey: string;
  /** width of r and of s, octets; ECDSA only */
  readonly coordinateBytes?: number;
  /** verification takes more than about 0.3 ms, so it runs outside the event loop */
  readonly slowToVerify: boolean;
};

export type Cipher = AeadCipher | SigningCipher;

const rows: Readonly<Record<string, Cipher>> = {
  'aes128-gcm96': { kind: 'aead', keyType: 'aes-128', keyBytes: 16 },
  'aes192-gcm96': { kind: 'aead', keyType: 'aes-192', keyBytes: 24 },
  'aes256-gcm96': { kind: 'aead', keyType: 'aes-256', keyBytes: 32 },
  'rsa-2048': { kind: 'signing', keyType: 'rsa-2048', family: 'rsa', nodeKey: 'rsa 2048', slowToVerify: false },
  'rsa-3072': { kind: 'signing', keyType: 'rsa-3072', family: 'rsa', nodeKey: 'rsa 3072', slowToVerify: false },
  'rsa-4096': { kind: 'signing', keyType: 'rsa-4096', family: 'rsa', nodeKey: 'rsa 4096', slowToVerify: false },
  ed25519: { kind: 'signing', keyType: 'ed25519', family: 'ed25519', nodeKey: 'ed25519', slowToVerify: false },
  'ecdsa-p256': ecdsa('ecdsa-p256', 'ec prime256v1', 32, false),
  'ecdsa-p384': ecdsa('ecdsa-p384', 'ec secp384r1', 48, true),
  'ecdsa-p521': ecdsa('ecdsa-p521', 'ec secp521r1', 66, true),
  'ml-dsa-44': { kind: 'signing', keyType: 'ml-dsa-44', family: 'ml-dsa', nodeKey: 'ml-dsa-44', slowToVerify: false },
  'ml-dsa-65': { kind: 'signing', keyType: 'ml-dsa-65', family: 'ml-dsa', nodeKey: 'ml-dsa-65', slowToVerify: false },
  'ml-dsa-87': { kind: 'signing', keyType: 'ml-dsa-87', family: 'ml-dsa', nodeKey: 'ml-dsa-87', slowToVerify: true },
};

function ecdsa(keyType: KeyType, nodeKey: string, coordinateBytes: number, slowToVerify: boolean): SigningCipher {
  return { kind: 'signing', keyType, family: 'ecdsa', nodeKey, coordinateBytes, slowToVerify };
}

// A map, so that no name resolves to an inherited property.
const ciphers: ReadonlyMap<string, Cipher> = new Map(Object.entries(rows));

/** Every cipher name, in the order of messages and documents. */
export const cipherNames: readonly string[] = [...ciphers.keys()];

/** Lengths of symmetric keys. */
export const symmetricKeyOctets: readonly number[] = [...ciphers.values()].flatMap((one) => (one.kind === 'aead' ? [one.keyBytes] : []));

/** The cipher of a key that is created without one (spec). */
export const defaultCipher = 'aes256-gcm96';

/** The row of a cipher name from a request; throws unsupported-cipher. */
export function requireCipher(name: string): Cipher {
  const cipher = ciphers.get(name);
  if (cipher === undefined) throw fail('unsupported-cipher', { detail: `"cipher" must be one of ${cipherNames.join(', ')}.` });
  return cipher;
}

/** Throws unsupported-cipher, naming the missing mechanism, when no token can hold private keys of the cipher. */
export function requireOffered(cipherName: string, { keyType }: Cipher, hsm: Hsm): void {
  if (hsm.offers(keyType)) return;
  throw fail('unsupported-cipher', {
    detail: `No configured token, or not that of every appliance of the cluster, offers ${hsm.mechanismFor(keyType)}, which cipher ${cipherName} needs.`,
  });
}

/** The row of a stored key's cipher, which was checked when the key was created. */
export function cipherOf(key: { readonly cipher: string }): Cipher {
  return ciphers.get(key.cipher) as Cipher;
}

/** The name of the cipher with that `nodeKey`; for messages. */
export function cipherNameForNodeKey(nodeKey: string): string | undefined {
  return cipherNames.find((name) => {
    const cipher = ciphers.get(name);
    return cipher?.kind === 'signing' && cipher.nodeKey === nodeKey;
  });
}
