// The ciphers of transit keys, one row each: a key type of hsm/key-uses.ts that encrypts or signs and has none does not compile.
import {
  type AgreeingKeyType,
  type CmacKeyType,
  type DecapsulatingKeyType,
  type EncryptingKeyType,
  type Hsm,
  keyUses,
  type SignatureFamily,
  type SigningKeyType,
} from '../../hsm/api.ts';
import { fail as coreFail } from '../../core/base/errors.ts';
import { fail } from './errors.ts';

export type { SignatureFamily } from '../../hsm/api.ts';

/** A symmetric AEAD cipher: encrypts, decrypts, derives. */
export type AeadCipher = {
  readonly kind: 'aead';
  readonly keyType: EncryptingKeyType;
  readonly keyBytes: number;
};

/** A signing cipher. */
export type SigningCipher = {
  readonly kind: 'signing';
  readonly keyType: SigningKeyType;
  /** decides what is sent to the token and how the result is encoded */
  readonly family: SignatureFamily;
  /** type and size or curve in node:crypto: `rsa 2048`, `ec prime256v1`, `ed25519` */
  readonly nodeKey: string;
  /** width of r and of s, octets; ECDSA only */
  readonly coordinateBytes?: number;
  /** verification takes more than about 0.3 ms, so it runs outside the event loop */
  readonly slowToVerify: boolean;
};

/** An asymmetric cipher for encryption: the public key encrypts outside the token, the private key decrypts in it. */
export type OpeningCipher = Pick<SigningCipher, 'keyType' | 'nodeKey'> & { readonly kind: 'opening'; readonly family: 'rsa' };

/**
 * An asymmetric cipher for the establishment of keys: others seal to its public key, in a format that they know, and the private key agrees on the
 * secret, or decapsulates it, in the token.
 */
export type EstablishingCipher = Pick<SigningCipher, 'nodeKey'> & { readonly kind: 'establishing' } & (
    | { readonly use: 'agree'; readonly keyType: AgreeingKeyType; readonly family: 'ecdh' | 'x25519' }
    | {
        readonly use: 'decapsulate';
        readonly keyType: DecapsulatingKeyType;
        readonly family: 'ml-kem';
        /** type of a second private key of each version: what both give makes the secret (X-Wing) */
        readonly beside?: 'x25519';
      }
  );

/** A symmetric cipher that authenticates by AES-CMAC (RFC 4493). */
export type CmacCipher = { readonly kind: 'cmac'; readonly keyType: CmacKeyType; readonly keyBytes: number };

export type Cipher = AeadCipher | CmacCipher | SigningCipher | OpeningCipher | EstablishingCipher;

/** Ciphers whose keys are octets without structure. */
export type SymmetricCipher = AeadCipher | CmacCipher;

/** Tells whether keys of a cipher are octets without structure, and have no public key. */
export function isSymmetric(cipher: Cipher): cipher is SymmetricCipher {
  return cipher.kind === 'aead' || cipher.kind === 'cmac';
}

/** Use of a key, fixed when it is made, because one key does one job (NIST SP 800-57 part 1, section 5.2). */
export type CipherUse = 'encrypt' | 'sign' | 'mac' | 'agree' | 'decapsulate';

const aeadNames: Readonly<Record<EncryptingKeyType, string>> = {
  'aes-128': 'aes128-gcm96',
  'aes-192': 'aes192-gcm96',
  'aes-256': 'aes256-gcm96',
};

/** Signing ciphers have the names of their key types. */
const signingRows: Readonly<Record<SigningKeyType, Pick<SigningCipher, 'nodeKey' | 'slowToVerify'>>> = {
  'rsa-2048': { nodeKey: 'rsa 2048', slowToVerify: false },
  'rsa-3072': { nodeKey: 'rsa 3072', slowToVerify: false },
  'rsa-4096': { nodeKey: 'rsa 4096', slowToVerify: false },
  ed25519: { nodeKey: 'ed25519', slowToVerify: false },
  'ecdsa-p256': { nodeKey: 'ec prime256v1', slowToVerify: false },
  'ecdsa-p384': { nodeKey: 'ec secp384r1', slowToVerify: true },
  'ecdsa-p521': { nodeKey: 'ec secp521r1', slowToVerify: true },
  'ecdsa-secp256k1': { nodeKey: 'ec secp256k1', slowToVerify: true },
  'ml-dsa-44': { nodeKey: 'ml-dsa-44', slowToVerify: false },
  'ml-dsa-65': { nodeKey: 'ml-dsa-65', slowToVerify: false },
  'ml-dsa-87': { nodeKey: 'ml-dsa-87', slowToVerify: true },
};

const aeadCiphers = (Object.entries(aeadNames) as [EncryptingKeyType, string][]).map(([keyType, name]): [string, Cipher] => [
  name,
  { kind: 'aead', keyType, keyBytes: keyUses[keyType].bytes },
]);
const cmacNames: Readonly<Record<CmacKeyType, string>> = { 'cmac-128': 'aes128-cmac', 'cmac-256': 'aes256-cmac' };
const cmacCiphers = (Object.entries(cmacNames) as [CmacKeyType, string][]).map(([keyType, name]): [string, Cipher] => [
  name,
  { kind: 'cmac', keyType, keyBytes: keyUses[keyType].bytes },
]);
const signingCiphers = (Object.entries(signingRows) as [SigningKeyType, (typeof signingRows)[SigningKeyType]][]).map(
  ([keyType, row]): [string, Cipher] => {
    const { use: _, ...algorithm } = keyUses[keyType];
    return [keyType, { kind: 'signing', keyType, ...algorithm, ...row }];
  },
);

type EstablishingKeyType = EstablishingCipher['keyType'];
/** Ciphers that establish keys, by key type: those of ECDSA where the key is for agreement, and X25519 and ML-KEM, which have no other use. */
const establishingRows: Readonly<
  Record<EstablishingKeyType, Pick<EstablishingCipher, 'nodeKey' | 'family'> & { readonly cipher: string }>
> = {
  'ecdh-p256': { cipher: 'ecdsa-p256', nodeKey: 'ec prime256v1', family: 'ecdh' },
  'ecdh-p384': { cipher: 'ecdsa-p384', nodeKey: 'ec secp384r1', family: 'ecdh' },
  'ecdh-p521': { cipher: 'ecdsa-p521', nodeKey: 'ec secp521r1', family: 'ecdh' },
  x25519: { cipher: 'x25519', nodeKey: 'x25519', family: 'x25519' },
  'ml-kem-768': { cipher: 'ml-kem-768', nodeKey: 'ml-kem-768', family: 'ml-kem' },
  'ml-kem-1024': { cipher: 'ml-kem-1024', nodeKey: 'ml-kem-1024', family: 'ml-kem' },
};
const establishments: ReadonlyMap<string, EstablishingCipher> = new Map(
  (Object.entries(establishingRows) as [EstablishingKeyType, (typeof establishingRows)[EstablishingKeyType]][]).map(
    ([keyType, { cipher, ...row }]) => [cipher, { kind: 'establishing', keyType, use: keyUses[keyType].use, ...row } as EstablishingCipher],
  ),
);

/** The name that HPKE has for X-Wing (draft-ietf-hpke-pq). */
const hybrid = 'mlkem768-x25519';
const hybridCipher: EstablishingCipher = {
  ...(establishments.get('ml-kem-768') as Extract<EstablishingCipher, { readonly use: 'decapsulate' }>),
  beside: 'x25519',
};

// A map, so that no name resolves to an inherited property.
const ciphers: ReadonlyMap<string, Cipher> = new Map([
  ...aeadCiphers,
  ...signingCiphers,
  ...cmacCiphers,
  ...[...establishments].filter(([name, { keyType }]) => name === keyType),
  [hybrid, hybridCipher],
]);

/** The ciphers that sign, where the key is for encryption. */
const openings: ReadonlyMap<string, OpeningCipher> = new Map(
  [...ciphers].flatMap(([name, { kind, keyType }]) =>
    kind === 'signing' && keyUses[keyType].family === 'rsa'
      ? [[name, { kind: 'opening', keyType, family: 'rsa', nodeKey: signingRows[keyType].nodeKey }]]
      : [],
  ),
);

/** Every cipher name, in the order of messages and documents. */
export const cipherNames: readonly string[] = [...ciphers.keys()];

/** Lengths of symmetric keys. */
export const symmetricKeyOctets: readonly number[] = [...ciphers.values()].flatMap((one) => (isSymmetric(one) ? [one.keyBytes] : []));

/** The cipher of a key that is created without one. */
export const defaultCipher = 'aes256-gcm96';

/** The row of a cipher name from a request, and of a use; throws unsupported-cipher, and invalid-value for a use that the cipher does not have. */
export function requireCipher(name: string, use?: CipherUse): Cipher {
  const cipher = ciphers.get(name);
  if (cipher === undefined) throw fail('unsupported-cipher', { detail: `"cipher" must be one of ${cipherNames.join(', ')}.` });
  if (use === undefined || use === defaultUse(name)) return cipher;
  const other = otherUses[use]?.get(name);
  if (other !== undefined) return other;
  const others = Object.entries(otherUses).map(([named, rows]) => `${named}: ${[...rows.keys()].join(', ')}`);
  const detail = `A key with cipher ${name} is for "use" ${defaultUse(name)}. Other uses that ciphers may have are ${others.join('; ')}.`;
  throw coreFail('invalid-value', { detail, items: [{ message: 'does not fit the cipher', info: 'use' }] });
}

/** Ciphers by a use that is not their first one. */
const otherUses: Readonly<Partial<Record<CipherUse, ReadonlyMap<string, Cipher>>>> = {
  encrypt: openings,
  agree: new Map([...establishments].filter(([, { use }]) => use === 'agree')),
};

/** Use of a key that is made without one; undefined for an unknown cipher. */
export function defaultUse(name: string): CipherUse | undefined {
  const cipher = ciphers.get(name);
  return cipher && useOfCipher(cipher);
}

const uses = { aead: 'encrypt', opening: 'encrypt', signing: 'sign', cmac: 'mac' } as const;

function useOfCipher(cipher: Cipher): CipherUse {
  return cipher.kind === 'establishing' ? cipher.use : uses[cipher.kind];
}

/** The use of a stored key. */
export function useOf(key: Parameters<typeof cipherOf>[0]): CipherUse {
  return useOfCipher(cipherOf(key));
}

/** Type of the second private key of each version; undefined for a cipher whose versions have one. */
export function besideOf(cipher: Cipher): 'x25519' | undefined {
  return cipher.kind === 'establishing' && cipher.use === 'decapsulate' ? cipher.beside : undefined;
}

/** Throws unsupported-cipher, naming the missing mechanism, when no token can hold private keys of the cipher. */
export function requireOffered(cipherName: string, cipher: Cipher, hsm: Hsm): void {
  const missing = [cipher.keyType, besideOf(cipher)].find((keyType) => keyType !== undefined && !hsm.offers(keyType));
  if (missing === undefined) return;
  throw fail('unsupported-cipher', {
    detail: `No configured token, or not that of every appliance of the cluster, offers ${hsm.mechanismFor(missing)}, which cipher ${cipherName} needs.`,
  });
}

/** The row of a stored key's cipher, which was checked when the key was created. */
export function cipherOf({ cipher, use }: { readonly cipher: string; readonly use?: CipherUse | undefined }): Cipher {
  return (use === undefined ? undefined : otherUses[use]?.get(cipher)) ?? (ciphers.get(cipher) as Cipher);
}

/** The name of the cipher with that `nodeKey`; for messages. */
export function cipherNameForNodeKey(nodeKey: string): string | undefined {
  return cipherNames.find((name) => {
    const cipher = ciphers.get(name);
    return cipher !== undefined && 'nodeKey' in cipher && cipher.nodeKey === nodeKey;
  });
}
